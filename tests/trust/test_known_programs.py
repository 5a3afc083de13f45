"""How programs use their arguments."""

from __future__ import annotations

import pytest

from agent_hooks.trust.command_words import CommandWords
from agent_hooks.trust.known_programs import code_files, grows, interpreted, unseen_task, written_files


def only(text):
    words = CommandWords({})
    words.parse(text)
    return words.invocations[0]


@pytest.mark.parametrize(
    ("command", "kind", "argument"),
    [
        ("python3 -W error x.py a", "script", "x.py"),
        ("bash -o pipefail x", "script", "x"),
        ("source x", "script", "x"),
        ("bun run x.ts", "script", "x.ts"),
        ("node --require a x.js", "script", "x.js"),
        ("python3 -c code x.py", "code", "code"),
        ("python3 -Bc 'import a'", "code", "import a"),
        ("python3 -c'import a'", "code", "import a"),
        ("perl -ne 'a'", "code", "a"),
        ("deno eval 'a()'", "code", "a()"),
        ("python3 x.py -c a", "script", "x.py"),
        ("python3 -u -m a.b x", "module", "a.b"),
        ("python3 -", "stdin", None),
        ("sh -s a", "stdin", None),
        ("python3 --version", "", None),
        ("cat x", "", None),
    ],
)
def test_the_script_or_code_of_an_interpreter(command, kind, argument):
    found = interpreted(only(command))
    assert (found[0], found[1] and found[1].text) == (kind, argument)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a", []),
        ("[ -f a ]", []),
        ("jq -f a b", ["a"]),
        ("grep -qf a b", ["a"]),
        ("eslint --config a b", ["a"]),
        ("sed '1e ./a' b", ["1e ./a"]),
        ("tar -I ./a -cf b c", ["./a"]),
        ("tar --to-command=./a -xf b", ["./a"]),
    ],
)
def test_the_code_and_rules_of_a_reading_program(command, expected):
    assert [each.text for each in code_files(only(command))] == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [("cp a b", ["b"]), ("tee -a b", ["-a", "b"]), ("some a --log b --output=c -o d", ["b", "c", "d"]), ("some a", [])],
)
def test_the_files_that_a_program_writes(command, expected):
    assert [each.text for each in written_files(only(command))] == expected


def test_tasks_and_growing_files_are_known_by_name():
    assert [unseen_task(only(text)) for text in ("npm run check", "make x", "bun run x.ts")] == ["npm run", "make", ""]
    assert grows(".claude/state")
    assert not grows("catalog.txt")
