"""Frontmatter: the YAML about which no two readers disagree, and a clear error for the rest."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.errors import SettingsError
from agent_hooks.formats.frontmatter import FrontmatterError, has_hooks, read_frontmatter, split_frontmatter
from tables import tables

TABLES = tables(__file__)


def markdown(head: str, body: str = "Deploy it.\n") -> bytes:
    """A Markdown file with this frontmatter."""
    return f"---\n{head}\n---\n{body}".encode()


def value_of(text: str) -> object:
    """What ``text`` means as a value."""
    return read_frontmatter(markdown(f"key: {text}"))[0]["key"]


def error_of(data: bytes) -> FrontmatterError:
    with pytest.raises(FrontmatterError) as caught:
        read_frontmatter(data)
    return caught.value


# -- where it is -------------------------------------------------------------------------------------------------------


def test_what_stands_between_the_lines_is_read_and_the_rest_is_the_body():
    values, _, body = read_frontmatter(markdown("name: deploy\ndescription: To staging.", "# Deploy\n\n---\nMore.\n"))

    assert values == {"name": "deploy", "description": "To staging."}
    assert body == "# Deploy\n\n---\nMore.\n"


@pytest.mark.parametrize(
    "data", [b"", b"# Deploy\n", b"\n---\nname: x\n---\n", b"----\nname: x\n---\n", b" ---\nname: x\n---\n"]
)
def test_a_file_that_does_not_begin_with_the_line_says_nothing(data: bytes):
    assert read_frontmatter(data) == ({}, {}, data.decode())


@pytest.mark.parametrize("head", ["", "# only a remark", "null", "~"])
def test_empty_frontmatter_says_nothing(head: str):
    assert read_frontmatter(markdown(head))[0] == {}


@pytest.mark.parametrize(
    "data",
    [
        b"---\r\nname: deploy\r\n---\r\nBody",
        b"\xef\xbb\xbf---\nname: deploy\n---\nBody",
        b"---  \nname: deploy\n---\t\nBody",
    ],
    ids=["windows", "byte-order-mark", "blanks"],
)
def test_editors_differences_make_none(data: bytes):
    values, _, body = read_frontmatter(data)

    assert (values, body) == ({"name": "deploy"}, "Body")


def test_the_file_may_end_with_the_frontmatter():
    assert read_frontmatter(b"---\nname: x\n---")[0] == {"name": "x"}


def test_frontmatter_without_an_end_is_an_error():
    error = error_of(b"---\nhooks:\n  PreToolUse: []\n")

    assert str(error) == "line 1: The frontmatter has no end. Put a line --- after its last line."


def test_a_body_in_another_encoding_does_not_matter():
    values, _, body = read_frontmatter(b"---\nname: x\n---\ncaf\xe9")

    assert values == {"name": "x"}
    assert body == "caf\N{REPLACEMENT CHARACTER}"


def test_the_parts_can_be_had_as_bytes():
    assert split_frontmatter(b"---\na: 1\n---\nBody\n") == (b"a: 1\n", b"Body\n")
    assert split_frontmatter(b"Body\n") is None


# -- what values mean --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "meaning"), TABLES["meanings"])
def test_values_mean_what_the_core_schema_says(text: str, meaning: str):
    assert json.dumps(value_of(text)) == meaning


def test_keys_are_text_whatever_they_look_like():
    values, _, _ = read_frontmatter(markdown("on: 1\ntrue: 2\n010: 3\n~: 4\n<<: {a: 5}"))

    assert values == {"on": 1, "true": 2, "010": 3, "~": 4, "<<": {"a": 5}}


def test_each_key_and_item_has_its_line_in_the_file():
    _, lines, _ = read_frontmatter(markdown(TABLES["lines"]["text"]))

    assert lines == {tuple(place): line for *place, line in TABLES["lines"]["places"]}


_TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff"),
    max_size=20,
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(_TEXT, _JSON, max_size=5))
def test_what_is_json_means_the_same_as_in_json(mapping: dict[str, object]):
    text = json.dumps(mapping, ensure_ascii=False)

    assert read_frontmatter(markdown(text))[0] == json.loads(text)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "line", "says"),
    [
        *TABLES["ambiguous"],
        ("a: " + "[" * 40 + "]" * 40, 2, "deeper than 32"),
        ("".join(f"{' ' * depth}a:\n" for depth in range(40)), 34, "deeper than 32"),
        ("a: [" + "1," * 20_000 + "]", 2, "more than 10000 values"),
    ],
)
def test_what_readers_could_see_differently_is_an_error_with_its_line(head: str, line: int, says: str):
    error = error_of(markdown(head))

    assert says in str(error)
    assert error.line == line
    assert str(error).startswith(f"line {line}: ")
    assert error.remedy.endswith(".")
    assert isinstance(error, SettingsError)


def test_too_large_is_an_error():
    error = error_of(markdown("a: " + "x" * 300_000))

    assert "larger than 256 KiB" in str(error)


def test_another_encoding_is_an_error_with_its_line():
    error = error_of(b"---\nname: x\ntitle: caf\xe9\n---\n")

    assert error.line == 3
    assert "UTF-8" in str(error)


@pytest.mark.parametrize(
    "head", [f"a: {'9' * 5000}", *TABLES["numbers_escapes_and_directives_beyond_reason_are_errors"]]
)
def test_numbers_escapes_and_directives_beyond_reason_are_errors(head: str):
    assert error_of(markdown(head)).remedy


@pytest.mark.parametrize("secret", ["password: hunter2: x", "password: &hunter2 x", "password: [hunter2", "*hunter2"])
def test_an_error_quotes_no_value(secret: str):
    assert "hunter2" not in str(error_of(markdown(secret)))


def test_pyyaml_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "yaml", None)

    error = error_of(markdown("name: x"))

    assert "agent-hooks-core[skills]" in str(error)


@pytest.mark.parametrize(
    ("bomb", "says"),
    [
        ("a: &a [x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]", "an anchor"),
        ("a: " + "[" * 100_000, "deeper than 32"),
        ("a: " + "{a: " * 50_000, "deeper than 32"),
        ("- " * 100_000, "deeper than 32"),
        ("? " * 100_000, "deeper than 32"),
        ("a: [" + "b, " * 80_000, "more than 10000 values"),
        ("a: [" + "b " * 80_000, "not YAML"),
    ],
)
def test_a_text_that_would_fill_the_machine_is_refused_before_it_does(bomb: str, says: str):
    assert says in str(error_of(markdown(bomb)))


@pytest.mark.parametrize("head", ["# " + "x" * 250_000, "a: '" + "''" * 100_000 + "'", "\n" * 250_000])
def test_what_is_merely_long_is_read(head: str):
    assert len(str(read_frontmatter(markdown(head))[0].get("a", ""))) in (0, 100_000)


@given(
    st.binary(max_size=200)
    | st.text("ab:-?&*!|>'\"{}[],#%@`\\ \n\r\t\x00\x85\u2028\ud8001.e~", max_size=60).map(
        lambda text: text.encode("utf-8", "surrogatepass")
    )
)
def test_whatever_stands_there_gives_plain_values_or_the_one_error(head: bytes):
    try:
        values, lines, body = read_frontmatter(b"---\n" + head + b"\n---\nBody")
    except FrontmatterError:
        return
    assert json.loads(json.dumps(values)) == values
    assert all(2 <= line <= head.count(b"\n") + 2 for line in lines.values())
    assert body.endswith("Body")


# -- whether it may have hooks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head", ["hooks:", "hooks :", '"hooks": 1', "'hooks': 1", "{hooks: 1}", "a: b: c\nhooks:\n  x"]
)
def test_a_file_that_may_have_hooks_is_told_without_reading_it(head: str):
    assert has_hooks(markdown(head))


@pytest.mark.parametrize(
    "head", ["description: Use when: x", "webhooks: 1", "git-hooks: 1", "description: about hooks"]
)
def test_a_file_without_hooks_is_told_too(head: str):
    assert not has_hooks(markdown(head, "hooks: in the body do not count"))
    assert not has_hooks(b"hooks: 1")


def test_frontmatter_without_an_end_may_have_hooks():
    assert has_hooks(b"---\nhooks:\n")
    assert not has_hooks(b"---\nname: x\n")
