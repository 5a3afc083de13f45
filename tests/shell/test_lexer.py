"""Words are what bash makes of them, in every quoting."""

from __future__ import annotations

import subprocess

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agent_hooks.shell.syntax import Bare, Parameter, Simple
from shell_trees import parse
from tables import tables

TABLES = tables(__file__)


def bash(script: str, *arguments: str, folder) -> bytes:
    """Runs a script of builtins: there is no folder in which a program could be found."""
    return subprocess.run(
        ["/bin/bash", "-c", script, "bash", *arguments],
        env={"PATH": "/nonexistent", "LC_ALL": "C.UTF-8"},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    ).stdout


def literal(parts) -> str | None:
    """A word's text, None if something in it is expanded; ``x`` is not set."""
    text = ""
    for part in parts:
        match part:
            case str():
                text += part
            case Bare():
                text += part.text
            case Parameter(name="x", index=None, operator="-" | ":-"):
                inner = literal(part.arguments[0])
                if inner is None:
                    return None
                text += inner
            case Parameter(name="x", index=None, operator=""):
                pass
            case _:
                return None
    return text


def words_of(text: str) -> list[str] | None:
    """The words that a command is told to consist of, None if it is more than words."""
    items = parse(text).items
    if len(items) != 1 or items[0].background or not isinstance(node := items[0].node, Simple):
        return None
    words = [literal(parts) for parts in node.words]
    known = [one for one in words if one is not None]
    return known if len(known) == len(words) and not node.assignments and not node.redirects else None


def printed_by_bash(commands: list[str], folder) -> list[list[str] | None]:
    """What each command, a ``printf '%s\\0'``, prints in bash: None where bash does not run it."""
    script = """
        set -f +B; unset x; IFS=
        for command in "$@"; do printf '\\376'; (eval "$command") 2>/dev/null || printf '\\375'; done
    """
    outputs = bash(script, *commands, folder=folder).split(b"\xfe")[1:]
    assert len(outputs) == len(commands)
    return [
        None if b"\xfd" in output else [one.decode("utf-8", "surrogateescape") for one in output.split(b"\0")[:-1]]
        for output in outputs
    ]


def assert_as_in_bash(commands: list[str], folder) -> None:
    pairs = [(command, words) for command in commands if (words := words_of(command)) is not None]
    assume(pairs)
    for (command, words), printed in zip(pairs, printed_by_bash([each for each, _ in pairs], folder), strict=True):
        assert printed is None or printed == words[2:], command


SEVERAL = settings(max_examples=12, suppress_health_check=list(HealthCheck))


def test_a_joined_line_in_quotes_is_an_empty_word():
    assert words_of('printf "\\\n" \\"b') == ["printf", "", '"b']


def several(pieces: list[str], most: int) -> st.SearchStrategy[list[str]]:
    """Many texts of a few pieces each: bash starts once for all of them."""
    texts = st.lists(st.sampled_from(pieces), min_size=1, max_size=most).map("".join)
    return st.lists(texts, min_size=40, max_size=80)


@SEVERAL
@given(several(TABLES["pieces"], 12))
def test_words_in_every_quoting_are_what_bash_makes_of_them(tmp_path_factory, texts):
    commands = [f"printf '%s\\0' a{text}" for text in texts if not text.endswith("\\")]
    assert_as_in_bash(commands, tmp_path_factory.getbasetemp())


@SEVERAL
@given(several(TABLES["in_braces"], 10))
def test_defaults_of_parameters_end_where_they_end_in_bash(tmp_path_factory, texts):
    shapes = ("printf '%s\\0' a${{x-{}}}b", "printf '%s\\0' \"${{x-{}}}\"b", "printf '%s\\0' \"{}\"b")
    # What single quotes hide of double ones there, not even bash decides alike when it reads and when it expands.
    texts = [text for text in texts if not ("'" in text and '"' in text)]
    assert_as_in_bash([shape.format(text) for shape in shapes for text in texts], tmp_path_factory.getbasetemp())
