"""Everything that decides whether the wiring of one host works: for ``agent-hooks doctor HOST``."""

from __future__ import annotations

import json
import os
import re
import shlex
from shutil import which

from agent_hooks.formats.claude.fields import OR_REFUSE, plain_line
from agent_hooks.sources.files import ClaudeSource
from agent_hooks.system.paths import is_below
from agent_hooks.trust.project_files import is_marked
from agent_hooks.wire import get_host

from . import files
from .cautions import SETTINGS, objects_in, settings_in, silenced
from .client_events import client_events
from .edit import HOOKS, ours_in
from .editors import COMMAND_KEYS, HooksFile, runs_ours
from .entries import entries_of, heeds_on_failure, is_gate, stays_open
from .firing import MISSING, TIMEOUT, Gate
from .hosts import AHEAD, WIRINGS
from .report import editor_of, version_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .hosts import Wiring

    Facts = dict[str, Any]

# By host: how it combines the answers of several hooks, and the trust that it needs before it runs any.
_ALL = "All files count, and their hooks run at once"
_NONE = "It runs hooks without asking anybody."
_OF_FOLDERS = "It runs those of a project in folders that you trust there."
_HABITS = {
    "claude-code": (
        f"{_ALL}: deny goes before ask, ask before allow.",
        "In a terminal it runs no hooks in a folder before you trust the folder there; with -p it does.",
    ),
    "codex": (f"{_ALL}: any deny holds.", "It trusts these hooks."),
    "gemini": (f"{_ALL}: any deny holds, then any ask.", _OF_FOLDERS),
    "qwen": (f"{_ALL}.", _NONE),
    "copilot": ("All files count, and their hooks run one after the other: any deny holds.", _NONE),
    "vscode": ("All files count: deny goes before ask, ask before allow.", _NONE),
    "cursor": ("All files count; where hooks disagree, the project's goes before yours.", _OF_FOLDERS),
    "opencode": ("All plugins run, one after the other: any error is a deny.", _NONE),
}
# Keys of an entry with which a host does not always ask, or does not wait for the answer.
_LOOSENING = ("if", "once", "async", "asyncRewake")
_RUNS = 5


def examine(facts: Facts, root: str) -> None:
    """Add to the facts of a wired file all that can be read from the project at ``root``, and the problems that
    `install` would mend. Nothing is run but the host, for its version.
    """
    wiring, path = WIRINGS[facts["host"]], facts["path"]
    facts["version"] = version = version_here(wiring)
    facts["merging"], facts["trust"] = _HABITS[wiring.name]
    if any("does not trust" in problem for problem in facts["problems"]):
        facts["trust"] = "It does not trust these hooks."
    facts["files"] = [*_files(wiring, path, root)]
    program = next(filter(None, map(which, wiring.programs)), None)
    rows = get_host(wiring.name).rows
    there = client_events(program, rows) if program else frozenset()
    facts["unasked"] = sorted(there.difference(facts["wired"]))
    if new := sorted(there.difference(rows)):
        facts["cautions"].append(
            f"{wiring.title} has events that agent-hooks does not know, so no hook is asked about them: "
            f"{', '.join(new)}."
        )
    facts["matchers"], facts["timeouts"] = {}, {}
    problems: dict[str, list[str]] = {}
    for event, handler, matcher in _entries(wiring, path):
        theirs, ours = _seconds(wiring, event, handler)
        facts["timeouts"][event] = {"host": theirs, "ours": ours}
        if matcher not in ("", "*", ".*"):
            facts["matchers"][event] = matcher
            problems.setdefault(f"it asks about {matcher!r} alone.", []).append(event)
        for problem in _problems(wiring, event, handler, version, is_late=ours >= theirs):
            problems.setdefault(problem, []).append(event)
    facts["problems"] += [f"{', '.join(events)}: {problem}" for problem, events in problems.items()]


def fire_gates(facts: Facts, directory: str, root: str, *, fire: bool) -> None:
    """Add what becomes of the events of gates: of one that nothing speaks against, and if ``fire``, with faults.

    ``directory``: where a session works. With that, problems that `install` does not mend.
    """
    wiring, path = WIRINGS[facts["host"]], facts["path"]
    silent = [*silenced(wiring, path, root)]
    facts["problems"] += silent
    facts["cautions"] = [caution for caution in facts["cautions"] if caution not in silent]
    host = get_host(wiring.name)
    is_projects = facts["is_project"] or (is_marked(root) and is_below(os.path.realpath(path), root))
    facts["fired"] = []
    for event, handler, _ in _entries(wiring, path):
        answer = host.failure(event, "no answer")
        if event not in host.rows or (answer.exit_code != 2 and not answer.stdout):
            continue  # it is no gate, or an event of another host that reads this file
        if is_projects and not _is_installed(wiring, path, event, handler):
            facts["problems"].append(f"{event}: a project may have written this line, so it was not run.")
            continue
        theirs, ours = _seconds(wiring, event, handler)
        closes = _closes(wiring, handler, facts["version"])
        gate = Gate(host, event, handler, directory, closes=closes, is_late=ours >= theirs)
        gate.stays_open = stays_open(wiring, event) and plain_line(handler["command"]) != handler["command"]
        _run(wiring, facts, gate, fire=fire)


