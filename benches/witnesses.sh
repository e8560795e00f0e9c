#!/usr/bin/env bash
# How fast the lines of a native stream are checked, in one run and on one core: by quipu verify, and by the
# validators of others; with cat and jq -c . for scale. Prints MB/s and how many times as fast quipu is.
#
#   eval "$(.ci/tools)" && benches/witnesses.sh target/release/quipu [LINES]
#
# Each is run three times; the least processor time counts, start included. Needs Linux (taskset), jq, and what
# .ci/tools brings.
set -euo pipefail
quipu=$(realpath "${1:?usage: benches/witnesses.sh QUIPU [LINES]}")
count=${2:-200000}
cd "$(dirname "$0")/.."
here=$PWD/tests/witness
bundle=$PWD/generated/bundle/quipu.strict.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QUIPU_HOME=$work/home
mkdir "$QUIPU_HOME"

# A real stream: one answer of so many deltas.
cat >"$work/script.json" <<JSON
{ "steps": [{ "blocks": [{ "text": "twelve chars", "repeat": $count }] }] }
JSON
stream=$work/stream.jsonl
"$quipu" --mode json --no-session --model offline --script "$work/script.json" "hi" </dev/null >"$stream"
# jsonschema knows a file of lines by its name.
lines=$work/updates.jsonl
grep '^{"type":"message_update"' "$stream" >"$lines"

# best NAME FILE COMMAND…: the least processor time of three runs, in ms, user and system together.
best() {
  local file=$2 least= took
  for _ in 1 2 3; do
    if ! { TIMEFORMAT='%3U %3S'; time taskset -c 0 "${@:3}" >/dev/null 2>"$work/errors"; } 2>"$work/time"; then
      echo "$1 failed:" >&2
      head -c 2000 "$work/errors" >&2
      exit 1
    fi
    took=$(awk '{ printf "%d", ($1 + $2) * 1000 }' "$work/time")
    if [ -z "$least" ] || [ "$took" -lt "$least" ]; then least=$took; fi
  done
  printf '%s %s %s\n' "$1" "$(stat -c %s "$file")" "$((least > 0 ? least : 1))" >>"$work/times"
}

best cat "$lines" cat "$lines"
best jq "$lines" jq -c . "$lines"
best ajv "$lines" node "$here/ajv.mjs" "$bundle" "$lines"
best jsonschema-rs "$lines" python3 "$here/rs.py" "$bundle" "$lines"
best sourcemeta "$lines" jsonschema validate --fast "$bundle" "$lines"
# The whole contract: every line, the order, the sums and the fold.
best quipu "$stream" "$quipu" verify "$stream"

awk '
  { size[$1] = $2; rate[$1] = $2 / 1000 / $3; order[NR] = $1 }
  END {
    for (i = 1; i <= NR; i++) {
      name = order[i]
      printf "%-14s %9.1f MB/s   quipu is %6.2f times as fast\n", name, rate[name], rate["quipu"] / rate[name]
    }
  }' "$work/times"
