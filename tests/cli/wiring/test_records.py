"""Any sequence of installations, edits by others and uninstallations keeps what others have in the file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks.cli.wiring.editors import HooksFile
from agent_hooks.cli.wiring.hosts import WIRINGS
from agent_hooks.cli.wiring.records import Records

from .test_edit import documents, files, plain, styles

LINE = "/env/bin/python -I -S /site/agent_hooks_core.py run --agent x --event "
FACTS = {"host": "gemini", "project": "", "events": [], "is_chosen": False}
# With comments and groups, without comments and with groups, and with entries of their own.
SHAPES = ("gemini", "codex", "cursor")

wirings = st.lists(st.sampled_from(["PreToolUse", "Stop", "Setup"]), min_size=1, max_size=3, unique=True)
edits = st.tuples(files, styles)
one_of = st.one_of(
    wirings.map(lambda events: ("install", events)),
    edits.map(lambda edit: ("edit", edit)),
    st.just(("uninstall", None)),
)
actions = st.lists(one_of, max_size=6)


class Wired:
    """A file of a host at ``path``, which may not exist."""

    def __init__(self, host, path):
        self.host = WIRINGS[host]
        self.path = path
        self.records = Records()

    def editor(self, events=()):
        handler = {"type": "command", "command": LINE}
        entries = {event: {**handler, "command": f"{LINE}{event} --timeout 9"} for event in events}
        groups = {event: {"hooks": [entry]} for event, entry in entries.items()}
        return HooksFile(self.host, str(self.path), groups if self.host.shape == "groups" else entries)

    def install(self, events):
        self.records.apply(self.records.installing(str(self.path), self.editor(events)), FACTS)

    def uninstall(self):
        self.records.undo(self.records.uninstalling(str(self.path), self.editor()))

    def edit(self, value, style):
        """Write other settings, with ours as they are."""
        value = json.loads(json.dumps(value))
        wired = json.loads(self.path.read_text("utf-8-sig"))["hooks"] if self.wired() else {}
        for event, items in wired.items():
            ours = [item for item in items if LINE in json.dumps(item)]
            if ours:
                value.setdefault("hooks", {}).setdefault(event, []).extend(ours)
        self.path.write_text(json.dumps(value, **style))

    def wired(self):
        if not self.path.exists():
            return []
        return [*self.editor().wired(self.path.read_bytes())]

    def others(self):
        """What is in the file beside ours."""
        if not self.path.exists():
            return {}
        data = self.editor().cleaned(self.path.read_bytes(), None)
        return {key: each for key, each in plain(self.editor().document(data).value).items() if key != "version"}


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        Path(Records().folder).mkdir()
        yield


@given(document=documents(), events=wirings)
@settings(max_examples=50)
def test_an_installation_that_nobody_touched_is_undone_byte_for_byte(state, document, events):
    text, comments = document
    with tempfile.TemporaryDirectory() as folder:
        wired = Wired("gemini" if comments else "cursor", Path(folder) / "settings.json")
        wired.path.write_bytes(text.encode())
        wired.install(events)
        assert sorted(wired.wired()) == sorted(events)
        wired.install(events[:1])
        assert wired.wired() == events[:1]
        wired.uninstall()
        assert wired.path.read_bytes() == text.encode()


@given(host=st.sampled_from(SHAPES), first=st.none() | edits, actions=actions)
@settings(max_examples=100)
def test_the_entries_of_others_are_kept_whatever_happens(state, host, first, actions):
    with tempfile.TemporaryDirectory() as folder:
        wired = Wired(host, Path(folder) / "deep" / "settings.json")
        others, installed = {}, []
        if first is not None:
            wired.path.parent.mkdir()
            wired.edit(*first)
            others = plain(first[0])
        for kind, given_ in actions:
            if kind == "install":
                wired.install(given_)
                installed = given_
            elif kind == "edit":
                wired.path.parent.mkdir(exist_ok=True)
                wired.edit(*given_)
                others = plain(given_[0])
            else:
                wired.uninstall()
                installed = []
            assert wired.others() == {key: each for key, each in others.items() if key != "version"}
            assert sorted(wired.wired()) == sorted(installed)
