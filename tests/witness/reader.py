"""Reads a stream with the models that datamodel-code-generator makes; nothing may get lost.

    python3 reader.py MODULE UNION FILE
"""

import importlib
import json
import pathlib
import sys

module, union, file = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path.cwd()))
model = getattr(importlib.import_module(module), union)
count = 0
# Not splitlines, which takes more than a line feed for the end of a line.
for line in pathlib.Path(file).read_bytes().removesuffix(b"\n").split(b"\n"):
    event = model.model_validate_json(line)
    again = json.loads(event.model_dump_json(by_alias=True, exclude_unset=True, warnings=False))
    if again != json.loads(line):
        sys.exit(f"line {count + 1} is another one when written again:\n{line.decode()}\n{again}")
    count += 1
if not count:
    sys.exit("nothing was read")
print(f"{module}: {count} lines read in Python")
