"""The same command in other spellings keeps its verdict: whatever is nested in whatever, what is harmful is stopped and
what is harmless is left alone. And nothing at all breaks or holds up the guard.
"""

from __future__ import annotations

import shlex
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_hooks_guards import ShellGuard
from agent_hooks_guards.analysis.evaluation import Evaluation
from agent_hooks_guards.analysis.state import Frame, State
from agent_hooks_guards.model.actions import Doubt, TooMuchError
from agent_hooks_guards.places.paths import Place
from tables import tables

TABLES = tables(__file__)

GUARD = ShellGuard()
PLACE = Place("/home/dev/app", "/home/dev", "/home/dev/app")

HARMFUL = TABLES["harmful"]


def ansi(word):
    return "$'" + "".join(f"\\x{byte:02x}" for byte in word.encode()) + "'"


def octal(word):
    return "$'" + "".join(f"\\{ord(char):03o}" for char in word) + "'"


def split_quotes(word):
    return "".join(f"{char}''" if char.isalnum() else shlex.quote(char) for char in word)


def backslashes(word):
    return "".join(char if char == "\n" else f"\\{char}" for char in word)


def double(word):
    return '"' + "".join(f"\\{char}" if char in '"\\$`' else char for char in word) + '"'


QUOTES = [
    shlex.quote,
    shlex.quote,
    ansi,
    split_quotes,
    backslashes,
    double,
    octal,
]


@st.composite
def spelled(draw, payloads):
    """A payload with each word quoted somehow."""
    words = draw(st.sampled_from(payloads))
    blank = draw(st.sampled_from([" ", "  ", "\t", " \\\n "]))
    return blank.join(draw(st.sampled_from(QUOTES))(word) for word in words)


def in_variable(text):
    return f'v={shlex.quote(text)}; eval "$v"'


def in_file(text):
    return f"printf '%s\\n' {shlex.quote(text)} > /tmp/s.sh && sh /tmp/s.sh"


def in_here_document(text):
    mark = f"END{len(text)}"  # of nested ones each needs its own
    return f"bash <<'{mark}'\n{text}\n{mark}\n"


def in_python(text):
    return f"python3 -c {shlex.quote(f'import os; os.system({text!r})')}"


NESTS = {
    "list": lambda text: f"true && {text}\n:",
    "subshell": lambda text: f"( {text}\n)",
    "group": lambda text: f"{{ {text}\n}}",
    "function": lambda text: f"f() {{ {text}\n}}; f",
    "if": lambda text: f"if [ -d . ]; then {text}\nfi",
    "for": lambda text: f"for i in 1; do {text}\ndone",
    "while": lambda text: f"while :; do {text}\nbreak; done",
    "case": lambda text: f"case x in *) {text}\n;; esac",
    "pipe": lambda text: f"echo x | {{ {text}\n}}",
    "substitution": lambda text: f': "$({text}\n)"',
    "background": lambda text: f"{{ {text}\n}} & wait",
    "bash -c": lambda text: f"bash -c {shlex.quote(text)}",
    "sh -lc": lambda text: f"sh -lc {shlex.quote(text)}",
    "env": lambda text: f"env A=1 sh -c {shlex.quote(text)}",
    "nohup": lambda text: f"nohup nice -n 5 bash -c {shlex.quote(text)} >/dev/null 2>&1",
    "timeout": lambda text: f"timeout -k 1 5 sh -c {shlex.quote(text)}",
    "xargs": lambda text: f"echo x | xargs -I{{}} sh -c {shlex.quote(text)}",
    "find": lambda text: f"find . -maxdepth 0 -exec sh -c {shlex.quote(text)} \\;",
    "eval": lambda text: f"eval {shlex.quote(text)}",
    "variable": in_variable,
    "here-document": in_here_document,
    "here-string": lambda text: f"bash <<< {shlex.quote(text)}",
    "echo | sh": lambda text: f"printf '%s\\n' {shlex.quote(text)} | sh",
    "file": in_file,
    "python": in_python,
    "trap": lambda text: f"trap {shlex.quote(text)} EXIT",
    "process substitution": lambda text: f"cat <({text}\n) >/dev/null",
}


@st.composite
def nested(draw, payloads):
    """A payload in up to three nests."""
    text = draw(spelled(payloads))
    for name in draw(st.lists(st.sampled_from(sorted(NESTS)), max_size=3)):
        text = NESTS[name](text)
    return text


def decisions(text):
    return [decision for decision, _ in GUARD.decide(text, PLACE)]


@settings(max_examples=300)
@given(nested(HARMFUL))
def test_what_is_harmful_is_stopped_in_every_spelling(text):
    assert decisions(text)


@settings(max_examples=300)
@given(nested(TABLES["harmless"]))
def test_what_is_harmless_is_left_alone_in_every_spelling(text):
    assert decisions(text) == []


@pytest.mark.parametrize("name", NESTS)
@pytest.mark.parametrize("words", HARMFUL, ids=" ".join)
def test_what_is_harmful_is_denied_in_every_nest(name, words):
    assert "deny" in decisions(NESTS[name](shlex.join(words)))


PIECES = st.sampled_from(
    [
        "rm",
        "-rf",
        "/",
        "~",
        "'",
        '"',
        "`",
        "$(",
        ")",
        "${",
        "}",
        "<<E\n",
        "E\n",
        "<(",
        ">",
        ">&",
        "|",
        "&&",
        ";",
        "&",
        "\n",
        "if ",
        "then ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "case x in ",
        "esac",
        "f() {",
        "\\",
        "\\\n",
        "\x00",
        "�",
        "\ue000",
        "$'",
        "\\x",
        "=",
        "a[",
        "]",
        "((",
        "))",
        "[[ ",
        " ]]",
        "{a,b}",
        "{1..9}",
        "!",
        "#",
        "*",
        "?",
        " ",
        "eval ",
        "bash -c ",
        "python3 -c ",
        "awk ",
        "sed ",
        "xargs ",
        "find . -exec ",
        "git -c alias.x=!",
        "é",
        "\u202e",
        "\r\n",
        "echo ",
        "| sh",
    ]
)


@settings(max_examples=500)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60))
@example("")
@example("\0")
@example("\r\ndo \r\nrm")
@example("{\U000f0001")
@example("'rm'{\U000f0000,x} -rf /")
def test_no_text_breaks_the_guard(text):
    walk = Evaluation(PLACE)  # by itself: the guard asks about whatever fails
    try:
        walk.code(text, Frame(State(PLACE.cwd, PLACE.home), text), wants=False)
    except TooMuchError:
        walk.analysis.doubts.append(Doubt("too-much", text))
    GUARD.broken(walk.analysis, PLACE)


@settings(max_examples=40)
@given(st.lists(PIECES, min_size=1, max_size=4).map("".join), st.integers(500, 20_000))
def test_no_repetition_holds_it_up(text, times):
    begun = time.process_time()
    decisions((text * times)[:300_000])
    # A bound of work and not a measure of speed: without bounds this takes minutes.
    assert time.process_time() - begun < 20
