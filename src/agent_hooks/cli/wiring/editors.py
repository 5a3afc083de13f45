"""What is ours in each kind of file: hooks in JSON, trusted hashes in Codex's TOML, a plugin of opencode."""

from __future__ import annotations

import json
import re
from collections import Counter

from agent_hooks.errors import BadJSONError, SettingsError
from agent_hooks.formats.claude.fields import is_ours

from .edit import HOOKS, Document, ours_in, with_entries, without_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .edit import Place
    from .hosts import Wiring

# The keys of a handler under which a host may have a command.
COMMAND_KEYS = ("command", "bash", "powershell", "windows", "linux", "osx")


def runs_ours(handler: Mapping[str, Any]) -> bool:
    """Whether a handler of any host runs ``agent-hooks run``."""
    args = {"args": handler["args"]} if "args" in handler else {}
    return any(is_ours({"command": handler.get(key), **args}) for key in COMMAND_KEYS)


# The end of the command lines that `install` writes.
_INSTALLED = re.compile(r"\bagent_hooks_core\.py['\"]? run --agent \S+ --event \S+ --timeout \d+(?: \|\| exit 2)?$")


def _is_installed(handler: Mapping[str, Any]) -> bool:
    return runs_ours(handler) and _INSTALLED.search(str(handler.get("command"))) is not None


class HooksFile:
    """The hooks of a host in a JSON file at ``path``, with our ``entries`` by event."""

    def __init__(self, wiring: Wiring, path: str, entries: Mapping[str, Any]) -> None:
        self.path = path
        self._wiring = wiring
        self._entries = entries

    def document(self, data: bytes | None) -> Document:
        """Return the content as a document; that of a new file if there is none. Raises ``SettingsError``."""
        try:
            text = "" if data is None else data.decode()
            if text.strip("\ufeff \t\r\n"):
                return Document(text, comments=self._wiring.comments)
        except UnicodeDecodeError as error:
            problem = f"is not UTF-8: {error.reason} at byte {error.start}"
        except BadJSONError as error:
            problem = str(error)
        else:
            document = Document("{\n}\n")
            for key, value in self._wiring.head.items():
                document = document.inserted((), key, value)
            return document
        raise SettingsError(f"{self.path} {problem}. It was left as it is: repair it, then try again.")

    def edited(self, clean: bytes | None) -> bytes:
        """Return the content with our entries, in the place of those that people wrote by hand."""
        try:
            document = without_ours(self.document(clean), runs_ours)
            return with_entries(document, self._entries).text.encode()
        except SettingsError as error:
            if str(error).startswith(self.path):
                raise
            raise SettingsError(f"{self.path}: {error} It was left as it is: repair it, then try again.") from error

    def cleaned(self, data: bytes, before: bytes | None, *, by_hand: bool = False) -> bytes:
        """Return the content without our entries, what only they were in, and if ``by_hand``, those of people."""
        former = self.document(before)
        hooks = former.value.get(HOOKS)
        empty = [event for event, items in hooks.items() if items == []] if isinstance(hooks, dict) else ()
        keep: set[Place] = {(HOOKS, event) for event in empty} | ({(HOOKS,)} if hooks == {} else set())
        document = self.document(data)
        found = without_ours(document, runs_ours if by_hand else _is_installed, keep)
        there = [(place[1], handler) for place, handler in ours_in(found, runs_ours)]
        for place, handler in () if by_hand else ours_in(former, runs_ours):
            if not _is_installed(handler) and (place[1], handler) not in there:
                group = former.value[HOOKS][place[1]][place[2]]
                entry = {**group, HOOKS: [handler]} if len(place) > 3 else handler
                found = with_entries(found, {str(place[1]): entry})
        return data if found is document else found.text.encode()

    def is_right(self, data: bytes) -> bool:
        """Whether each of our entries is there once, and no other one of ours."""
        document = self.document(data)
        groups = Counter(place[:3] for place, _ in ours_in(document, runs_ours))
        found = {str(event): document.value[HOOKS][event][number] for _, event, number in groups}
        return len(groups) == len(self._entries) and found == self._entries

    def is_new(self, data: bytes) -> bool:
        """Whether nothing is in it that was not in a new file, or that means nothing."""
        value = self.document(data).value
        return {key: each for key, each in value.items() if key != HOOKS or each} == self._wiring.head

    def wired(self, data: bytes | None) -> dict[str, list[dict[str, Any]]]:
        """Return our handlers that are in the file, by event."""
        found: dict[str, list[dict[str, Any]]] = {}
        for place, handler in ours_in(self.document(data), runs_ours):
            found.setdefault(str(place[1]), []).append(handler)
        return found


class PluginFile:
    """A program of ours in a file of its own; ``text``: the program, which begins with the ``MARK``."""

    MARK = "// Written by `agent-hooks install"

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._text = text

    def edited(self, clean: bytes | None) -> bytes:
        """Return the program. Raises ``SettingsError`` if there is another one."""
        if clean is not None:
            raise SettingsError(f"{self.path} is not ours. Move it away, then try again.")
        return self._text.encode()

    def cleaned(self, data: bytes, before: bytes | None, *, by_hand: bool = False) -> bytes:  # noqa: ARG002 - as in other editors
        """Return the content, which is not ours. Raises ``SettingsError`` if it is, and somebody has changed it."""
        if data.startswith(self.MARK.encode()):
            raise SettingsError(f"{self.path} was changed since it was written. Remove it, then try again.")
        return data

    def is_right(self, data: bytes) -> bool:
        """Whether it is this program."""
        return data == self._text.encode()

    def is_new(self, data: bytes) -> bool:
        """Whether it is empty."""
        return not data.strip()

    def wired(self, data: bytes | None) -> dict[str, Any]:
        """Return the events that it asks about."""
        found = re.search(rb"^const SECONDS = ({.*})$", data or b"", re.MULTILINE)
        return json.loads(found[1]) if found else {}


