"""Entries in a JSON text: put in and taken out again, the text is what it was, and nothing of others is touched."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks.cli.wiring.edit import Document, ours_in, with_entries, without_ours
from agent_hooks.errors import BadJSONError, SettingsError

OURS = {"type": "command", "command": "/env/bin/python -I -S /site/agent_hooks_core.py run"}
GROUPS = {event: {"hooks": [OURS]} for event in ("PreToolUse", "Stop")}
FLAT = dict.fromkeys(("PreToolUse", "Stop"), OURS)
EVENTS = ("PreToolUse", "Stop", "Other")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
handlers = st.fixed_dictionaries(
    {"type": st.just("command"), "command": texts}, optional={"timeout": st.integers(1, 9)}
)
groups = st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=2)}, optional={"matcher": texts})
hooks = st.dictionaries(st.sampled_from(EVENTS), st.lists(groups | handlers, max_size=2), max_size=3)
files = st.tuples(st.dictionaries(texts, values, max_size=3), st.none() | hooks).map(
    lambda pair: pair[0] if pair[1] is None else {**pair[0], "hooks": pair[1]}
)
styles = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 2, 4, "\t"]),
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    }
)
COMMENTS = ("", "", ' // note: "hooks", {}\n', "/* a\n b */", " /**/ ", "\n\n")


def is_ours(handler):
    return "agent_hooks_core.py" in str(handler.get("command"))


@st.composite
def documents(draw):
    """A settings file in some style, with comments between its parts, line ends of either kind, and perhaps a BOM."""
    text = json.dumps(draw(files), **draw(styles))
    if comments := draw(st.booleans()):
        parts = re.split(r'("(?:[^"\\]|\\.)*"|[\[\]{},:])', text)
        text = "".join(part + draw(st.sampled_from(COMMENTS)) if part else part for part in parts)
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text, comments


def empty_places(document):
    """The lists and objects of hooks that are empty, which a removal has to leave."""
    found = document.value.get("hooks")
    if found is None:
        return set()
    return {("hooks",)} if not found else {("hooks", event) for event, items in found.items() if not items}


@given(documents(), st.sampled_from([GROUPS, FLAT]))
def test_what_was_put_in_and_taken_out_leaves_the_text_as_it_was(document, entries):
    text, comments = document
    before = Document(text, comments=comments)
    after = with_entries(before, entries)
    found = [handler for _, handler in ours_in(after, is_ours)]
    assert found == [OURS, OURS]
    for event, entry in entries.items():
        assert after.value["hooks"][event][-1] == entry
        assert after.value["hooks"][event][:-1] == before.value.get("hooks", {}).get(event, [])
    left = without_ours(after, is_ours, empty_places(before))
    assert left.value == before.value
    # Blanks before the end of what was empty are not restored here, but from the copy that is kept.
    assert re.sub(r"\s+(?=[}\]])", "", left.text) == re.sub(r"\s+(?=[}\]])", "", text)


@given(documents(), st.data())
def test_taking_ours_out_leaves_the_hooks_of_others_wherever_ours_are(document, data):
    text, comments = document
    before = Document(text, comments=comments)
    value = json.loads(json.dumps(before.value))
    for event, items in value.get("hooks", {}).items():
        for _ in range(data.draw(st.integers(0, 2))):
            item = data.draw(st.sampled_from([OURS, GROUPS["Stop"], {"matcher": "Bash", "hooks": [OURS, OURS]}]))
            items.insert(data.draw(st.integers(0, len(items))), item)
        for item in items:
            if "hooks" in item and data.draw(st.booleans()) and (item["hooks"] or event == "Other"):
                item["hooks"].insert(0, OURS)
    left = without_ours(Document(json.dumps(value, indent=2)), is_ours).value
    assert plain(left) == plain(before.value)


def plain(value):
    """The file without groups of no handlers, and lists of no groups: they mean nothing."""
    events = {
        event: [item for item in items if item.get("hooks") != []] for event, items in value.get("hooks", {}).items()
    }
    found = {event: items for event, items in events.items() if items}
    return {key: each for key, each in value.items() if key != "hooks"} | ({"hooks": found} if found else {})


def test_a_file_keeps_its_comments_order_indentation_and_line_ends():
    text = '{\r\n\t// mine\r\n\t"z": 1, // one\r\n\t"a": [1,2]  /* two */\r\n}\r\n'
    after = with_entries(Document(text, comments=True), {"Stop": OURS})
    assert after.text == (
        '{\r\n\t// mine\r\n\t"z": 1, // one\r\n\t"a": [1,2],  /* two */\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n'
        f'\t\t\t\t"type": "command",\r\n\t\t\t\t"command": "{OURS["command"]}"\r\n\t\t\t}}\r\n\t\t]\r\n\t}}\r\n}}\r\n'
    )
    assert without_ours(after, is_ours).text == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{\n// not here\n"a": 1}', "is not JSON: Expecting property name enclosed in double quotes: line 2 column 1"),
        ("{", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2"),
        ('{"a": 1\n,}', "line 2"),
        ("{\n// no\n}", "line 2 column 1"),
        ("[]", "is no JSON object"),
        ('{"hooks": {},\n "hooks": {}}', "has the key 'hooks' a second time in line 2"),
        ('{"a": {"b": 1,\n\n"b": 2}}', "has the key 'b' a second time in line 3"),
    ],
)
def test_a_text_that_not_every_reader_would_read_alike_is_refused_with_its_line(text, problem):
    with pytest.raises(BadJSONError, match=re.escape(problem)):
        Document(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{\n"hooks": []}', "hooks in line 2 must be an object."),
        ('{"hooks": {\n\n"Stop": {}}}', "hooks.Stop in line 3 must be a list."),
        ('{"hooks": null}', "hooks in line 1 must be an object."),
    ],
)
def test_hooks_of_another_form_are_refused(text, problem):
    with pytest.raises(SettingsError, match=re.escape(problem)):
        with_entries(Document(text), {"Stop": OURS})
