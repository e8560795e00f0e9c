#!/usr/bin/env bash
# The open bundle of each wire, given to generators of others: what json-schema-to-typescript and
# datamodel-code-generator make of it compiles under strict settings and reads the sample of that wire.
#
#   eval "$(.ci/tools)" && tests/witness/types.sh target/debug/quipu
set -euo pipefail
quipu=$(realpath "${1:?usage: tests/witness/types.sh QUIPU}")
here=$(realpath "$(dirname "$0")")
bundles=$here/../../generated/bundle
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for wire in quipu senpi dreb; do
  "$quipu" sample --wire "$wire" >"$wire.jsonl"
  union=${wire^}Event

  json2ts -i "$bundles/$wire.open.json" -o "$wire.ts"
  sed "s/WIRE/$wire/g; s/UNION/$union/g" "$here/reader.ts" >"${wire}_reader.ts"
  tsc --strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --target es2022 --module nodenext \
    --moduleResolution nodenext --outDir "$wire" "${wire}_reader.ts"
  node "$wire/${wire}_reader.js" "$wire.jsonl"

  datamodel-codegen --input "$bundles/$wire.open.json" --input-file-type jsonschema \
    --output-model-type pydantic_v2.BaseModel --target-python-version 3.11 --use-annotated --formatters builtin \
    --output "${wire}_models.py"
  mypy --strict --no-error-summary "${wire}_models.py"
  python3 "$here/reader.py" "${wire}_models" "$union" "$wire.jsonl"
done
