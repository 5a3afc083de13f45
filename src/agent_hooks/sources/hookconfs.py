"""``hookconf.py``: a file of hooks in any directory of a project, for the events below it, like pytest's conftest.py;
and of the user and the machine's owner, for all events.

Exactly the bytes run that were trusted, or read: the file is not read again, and no ``.pyc`` is used or written. Its
folder is not added to the import path.
"""

from __future__ import annotations

import sys
from threading import RLock
from types import ModuleType

from agent_hooks.engine.origins import origin_named
from agent_hooks.errors import PluginLoadError, SettingsError
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.formats.hookconf import NAMED_MODULES, text_of
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.progress import report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.engine.manager import HookManager
    from agent_hooks.trust.manifest import ConfFile, Project

_loading = RLock()


def register_confs(manager: HookManager, project: Project) -> list[ConfigFinding]:
    """Run the modules of hooks of a project, register each as a plugin and return findings about them.

    This runs code of the project, so the project must be trusted. A module that fails denies on the events of gates
    below its directory, until it is repaired or its name is blocked. Hooks of a project can only tighten.
    """
    remedy = "Repair it and trust the project again"
    findings = []
    for conf in project.confs:
        scope = ("directory", conf.directory, project.root)
        findings += register_conf(manager, conf, source="project", scope=scope, remedy=remedy)
    return findings


def register_conf(
    manager: HookManager, conf: ConfFile, *, source: str, scope: tuple[str, ...] | None = None, remedy: str
) -> list[ConfigFinding]:
    """Run one module of hooks and register it as a plugin, unless its name is blocked; return findings about it.

    ``remedy``: the repair of one that fails, as the beginning of a sentence.
    """
    if manager.is_blocked(conf.name):
        return []
    module = None
    report(f"the import of {conf.path}")
    try:
        module = load_hookconf(conf)
        manager.register(module, conf.name, source=source, scope=scope)
        manager.check_pending()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever somebody's code may raise
        if module is not None and manager.get_plugin(conf.name) is module:
            manager.unregister(name=conf.name)
        cause = (isinstance(error, PluginLoadError) and error.__cause__) or error
        line = _line_in(cause, conf.path) or _line_of_named(error, conf, module)
        whose = "the machine's" if source == "managed" else "your own"
        remedy = f"{remedy}, or go on without it: disabled = [{conf.name!r}] in {whose} agent-hooks.toml."
        return [_put_gate(manager, conf, cause, line, source, scope, remedy)]
    finally:
        report("")
    return []


def _put_gate(
    manager: HookManager,
    conf: ConfFile,
    error: BaseException,
    line: int,
    source: str,
    scope: tuple[str, ...] | None,
    remedy: str,
) -> ConfigFinding:
    from agent_hooks.engine.installed import failing_gate
    from agent_hooks.engine.plugin_info import PluginInfo

    message = f"It could not be loaded ({_describe(error)}), so what it would decide about is denied."
    finding = ConfigFinding(kind="broken", path=conf.path, line=line, message=message, remedy=remedy)
    gate = failing_gate(conf.name, str(finding), origin=_place(conf.path, line))
    manager.register(gate, conf.name, source=source, scope=scope)
    manager.keep_info(PluginInfo(name=conf.name, source=source, status="broken", error=_describe(error)))
    return finding


def load_hookconf(conf: ConfFile) -> ModuleType:
    """Run the bytes of a module of hooks and return it; the same bytes of the same file are run once in a process.

    The module has a unique name and no package, so it cannot import relatively. Raises ``PluginLoadError`` naming the
    file and the line if it fails.
    """
    identity = f"{conf.path}\0{conf.directory}\0".encode("utf-8", "surrogateescape")
    name = f"_agent_hooks_conf_{sha256_hex(identity + conf.code)[:32]}"
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = conf.path
        module.__package__ = ""
        try:
            text = text_of(conf.code, conf.path)
            exec(compile(text, conf.path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - trusted bytes
            _check_named(module, conf)
        except BaseException as error:
            del sys.modules[name]
            if not isinstance(error, (Exception, SystemExit)):
                raise
            place = _place(conf.path, _line_in(error, conf.path))
            raise PluginLoadError(f"{place}: it could not be run: {_describe(error)}") from error
        return module


def _check_named(module: ModuleType, conf: ConfFile) -> None:
    """Raise ``SettingsError`` for modules that are named only at run time: they were not found and are not trusted."""
    named = getattr(module, NAMED_MODULES, ())
    if not isinstance(named, (list, tuple)) or tuple(named) != conf.modules:
        raise SettingsError(f"{NAMED_MODULES} must be one list of names, written out at the top of the file.")


def _describe(error: BaseException) -> str:
    hint = f". What stands beside it cannot be imported; modules of hooks can be named by {NAMED_MODULES}"
    return f"{type(error).__name__}: {error}{hint if isinstance(error, ImportError) else ''}"


def _line_in(error: BaseException, path: str) -> int:
    """Return the innermost line of ``path`` at which an error was raised, 0 if it is unknown."""
    from traceback import walk_tb

    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 0
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    return lines[-1] if lines else 0


def _line_of_named(error: BaseException, conf: ConfFile, module: ModuleType | None) -> int:
    """Return the line of the first function of the module that an error names, 0 if there is none."""
    path, _, line = origin_named(str(error), conf.name, module).rpartition(":")
    return int(line) if path == conf.path else 0


def _place(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path
