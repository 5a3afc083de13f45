"""Skills and agents whose hooks are live for as long as they are registered: files, and skills made in Python."""

from __future__ import annotations

import os
from functools import partial

from agent_hooks.engine.matchers import compile_match
from agent_hooks.errors import RegistrationError, TrustError
from agent_hooks.formats.entry import HookEntry
from agent_hooks.formats.skill_files import SKILL_FILE, read_skill
from agent_hooks.model.events import HookEvent
from agent_hooks.model.values import Value
from agent_hooks.system.visible import logger_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.engine.matchers import Predicate
    from agent_hooks.formats.entry import Permits
    from agent_hooks.formats.findings import ConfigFinding
    from agent_hooks.formats.read_file import ReadFile
    from agent_hooks.formats.skill_files import Kind
    from agent_hooks.model.context import HookContext


# -- skills made in Python ---------------------------------------------------------------------------------------------


class SkillHook(Value):
    """One hook of a skill that is made in Python: a gate, as all hooks of skills are.

    ``SkillHook("PreToolUse", check, matcher="Shell")``. ``handler``: a callable that takes the context; or
    ``(module, "function", [arguments])``, called with the context before its arguments, the module itself or its name;
    or ``("command", {"command": …})``, a handler type and its fields, the type by its name or itself, an object whose
    ``execute(config, ctx)`` is called. ``matcher``: a match text or predicate. A
    callable that fails blocks where the event has a gate. Raises ``UnknownEventError`` and ``RegistrationError``.
    """

    event: HookEvent
    handler: Any
    matcher: str | Predicate | None = None

    def __init__(self, event: HookEvent | str, handler: Any, matcher: str | Predicate | None = None) -> None:
        super().__init__(event=HookEvent.parse(event), handler=handler, matcher=matcher)
        self.entry()

    def entry(self) -> HookEntry:
        """Return the hook as an entry, like the hooks of files."""
        matcher = self.matcher
        common: dict[str, Any] = {
            "event": self.event,
            "form": "skill",
            "source": "skill",
            "matcher": matcher if isinstance(matcher, str) else None,
            "match": compile_match(matcher, self.event.matched_by),
        }
        match self.handler:
            case (str(type_), dict(config)):
                return HookEntry(type=type_, config=config, **common)
            case (type_, dict(config)) if callable(execute := getattr(type_, "execute", None)):
                function: Callable[[HookContext], Any] = partial(execute, config)
                name = getattr(type_, "__name__", type(type_).__name__)
            case _:
                function = _function(self.handler)
                name = getattr(function, "__name__", type(function).__name__)
        # The failure rules of SKILL.md apply to its handlers, not to functions.
        on_failure = "closed" if self.event.closed in ("deny", "stop") else None
        return HookEntry(type=_PYTHON, config={"call": function}, name=name, on_failure=on_failure, **common)


class Skill(Value):
    """A skill made in Python: its name and its hooks, and ``body``, the text for the model when a session activates it,
    with ``$ARGUMENTS`` as the placeholder of its arguments.
    """

    name: str
    description: str = ""
    hooks: tuple[SkillHook, ...] = ()
    body: str = ""

    def __init__(self, name: str, description: str = "", hooks: Iterable[SkillHook] = (), body: str = "") -> None:
        super().__init__(name=name, description=description, hooks=tuple(hooks), body=body)


_PYTHON = "python function"


class _Python:
    """The handler type of functions."""

    def execute(self, config: Mapping[str, Any], ctx: HookContext) -> Any:
        return config["call"](ctx)


def _function(handler: Any) -> Callable[[HookContext], Any]:
    if callable(handler):
        return handler  # type: ignore[no-any-return]
    try:
        module, name, given = handler
        arguments = tuple(given)
        if isinstance(module, str):
            from importlib import import_module

            module = import_module(module)
        function = getattr(module, name)
    except (TypeError, ValueError) as error:
        raise RegistrationError(
            f"{handler!r} is no handler of a skill: give a callable, (module, 'function', [arguments]), "
            "or ('command', {'command': …})."
        ) from error
    except (ImportError, AttributeError) as error:
        raise RegistrationError(f"The handler {handler!r} of a skill cannot be found: {error}.") from error
    if not callable(function):
        raise RegistrationError(f"The handler {handler!r} of a skill is no function.")

    def call(ctx: HookContext) -> Any:
        return function(ctx, *arguments)

    call.__name__ = name
    return call


# -- registering -------------------------------------------------------------------------------------------------------