def _run(wiring: Wiring, facts: Facts, gate: Gate, *, fire: bool) -> None:
    """Add the verdicts of the host on the events of a gate."""
    results = [gate.try_harmless(runs=1 if "milliseconds" in facts else _RUNS)]
    facts.setdefault("milliseconds", results[0]["milliseconds"])
    if results[0]["is_right"]:  # else a fault would show nothing
        results += gate.fire() if fire else ()
    facts["fired"] += results
    problems: dict[str, list[str]] = {}
    for each in results:
        if each["is_right"]:
            continue
        if each["fault"] == MISSING and not is_gate(wiring, gate.event, in_all=True):
            facts["cautions"].append(f"{gate.event}, {MISSING}: {each['verdict']}. {wiring.title} cannot close that.")
            continue
        why = "" if each["is_reached"] else ", but the hook with the fault was not asked, so this shows nothing"
        problems.setdefault(f"{each['verdict']}{why}. {each['said']}".strip(), []).append(each["fault"])
    facts["problems"] += [f"{gate.event}, {', '.join(faults)}: {problem}" for problem, faults in problems.items()]


def _entries(wiring: Wiring, path: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield our entries in a file: the event, the handler with its command line as ``command``, and the matcher."""
    data = files.read(path)
    editor = editor_of(wiring, path, ())
    if not isinstance(editor, HooksFile):
        found = re.search(rb"^const COMMAND = (\[.*\])$", data or b"", re.MULTILINE)
        program, *words = json.loads(found[1]) if found else ["missing"]
        for event, seconds in editor.wired(data).items():
            args = [*words, "--event", event, "--timeout", str(seconds - AHEAD)]  # as the plugin does
            yield event, {"command": program, "args": args, "timeout": seconds}, ""
        return
    document = editor.document(data)
    for place, handler in ours_in(document, runs_ours):
        line = next(handler[key] for key in COMMAND_KEYS if isinstance(handler.get(key), str))
        group = document.value[HOOKS][place[1]][place[2]]
        yield str(place[1]), {**handler, "command": line}, str(group.get("matcher") or "")


def _seconds(wiring: Wiring, event: str, handler: Facts) -> tuple[float, float]:
    """Return after how many seconds the host gives up the command, and after how many that gives up a hook."""
    host = get_host(wiring.name)
    given = handler.get("timeout")
    theirs = given / wiring.timeout if isinstance(given, (int, float)) else host.time_limit(event)
    found = TIMEOUT.search("\0".join((handler["command"], *handler.get("args", ()))))
    usual = host.time_limit(event)
    return theirs, float(found[2]) if found else usual - min(5.0, usual / 4)


def _closes(wiring: Wiring, handler: Facts, version: str) -> bool:
    """Whether an entry makes a host of this version refuse where the command fails."""
    if wiring.closing is None:
        return wiring.shape == "plugin"
    key, value = wiring.closing
    return handler.get(key) == value and (wiring.name != "claude-code" or heeds_on_failure(version))


def _problems(wiring: Wiring, event: str, handler: Facts, version: str, *, is_late: bool) -> Iterator[str]:
    """Yield the mistakes in an entry, as far as its text shows them."""
    line = handler["command"]
    try:
        words = [*shlex.split(plain_line(line)), *handler.get("args", ())]
    except ValueError:
        words = []
    paths = [word for word in words[: words.index("run") if "run" in words else 0] if os.path.isabs(word)]
    yield from (f"there is no {word}." for word in paths if not os.path.exists(word))
    yield from (f"its entry has {key!r}, so not every answer counts." for key in _LOOSENING if handler.get(key))
    closes = _closes(wiring, handler, version)
    if is_late:
        goes_on = "" if closes else ", and goes on"
        yield f"where a hook hangs, {wiring.title} gives up before there is an answer{goes_on}."
    if is_gate(wiring, event) and not closes and not line.endswith(OR_REFUSE):
        ignored = f", because {version} ignores onFailure" if "onFailure" in handler else ""
        yield f"{wiring.title} goes on where the command cannot start{ignored}."


def _is_installed(wiring: Wiring, path: str, event: str, handler: Facts) -> bool:
    """Whether the command line is one that ``install`` writes."""
    if wiring.shape == "plugin":
        return False
    made = (entries_of(wiring, path, [event], or_refuse=old)[event] for old in (False, True))
    return handler["command"] in {each.get(HOOKS, [each])[0]["command"] for each in made} and "args" not in handler


def _files(wiring: Wiring, path: str, root: str) -> Iterator[dict[str, Any]]:
    """Yield the files from which the host takes hooks, the first ones first, with how many are ours and others'."""
    base = os.path.dirname(wiring.path())
    in_home, in_project = SETTINGS.get(wiring.name, ((), ()))
    names = [
        *(ClaudeSource("managed").paths() if wiring.name == "claude-code" else ()),
        *(os.path.join(root, each) for each in reversed(in_project)),
        wiring.path(root),
        path,
        wiring.path(),
        *(os.path.normpath(os.path.join(base, each)) for each in in_home),
    ]
    for name in dict.fromkeys(names):
        if name.endswith((".json", ".toml")):
            found = [each for each in objects_in(settings_in(name).get(HOOKS)) if {"type", *COMMAND_KEYS} & each.keys()]
            ours = sum(map(runs_ours, found))
            if found:
                yield {"path": name, "ours": ours, "others": len(found) - ours}
