package main

import (
	"encoding/json"
	"testing"

	"clients/quipu"
)

// What is built by hand is whole when it is written: discriminators, constants and arrays.
func TestWritten(t *testing.T) {
	signature := ""
	for _, c := range []struct {
		value any
		want  string
	}{
		{quipu.QuipuEvent{Value: &quipu.TurnStartEvent{}}, `{"type":"turn_start"}`},
		{quipu.QuipuEvent{}, `null`},
		{quipu.TextContent{TextSignature: &signature}, `{"type":"text","text":"","textSignature":""}`},
		{quipu.ToolCall{ID: "a", Name: "b"}, `{"type":"toolCall","id":"a","name":"b","arguments":{}}`},
		{quipu.UserMessage{Content: quipu.UserContent{Text: "Go on."}}, `{"role":"user","content":"Go on.","timestamp":0}`},
		{
			quipu.UserMessage{Content: quipu.UserContent{Items: []quipu.InputContent{}}},
			`{"role":"user","content":[],"timestamp":0}`,
		},
		{quipu.AgentEndEvent{}, `{"type":"agent_end","messages":[],"willRetry":false}`},
	} {
		got, err := json.Marshal(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}

// What is not known is kept as it was, and what is no object is no reason to stop.
func TestUnknown(t *testing.T) {
	for _, line := range []string{
		`{"type":"hologram","depth":{"b":1,"a":12345678901234567890}}`,
		`{"kind":"turn_start"}`,
		`{"type":7}`,
		`[1]`,
		`"turn_start"`,
	} {
		var event quipu.QuipuEvent
		data := []byte(line)
		if err := json.Unmarshal(data, &event); err != nil {
			t.Fatal(err)
		}
		// A reader may use its buffer for the next line.
		clear(data)
		if _, ok := event.Value.(*quipu.Unknown); !ok {
			t.Errorf("%s is a %T", line, event.Value)
		}
		if again, err := json.Marshal(event); err != nil || string(again) != line {
			t.Errorf("%s was written as %s, %v", line, again, err)
		}
	}
}

// A known field of another type is an error.
func TestWrong(t *testing.T) {
	for _, line := range []string{`{"type":"agent_end","willRetry":"no"}`, `{"type":"message_end","message":{"role":"user","content":3}}`} {
		var event quipu.QuipuEvent
		if err := json.Unmarshal([]byte(line), &event); err == nil {
			t.Errorf("%s was read", line)
		}
	}
}