def register_skill(
    manager: HookManager,
    skill: Skill | str | os.PathLike[str],
    *,
    types: Mapping[str, Any] | None = None,
    trusted: bool = False,
    strict_events: bool = False,
    session_id: str = "",
) -> str:
    """Make the hooks of a skill live and return their plugin's name, ``skill:NAME``.

    They see all events until ``manager.unregister(name=…)``. ``skill``: a ``Skill``, or the path of a ``SKILL.md`` or
    of its folder. ``types``: further handler types, by name. ``trusted``: the caller vouches for the file; otherwise it
    must be trusted, with the scripts that it runs (``agent-hooks trust``). ``session_id``: limit the hooks to this
    session; several sessions may have the skill at once, and the plugin's name ends with ``@`` and the id. Raises
    ``TrustError``, and ``RegistrationError`` if the file or one of its hooks cannot be honoured; then none is live.
    """
    if isinstance(skill, Skill):
        made = f"skill {skill.name}"
        entries = [hook.entry().replace(path=made, line=number) for number, hook in enumerate(skill.hooks, 1)]
        known = {**(types or {}), _PYTHON: _Python()}
        return _register(manager, f"skill:{skill.name}", entries, known, session_id)
    return _register_file(manager, "skill", _skill_file(skill), types, trusted, strict_events, session_id)


def skill_text(path: str | os.PathLike[str]) -> tuple[str, str, str, bool]:
    """Return the name and the description of the skill at ``path``, the text after its frontmatter, and whether the
    model may activate it.

    ``path``: a ``SKILL.md`` or its folder. Raises ``RegistrationError`` if it cannot be read.
    """
    from agent_hooks.formats.frontmatter import FrontmatterError, read_frontmatter

    file = _skill_file(path)
    data = _bytes_of("skill", file)
    try:
        values, _, body = read_frontmatter(data)
    except FrontmatterError as error:
        raise RegistrationError(f"{file}: {error}") from error
    may_model = str(values.get("disable-model-invocation", "")).lower() != "true"
    return read_skill(data, path=file).settings["name"], str(values.get("description") or ""), body, may_model


def _skill_file(path: str | os.PathLike[str]) -> str:
    path = os.path.abspath(path)
    return os.path.join(path, SKILL_FILE) if os.path.isdir(path) else path


def register_agent(
    manager: HookManager,
    definition: str | os.PathLike[str],
    *,
    types: Mapping[str, Any] | None = None,
    trusted: bool = False,
    strict_events: bool = False,
) -> str:
    """Make the hooks in an agent's definition live and return their plugin's name, ``agent:NAME``.

    ``definition``: the path of its Markdown file. The hooks see only the events of that agent. The other parameters
    are those of ``register_skill``.
    """
    return _register_file(manager, "agent", os.path.abspath(definition), types, trusted, strict_events)


def _register_file(
    manager: HookManager,
    kind: Kind,
    path: str,
    types: Mapping[str, Any] | None,
    trusted: bool,
    strict_events: bool,
    session_id: str = "",
) -> str:
    from agent_hooks.trust.project_files import project_root

    folder, name = os.path.split(path)
    path = os.path.join(os.path.realpath(folder), name)
    data = _bytes_of(kind, path)
    read = read_skill(data, path=path, project_dir=project_root(folder), strict_events=strict_events, kind=kind)
    _raise(finding for finding in read.findings if finding.blocks)
    _warn(read.findings)
    entries = read.entries if trusted or not read.part else _trusted_entries(read)
    return _register(manager, f"{kind}:{read.settings.get('name', name)}", entries, types, session_id)


def _bytes_of(kind: str, path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise RegistrationError(f"{path}: The {kind} cannot be read: {error.strerror}.") from error


def _trusted_entries(read: ReadFile) -> tuple[HookEntry, ...]:
    """Return the entries of a file as they were trusted, with the digests of their scripts. Raises ``TrustError``."""
    from agent_hooks.trust.trust_store import trusted_skill

    found = trusted_skill(read.path)
    if found.part != read.part:
        raise TrustError(f"{read.path} was changed while it was read. Register it again.")
    return found.entries


def _register(
    manager: HookManager,
    plugin_name: str,
    entries: Iterable[HookEntry],
    types: Mapping[str, Any] | None,
    session_id: str = "",
) -> str:
    from agent_hooks.engine.plugin_info import MadePlugin
    from agent_hooks.handlers.registering import register_entries

    permits = _permits(manager)
    entries = [entry.replace(permits=permits) for entry in entries]
    if session_id:
        plugin_name = f"{plugin_name}@{session_id}"
        entries = [entry.replace(scope=("session", session_id)) for entry in entries]
    if manager.has_plugin(plugin_name):
        raise RegistrationError(f"{plugin_name} is registered already: unregister it first.")
    findings = register_entries(manager, plugin_name, entries, types)
    if not manager.has_plugin(plugin_name):  # no hooks, but something to unregister
        manager.register(MadePlugin(plugin_name), plugin_name, source="skill")
    if findings:
        manager.unregister(name=plugin_name)
        _raise(findings)
    return plugin_name


def _permits(manager: HookManager) -> Permits:
    """Return the user's permits for hooks of skills, from the manager's files or the user's own."""
    from .plugin_settings import own_files
    from .precedence import permits_for

    permits: Permits | None = manager.permits
    return permits_for("skill", list(own_files())) if permits is None else permits


def _raise(findings: Iterable[ConfigFinding]) -> None:
    problems = [str(finding) for finding in findings]
    if problems:
        raise RegistrationError("\n".join(problems))


def _warn(findings: Iterable[ConfigFinding]) -> None:
    for finding in findings:
        logger_of().warning("%s", finding)
