"""The settings of plugins as instances of the models that they declare with the hook ``agent_hooks_settings``."""

from __future__ import annotations

import os
import sys

from agent_hooks.errors import SettingsError

from .plugin_settings import is_same_table, plugin_tables

# Without pydantic, which only the model of a plugin brings.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeVar

    from pydantic import BaseModel

    from agent_hooks.formats.toml_model import Problem
    from agent_hooks.model.context import HookContext

    from .plugin_settings import PluginTable

    Model = TypeVar("Model", bound=BaseModel)

_HOOK = "agent_hooks_settings"
# Nobody reads more: of all the mistakes of one table, and in the message of a refusal.
_MOST_FINDINGS = 100
_MOST_TOLD = 10
# The name of the table of each model that was asked for.
_names: dict[type, str] = {}
# By model and files: the tables, and the merged instance.
_merged: dict[tuple[Any, ...], tuple[Sequence[PluginTable], Any]] = {}


def plugin_settings(model: type[Model], ctx: HookContext) -> Model:
    """Return the settings of a plugin that hold for ``ctx``. ``model``: as its hook ``agent_hooks_settings`` says.

    The machine's keys override the user's. Then each trusted project of ``ctx``, from the outermost folder on, may
    tighten: ``model.tighten(own, project)`` returns the settings that are at least as strict as both, or raises
    ``ValueError`` for a value that loosens; a model without ``tighten`` takes nothing from projects. If the environment
    names another folder of the user, and the account's own has a file as well, the other one may tighten in the same
    way, and without ``tighten`` has no say.

    Raises ``SettingsError`` for any table that is wrong, so that a hook that asks fails as its settings would have it,
    and if there is no table for a model with keys that must be given. The instance is shared, until a file changes.
    """
    name = table_of(model)
    tables = plugin_tables(name, ctx)
    key = (model, *[table.path for table in tables])
    known = _merged.get(key)
    if known is None or not all(map(is_same_table, known[0], tables)):
        known = (tables, merged(model, name, tables))
    _merged[key] = (tables, known[1])
    return known[1]


def read_table(model: type[Model], table: PluginTable) -> Model:
    """Return the settings in one table. Raises ``SettingsError`` that names each wrong key with its line and a remedy.

    Values must have the types of the model, and keys that it does not have are wrong unless it says ``extra="allow"``.
    Validators find the table, with its ``source``, ``path`` and ``root``, as ``info.context["table"]``.
    """
    import json

    from pydantic import ValidationError

    from agent_hooks.model.values import thaw

    settings = thaw(table.settings)
    # As JSON, in which an array may become a tuple, and a text a path, also in strict mode.
    text = json.dumps(settings, default=lambda date: date.isoformat())
    try:
        found = model.model_validate_json(text, strict=True, extra="forbid", context={"table": table})
    except ValidationError as error:
        from agent_hooks.formats.toml_model import problems

        if wrong := problems(error, model, settings, _place_of(table)):
            raise _error(table, wrong) from None
        found = model.model_validate_json(text, strict=True, context={"table": table})
    if table.source == "project" and not _is_finite(settings):
        from agent_hooks.formats.toml_model import Problem

        problem = "A number of a project must be finite: none is larger or smaller than nan."
        raise _error(table, [Problem(_place_of(table), problem, "Correct it.")])
    return found


def _is_finite(settings: Any) -> bool:
    from json import dumps

    try:
        return bool(dumps(settings, default=str, allow_nan=False))
    except ValueError:
        return False


def _error(table: PluginTable, problems: Sequence[Problem]) -> SettingsError:
    """Return the error that tells all problems in a table."""
    from agent_hooks.formats.findings import ConfigFinding

    start = len(_place_of(table))
    findings = []
    for each in problems[:_MOST_FINDINGS]:
        path, line = table.place(*each.place[start:])
        facts: dict[str, Any] = {"message": each.message, "remedy": each.remedy, "must_be_repaired": True}
        findings.append(ConfigFinding(kind="wrong-settings", path=path, line=line, **facts))
    told = " ".join(f"{each.message} {each.remedy}".removesuffix(" Correct it.") for each in problems[:_MOST_TOLD])
    told += f" And {len(problems) - _MOST_TOLD} more." if len(problems) > _MOST_TOLD else ""
    origin = table.origin(*problems[0].place[start:])
    return SettingsError(f"{origin}: the settings [{table.at}] are wrong. {told}", origin, findings)


def _place_of(table: PluginTable) -> tuple[str, ...]:
    return (*filter(None, table.at.removesuffix(table.name).split(".")), table.name)


def is_by_file(model: type) -> bool:
    """Whether the plugin applies the tables of its files one by one, and its validators refuse what a project's must
    not say: ``by_file: ClassVar[bool] = True`` in the model.
    """
    return bool(getattr(model, "by_file", False))


