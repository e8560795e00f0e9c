"""Prints the number of each line of FILE that BUNDLE does not take: the jsonschema CLI of Sourcemeta.

    python3 sourcemeta.py BUNDLE FILE.jsonl
"""

import re
import subprocess
import sys

bundle, file = sys.argv[1:]
run = subprocess.run(
    ["jsonschema", "validate", "--fast", "--continue", bundle, file],
    capture_output=True,
    text=True,
    check=False,
)
told = run.stdout + run.stderr
# 0: all valid; 2: not all.
if run.returncode not in (0, 2):
    sys.exit(f"jsonschema ended with {run.returncode}:\n{told[-2000:]}")
numbers = sorted(int(n) for n in re.findall(r"^fail: .* \(entry #(\d+)\)$", told, re.M))
if bool(numbers) != (run.returncode == 2):
    sys.exit(f"its verdicts cannot be read:\n{told[-2000:]}")
print("".join(f"{number}\n" for number in numbers), end="")
