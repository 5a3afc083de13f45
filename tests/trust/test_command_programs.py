"""What a program does with its arguments."""

from __future__ import annotations

import pytest

from agent_hooks.trust.command_programs import (
    Interpreted,
    grows,
    handled_arguments,
    is_data,
    modules_of,
    run_files,
    runs_input,
    unseen_task,
    written_files,
)
from agent_hooks.trust.command_words import CommandWords


def only(text):
    words = CommandWords({})
    words.parse(text)
    return words.invocations[0]


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("python3 -W error x.py a", "x.py"),
        ("bash -o pipefail x", "x"),
        ("source x", "x"),
        ("bun run x.ts", "x.ts"),
        ("node --require a x.js", "x.js"),
        ("python3 -c code x.py", None),
        ("python3 -m json.tool x", None),
        ("cat x", None),
    ],
)
def test_the_script_of_an_interpreter(command, script):
    found = Interpreted(only(command)).script
    assert (None if found is None else found.text) == script


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("python3 -Bc 'import a'", "import a"),
        ("python3 -c'import a'", "import a"),
        ("bash -ec 'a b'", "a b"),
        ("node --eval='a()'", "a()"),
        ("perl -ne 'a'", "a"),
        ("deno eval 'a()'", "a()"),
        ("python3 x.py -c a", None),
    ],
)
def test_the_code_of_an_interpreter(command, code):
    found = Interpreted(only(command)).code
    assert (None if found is None else found.text) == code


@pytest.mark.parametrize(
    "command", ["sh", "python3 -", "sh -s a", "sh /dev/fd/3", "eval $x", "$x a", "bash -c $x", "xargs sh"]
)
def test_a_program_that_runs_its_input(command):
    assert runs_input(only(command))


@pytest.mark.parametrize("command", ["sh x", "cat", "python3 -c a", "python3 --version", "eval a", "xargs cat"])
def test_a_program_that_does_not(command):
    assert not runs_input(only(command))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("./x a", ["./x"]),
        ("timeout 5 x.py a", ["x.py"]),
        ("sh x", ["x"]),
        ("npx @biomejs/biome x", []),
        ("cat x", []),
        ("bun run check", []),
    ],
)
def test_the_files_that_are_run(command, expected):
    assert [each.text for each in run_files(only(command))] == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("some a --log b -o c d", ["some", "a", "d"]),
        ("cat a", []),
        ("jq -f a b", ["a"]),
        ("eslint --config a b", ["a"]),
        ("sed '1e ./a' b", ["1e ./a"]),
        ("git diff a", []),
        ("rm -r a", []),
        ("gzip -c a", []),
        ("tar -I ./a -cf b c", ["./a"]),
        ("tar --to-command=./a -xf b", ["--to-command=./a"]),
        ("cp a.md b", []),
        ("cp a b", ["a"]),
        ("cp a.sh b", ["a.sh"]),
        ("ln -s a.md .git/hooks/b", ["a.md"]),
        ("git bisect run a", ["git", "bisect", "run", "a"]),
    ],
)
def test_the_arguments_that_may_be_run(command, expected):
    assert [each.text for each in handled_arguments(only(command))] == expected


def test_programs_that_only_handle_data_are_known():
    assert is_data(only("cat x"))
    assert is_data(only("/usr/bin/cat x"))
    assert is_data(only("python3 -m json.tool"))
    assert not is_data(only("hooks/cat x"))
    assert not is_data(only("git bisect run x"))


def test_what_else_a_command_shows_of_itself():
    assert modules_of(only("python3 -u -m a.b x")) == ["a.b"]
    assert [each.text for each in written_files(only("cp a b > c"))] == ["c", "b"]
    assert unseen_task(only("npm run check")) == "npm run"
    assert unseen_task(only("make x")) == "make"
    assert unseen_task(only("bun run x.ts")) == ""
    assert grows(".claude/state")
    assert not grows("catalog.txt")
