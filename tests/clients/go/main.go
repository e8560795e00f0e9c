// Reads a stream from standard input and prints a summary of it: how a consumer narrows by the
// discriminators, folds deltas, and lets pass what it does not know. Each line is also written anew
// from what was read, into the summary.
//
//	go run . quipu|senpi|dreb|session
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"clients/dreb"
	"clients/quipu"
	"clients/senpi"
	"clients/session"
)

type message struct {
	Folded string `json:"folded"`
	Whole  string `json:"whole"`
}

type summary struct {
	Counts      map[string]int    `json:"counts"`
	Unknown     int               `json:"unknown"`
	Deltas      map[string]int    `json:"deltas"`
	Roles       map[string]int    `json:"roles"`
	StopReasons map[string]int    `json:"stopReasons"`
	Sources     map[string]int    `json:"sources"`
	Messages    []message         `json:"messages"`
	Again       []json.RawMessage `json:"again"`

	blocks []string
}

func (s *summary) fold(index int64, delta string) {
	for int64(len(s.blocks)) <= index {
		s.blocks = append(s.blocks, "")
	}
	s.blocks[index] += delta
}

func (s *summary) end(whole string) {
	s.Messages = append(s.Messages, message{strings.Join(s.blocks, ""), whole})
}

func (s *summary) quipu(line quipu.QuipuEvent) {
	switch event := line.Value.(type) {
	case *quipu.MessageStartEvent:
		if _, ok := event.Message.Value.(*quipu.AssistantMessage); ok {
			s.blocks = nil
		}
	case *quipu.MessageUpdateEvent:
		switch delta := event.AssistantMessageEvent.Value.(type) {
		case *quipu.TextDelta:
			s.Deltas[delta.Type]++
			s.fold(delta.ContentIndex, delta.Delta)
		case *quipu.ToolcallEnd:
			s.Deltas[delta.Type]++
			arguments(delta.ToolCall.Arguments)
		default:
			// Also a delta of a later version, an *Unknown.
			s.Deltas["?"]++
		}
	case *quipu.MessageEndEvent:
		switch message := event.Message.Value.(type) {
		case *quipu.AssistantMessage:
			s.Roles[message.Role]++
			s.StopReasons[string(message.StopReason)]++
			whole := ""
			for _, block := range message.Content {
				if text, ok := block.Value.(*quipu.TextContent); ok {
					whole += text.Text
				}
			}
			s.end(whole)
		case *quipu.Unknown:
			s.Roles["?"]++
		default:
			s.role(message)
		}
	case *quipu.SummarizationRetryAttemptStartEvent:
		if attempt, ok := event.Value.(*quipu.SummarizationRetryAttemptStartCompactionEvent); ok {
			s.Sources[string(attempt.Reason)]++
		} else {
			s.Sources["?"]++
		}
	case *quipu.Unknown:
		s.Unknown++
		return
	}
	s.count(line)
}

func (s *summary) senpi(line senpi.SenpiEvent) {
	switch event := line.Value.(type) {
	case *senpi.MessageStartEvent:
		if _, ok := event.Message.Value.(*senpi.AssistantMessage); ok {
			s.blocks = nil
		}
	case *senpi.MessageUpdateEvent:
		switch delta := event.AssistantMessageEvent.Value.(type) {
		case *senpi.TextDelta:
			s.Deltas[delta.Type]++
			s.fold(delta.ContentIndex, delta.Delta)
		case *senpi.ToolcallEnd:
			s.Deltas[delta.Type]++
			arguments(delta.ToolCall.Arguments)
		default:
			s.Deltas["?"]++
		}
	case *senpi.MessageEndEvent:
		switch message := event.Message.Value.(type) {
		case *senpi.AssistantMessage:
			s.Roles[message.Role]++
			s.StopReasons[string(message.StopReason)]++
			whole := ""
			for _, block := range message.Content {
				if text, ok := block.Value.(*senpi.TextContent); ok {
					whole += text.Text
				}
			}
			s.end(whole)
		case *senpi.Unknown:
			s.Roles["?"]++
		default:
			s.role(message)
		}
	case *senpi.SummarizationRetryAttemptStartEvent:
		if attempt, ok := event.Value.(*senpi.SummarizationRetryAttemptStartCompactionEvent); ok {
			s.Sources[string(attempt.Reason)]++
		} else {
			s.Sources["?"]++
		}
	case *senpi.Unknown:
		s.Unknown++
		return
	}
	s.count(line)
}

