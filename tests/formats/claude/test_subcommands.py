"""A command line is taken apart into its commands, or is said to be unclear."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.formats.claude.subcommands import read_command_line

COMMANDS = {
    "": [],
    "ls": ["ls"],
    "git  push\t--force": ["git push --force"],
    "a && b || c; d & e | f |& g": ["a", "b", "c", "d", "e", "f", "g"],
    "a\nb\r\nc": ["a", "b", "c"],
    "a \\\n  b": ["a b"],
    "a # no && b\nc": ["a", "c"],
    "a#b": ["a#b"],
    "echo 'a && b' \"c; d\" e\\;f": ["echo 'a && b' \"c; d\" e\\;f"],
    "echo $(rm -rf /)": ["rm -rf /", "echo $(rm -rf /)"],
    'echo "x $(a "$(b c)") y"': ["b c", 'a "$(b c)"', 'echo "x $(a "$(b c)") y"'],
    "echo `a; b`": ["a", "b", "echo `a; b`"],
    "(cd x && make) && ls": ["cd x", "make", "ls"],
    "diff <(sort a) >(tee b)": ["sort a", "tee b", "diff <(sort a) >(tee b)"],
    "echo a > f 2>&1 < g >> h &> i >| j <<< k": ["echo a"],
    "echo 2 >f": ["echo 2"],
    "{log}>f a {b} >g": ["a {b}"],
    "a >f; b": ["a", "b"],
    "for x in 1 2; do rm $x; done": ["for x in 1 2", "do rm $x", "done"],
    "if a; then b; else c; fi": ["if a", "then b", "else c", "fi"],
    "f() { rm x; }": ["f", "{ rm x", "}"],
    "case $x in a) rm y;; esac": ["case $x in a", "rm y", "esac"],
    "echo ${x:-$(a)}": ["a", "echo ${x:-$(a)}"],
    "echo $'it\\'s; fine'": ["echo $'it\\'s; fine'"],
    "echo $((1 + 2)) && b": ["echo $((1 + 2))", "b"],
    "cat <<EOF > f && ls\nrm x; 'it\nEOF\necho z": ["cat", "ls", "echo z"],
    "cat <<'EOF'\n$(rm x)\nEOF\n": ["cat"],
    "cat <<EOF\n$(rm x) `rm y`\nEOF\n": ["cat", "rm x", "rm y"],
    "cat <<-EOF\n\ta\n\tEOF\nb": ["cat", "b"],
    "cat <<A <<B\na\nA\nb\nB\nc": ["cat", "c"],
    "git commit -m \"$(cat <<'EOF'\nit's (done\nEOF\n)\" && git push": ["cat", "git commit", "git push"],
}


@pytest.mark.parametrize("text", COMMANDS)
def test_the_commands_of_a_line(text):
    line = read_command_line(text)
    assert line.is_clear
    found = [" ".join(words) for words in line.commands]
    if "git commit" in text:  # its message is long
        found = [command.partition(" -m ")[0] for command in found]
    assert found == COMMANDS[text]


@pytest.mark.parametrize(
    "text",
    [
        "echo 'a",
        'echo "a',
        "echo $(a",
        "echo `a",
        "(a",
        "cat <<EOF\na",
        "cat <<EOF",
        "echo $'a",
        "echo ${a",
        "$((1 + $(a)))",
    ],
)
def test_what_ends_in_the_middle_is_unclear(text):
    assert not read_command_line(text).is_clear


@pytest.mark.parametrize("text", ["echo $(" * 1000, "(" * 1000, "${" * 1000, "`(" * 1000, "a" * 10_001])
def test_what_is_too_deep_or_too_long_is_unclear(text):
    assert not read_command_line(text).is_clear


@pytest.mark.parametrize(
    "text", ["echo $x", 'a "$x"', "echo ${x}", "echo $(a)", "echo `a`", "a $1", "cat <<E\n$x\nE\n"]
)
def test_it_expands(text):
    assert read_command_line(text).expands


@pytest.mark.parametrize("text", ["echo '$x'", "echo \\$x", "echo a$", "cat <<'E'\n$x `y`\nE\n", "echo $'a'", "ls 5$"])
def test_it_expands_nothing(text):
    assert not read_command_line(text).expands


@given(st.text(alphabet="ab \n'\"\\$(){}`<>&|;#E-", max_size=60))
def test_any_text_is_read_to_its_end(text):
    line = read_command_line(text)
    assert all(word for words in line.commands for word in words)
    assert all(line.commands)


@given(st.lists(st.text(alphabet="abc-/.=é", min_size=1, max_size=8), min_size=1, max_size=5))
def test_plain_words_are_the_words(words):
    assert read_command_line(" ".join(words)).commands == (tuple(words),)