class TrustedHashes:
    """The trust of Codex in our hooks, in its configuration at ``path``.

    ``hashes``: those that are to be in it, by their keys. ``earlier``: those that we wrote before.
    """

    def __init__(self, path: str, hashes: Mapping[str, str], earlier: Mapping[str, str]) -> None:
        self.path = path
        self.hashes = hashes
        self._earlier = earlier

    def _table(self, data: bytes | None) -> tuple[Any, dict[str, Any]]:
        """Return the parsed file, and the states of hooks in it. Raises ``SettingsError``."""
        from tomlkit import parse
        from tomlkit.exceptions import TOMLKitError

        try:
            found = parse((data or b"").decode().replace("\r\n", "\n"))
            hooks = found.get("hooks", {})
            state = hooks.get("state", {}) if isinstance(hooks, dict) else None
            if isinstance(state, dict) and self._written(found, data) == (data or b""):
                return found, state
            problem = "has hooks.state in a form that is not known here"
        except (UnicodeDecodeError, TOMLKitError) as error:
            problem = f"is not TOML: {error}"
        raise SettingsError(f"{self.path} {problem}. It was left as it is: trust the hooks in Codex instead.")

    def _written(self, found: Any, data: bytes | None) -> bytes:
        """Return the text of a parsed file with the line ends of ``data``."""
        from tomlkit import dumps

        return dumps(found).replace("\n", "\r\n" if b"\r\n" in (data or b"") else "\n").encode()

    def edited(self, clean: bytes | None) -> bytes:
        """Return the content with the hashes."""
        from tomlkit import table

        found, _ = self._table(clean)
        hooks = found.setdefault("hooks", table(is_super_table=True))
        state = hooks.setdefault("state", table(is_super_table=True))
        for key, value in self.hashes.items():
            state.setdefault(key, table())["trusted_hash"] = value
        return self._written(found, clean)

    def cleaned(self, data: bytes, before: bytes | None, *, by_hand: bool = False) -> bytes:  # noqa: ARG002 - as above
        """Return the content without the states of hooks that we wrote and nobody has changed."""
        found, state = self._table(data)
        old, known = self._table(before)
        keys = [key for key, value in self._earlier.items() if self._is_in(state, key, value) and key not in known]
        for key in keys:
            del state[key]
        if keys and not state and "state" not in old.get("hooks", {}):
            del found["hooks"]["state"]
            if not found["hooks"]:
                del found["hooks"]
        return self._written(found, data)

    def _is_in(self, state: Mapping[str, Any], key: str, value: str) -> bool:
        return isinstance(state.get(key), dict) and state[key].get("trusted_hash") == value

    def is_right(self, data: bytes) -> bool:
        """Whether these hooks are trusted, and none that we let trust before."""
        _, state = self._table(data)
        gone = self._earlier.keys() - self.hashes.keys()
        return all(self._is_in(state, *pair) for pair in self.hashes.items()) and gone.isdisjoint(state)

    def is_new(self, data: bytes) -> bool:
        """Whether nothing is in it."""
        return not data.strip()


# -- the trust of Codex ------------------------------------------------------------------------------------------------

# Codex drops their matchers.
_WITHOUT_MATCHER = frozenset("UserPromptSubmit Stop PreModelRequest PostModelRequest Interrupt".split())
_DEFAULT_SECONDS, _SHORT_EVENTS = 600, {"SessionEnd": (1, 3), "Interrupt": (1, 3)}  # the default, and the most


def trusted_hashes(hooks_path: str, hooks: Mapping[str, Any], *, ours: bool = True) -> dict[str, str]:
    """Return the hash of each command hook in a file of Codex, by the key under which Codex keeps it.

    Codex names a hook by its position, and trusts it while its event, its matcher and its own fields have this hash,
    which is over the command line, not over the program. ``ours``: leave out the hooks of others.
    """
    found: dict[str, str] = {}
    for event, groups in hooks.items():
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
        for group_number, group in enumerate(groups):
            for number, handler in enumerate(group.get("hooks", ())):
                if handler.get("type") == "command" and (not ours or runs_ours(handler)):
                    key = f"{hooks_path}:{snake}:{group_number}:{number}"
                    found[key] = _hash(event, snake, group.get("matcher"), handler)
    return found


def _hash(event: str, snake: str, matcher: str | None, handler: Mapping[str, Any]) -> str:
    from agent_hooks.system.digests import sha256_hex

    default, most = _SHORT_EVENTS.get(event, (_DEFAULT_SECONDS, None))
    seconds = max(1, handler.get("timeout", default))
    hook = {
        "type": "command",
        "async": handler.get("async", False),
        "command": handler["command"],
        "timeout": min(seconds, most) if most else seconds,
    }
    hook |= {key: handler[key] for key in ("statusMessage", "additionalContextLimit") if key in handler}
    identity: dict[str, Any] = {"event_name": snake, "hooks": [hook]}
    if matcher is not None and event not in _WITHOUT_MATCHER:
        identity["matcher"] = matcher
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256_hex(text.encode())}"
