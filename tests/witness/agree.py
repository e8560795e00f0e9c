"""Lets validators of others judge the lines of the corpus; fails unless all say what the corpus says.

    eval "$(.ci/tools)" && python3 tests/witness/agree.py
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORPUS = ROOT / "tests" / "corpus" / "lines"
WITNESSES = {
    "ajv": ["node", str(HERE / "ajv.mjs")],
    "sourcemeta": [sys.executable, str(HERE / "sourcemeta.py")],
    "jsonschema-rs": [sys.executable, str(HERE / "rs.py")],
}


def corpus(folder: pathlib.Path) -> list[tuple[str, bool, str]]:
    """Name, validity and bytes of each line of a folder; the line stands last in its row."""
    rows = []
    for file in sorted(folder.glob("*.jsonl")):
        with file.open(encoding="utf-8", newline="\n") as lines:
            for number, row in enumerate(lines, 1):
                head, line = row.rstrip("\n").split(',"line":', 1)
                name = f"{folder.name}/{file.name}:{number}"
                rows.append((name, head.startswith('{"valid":true'), line[:-1]))
    return rows


def main() -> int:
    folders = sorted(folder for folder in CORPUS.iterdir() if folder.is_dir())
    judged = wrong = 0
    for folder in folders:
        rows = corpus(folder)
        expected = {number for number, row in enumerate(rows, 1) if not row[1]}
        bundle = ROOT / "generated" / "bundle" / f"{folder.name}.strict.json"
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place) / "lines.jsonl"
            text = "".join(line + "\n" for _, _, line in rows)
            file.write_text(text, encoding="utf-8", newline="\n")
            for witness, command in WITNESSES.items():
                told = subprocess.run(
                    [*command, str(bundle), str(file)], stdout=subprocess.PIPE, check=True
                )
                found = {int(number) for number in told.stdout.split()}
                for number in sorted(found ^ expected):
                    verdict = "invalid" if number in found else "valid"
                    print(f"{witness} takes {rows[number - 1][0]} for {verdict}")
                wrong += len(found ^ expected)
                judged += len(rows)
    print(f"{judged} verdicts of {len(WITNESSES)} witnesses, {wrong} of them other than the corpus's")
    return 1 if wrong or not judged else 0


if __name__ == "__main__":
    sys.exit(main())
