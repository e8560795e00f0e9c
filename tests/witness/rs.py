"""Prints the number of each line of FILE that BUNDLE does not take: jsonschema-rs.

    python3 rs.py BUNDLE FILE
"""

import json
import sys

import jsonschema_rs

bundle, file = sys.argv[1:]
with open(bundle, encoding="utf-8") as text:
    validator = jsonschema_rs.validator_for(json.load(text))
with open(file, encoding="utf-8", newline="\n") as lines:
    for number, line in enumerate(lines, 1):
        if not validator.is_valid(json.loads(line)):
            print(number)