func (s *summary) dreb(line dreb.DrebEvent) {
	switch event := line.Value.(type) {
	case *dreb.MessageStartEvent:
		if _, ok := event.Message.Value.(*dreb.AssistantMessage); ok {
			s.blocks = nil
		}
	case *dreb.DrebMessageUpdateEvent:
		switch delta := event.AssistantMessageEvent.Value.(type) {
		case *dreb.DrebTextDelta:
			s.Deltas[delta.Type]++
			s.fold(delta.ContentIndex, delta.Delta)
		case *dreb.DrebToolcallEnd:
			s.Deltas[delta.Type]++
			arguments(delta.ToolCall.Arguments)
		default:
			s.Deltas["?"]++
		}
	case *dreb.MessageEndEvent:
		switch message := event.Message.Value.(type) {
		case *dreb.AssistantMessage:
			s.Roles[message.Role]++
			s.StopReasons[string(message.StopReason)]++
			whole := ""
			for _, block := range message.Content {
				if text, ok := block.Value.(*dreb.TextContent); ok {
					whole += text.Text
				}
			}
			s.end(whole)
		case *dreb.Unknown:
			s.Roles["?"]++
		default:
			s.role(message)
		}
	case *dreb.Unknown:
		s.Unknown++
		return
	}
	s.count(line)
}

func (s *summary) session(line session.SessionEntry) {
	switch entry := line.Value.(type) {
	case *session.MessageEntry:
		switch message := entry.Message.Value.(type) {
		case *session.AssistantMessage:
			s.Roles[message.Role]++
			s.StopReasons[string(message.StopReason)]++
		case *session.Unknown:
			s.Roles["?"]++
		default:
			s.role(message)
		}
	case *session.Unknown:
		s.Unknown++
		return
	}
	s.count(line)
}

// count counts a line by its type and keeps what is written of it.
func (s *summary) count(line any) {
	again := write(line)
	s.Again = append(s.Again, again)
	s.Counts[field(again, "type")]++
}

func (s *summary) role(message any) {
	s.Roles[field(write(message), "role")]++
}

func arguments(raw json.RawMessage) {
	var arguments map[string]any
	read(raw, &arguments)
}

func read(data []byte, value any) {
	if err := json.Unmarshal(data, value); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", data, err)
		os.Exit(1)
	}
}

func write(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return data
}

func field(data []byte, name string) string {
	var object map[string]json.RawMessage
	read(data, &object)
	var text string
	read(object[name], &text)
	return text
}

func main() {
	s := summary{
		Counts:      map[string]int{},
		Deltas:      map[string]int{},
		Roles:       map[string]int{},
		StopReasons: map[string]int{},
		Sources:     map[string]int{},
		Messages:    []message{},
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		switch os.Args[1] {
		case "quipu":
			var line quipu.QuipuEvent
			read(lines.Bytes(), &line)
			s.quipu(line)
		case "senpi":
			var line senpi.SenpiEvent
			read(lines.Bytes(), &line)
			s.senpi(line)
		case "dreb":
			var line dreb.DrebEvent
			read(lines.Bytes(), &line)
			s.dreb(line)
		case "session":
			var line session.SessionEntry
			read(lines.Bytes(), &line)
			s.session(line)
		}
	}
	os.Stdout.Write(write(s))
}