def merged(model: type[Model], name: str, tables: Sequence[PluginTable]) -> Model:
    """Return the settings in tables as ``plugin_tables`` returns them. Raises ``SettingsError``."""
    for table in tables:
        if table.problem:
            raise SettingsError(f"{table.problem} Until then the settings [{name}] are not known.", table.path)
    own = [table for table in tables if not table.root]
    found = _of_own(model, name, own)
    paths = {os.path.realpath(table.path) for table in own}
    for table in reversed(tables):
        if table.root and os.path.realpath(table.path) not in paths:  # which counts as the user's own
            found = _tightened(model, found, table)
    return found


def _of_own(model: type[Model], name: str, own: Sequence[PluginTable]) -> Model:
    """Return the settings of the user's and the machine's files."""
    users = [table for table in own if table.source == "user"]
    # The account's own file comes after that of a folder which the environment names.
    found = _together(model, name, [*users[-1:], *(table for table in own if table.source == "managed")])
    for table in users[:-1] if can_tighten(model) else ():
        found = _tightened(model, found, table)
    return found


def can_tighten(model: type) -> bool:
    """Whether settings may be tightened: by projects, and by a folder that the environment names."""
    return hasattr(model, "tighten")


def _together(model: type[Model], name: str, tables: Sequence[PluginTable]) -> Model:
    """Return the settings of files of which the keys of a later one count over those of an earlier one."""
    given = [table for table in tables if table.lines]  # of two files of the user, one has no table, perhaps
    found = [read_table(model, table) for table in given]
    if len(found) < 2:
        return found[0] if found else _default(model, name)
    # Validated as a whole from the raw tables: a validator must not get its own result.
    settings = {key: value for table in given for key, value in table.settings.items()}
    try:
        return read_table(model, given[-1].replace(settings=settings))
    except SettingsError as error:
        raise SettingsError(
            f"{error} Other files have keys that do not fit to it.", error.origin, error.findings
        ) from None


def _default(model: type[Model], name: str) -> Model:
    from pydantic import ValidationError

    try:
        return model()
    except ValidationError as error:
        from agent_hooks.formats.toml_model import problems

        missing = " ".join(each.message for each in problems(error, model, {}, (name,)))
        raise SettingsError(f"There are no settings [{name}] in your own agent-hooks.toml: {missing}") from None


def _tightened(model: type[Model], own: Model, table: PluginTable) -> Model:
    """Return the settings with those of a file that may only tighten."""
    from agent_hooks.formats.toml_model import Problem

    place = _place_of(table)
    tighten: Any = getattr(model, "tighten", None)
    if tighten is None:
        problem = f"A project has no say in the settings [{table.at}]."
        raise _error(table, [Problem(place, problem, "Remove them; your own agent-hooks.toml may have them.")])
    given = read_table(model, table)
    try:
        found = tighten(own, given)
    except ValueError as error:
        wrong = [key for key in given.model_fields_set if _loosens(model, own, given, key)]
        names = [model.model_fields[key].alias or key for key in wrong if key in model.model_fields]
        remedy = "Remove it, or put it into your own agent-hooks.toml."
        problem = f"This can only make the settings stricter: {_message_of(error)}."
        places = [(*place, name) for name in names] or [place]
        raise _error(table, [Problem(each, problem, remedy) for each in places]) from None
    if not isinstance(found, model):
        raise SettingsError(f"{model.__name__}.tighten returned {type(found).__name__}: it must return settings.")
    return found


def _loosens(model: type[BaseModel], own: Any, given: BaseModel, key: str) -> bool:
    """Whether this key alone loosens."""
    try:
        model.tighten(own, model.model_validate({key: getattr(given, key)}, by_name=True))  # type: ignore[attr-defined]
    except ValueError:
        return True
    return False


def _message_of(error: ValueError) -> str:
    """Return the message of ``tighten``; that of pydantic would quote values."""
    from pydantic import ValidationError

    return "its values do not fit" if isinstance(error, ValidationError) else str(error).rstrip(".")


# -- whose settings a model is -----------------------------------------------------------------------------------------


def model_from(made: Any) -> Any:
    """Return a declared model, which a function may return."""
    return made if isinstance(made, type) else made()


def table_of(model: type) -> str:
    """Return the name of the table of a model. Raises ``SettingsError`` for one that no plugin declares."""
    if (known := _names.get(model)) is not None:
        return known
    # Models that functions return are not imported before the package of this one was asked.
    for name, made in _declared(model.__module__):
        try:
            is_it = made is model or model_from(made) is model
        except Exception:  # noqa: BLE001, S112 - of another plugin, perhaps
            continue
        if is_it:
            _names[model] = name
            return name
    raise SettingsError(f"No plugin has the settings {model.__name__}: return them from a hook {_HOOK}.")


def _declared(module: str) -> Iterator[tuple[str, Any]]:
    parts = module.split(".")
    packages = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    for each in packages:
        if callable(declare := getattr(sys.modules.get(each), _HOOK, None)):
            yield from (declare() or {}).items()
    declared: Any = sys.modules.get("agent_hooks.engine.declared")
    for registered in tuple(declared.managers) if declared else ():
        yield from ((name, made) for name, (_, made) in registered.settings_models.items())
