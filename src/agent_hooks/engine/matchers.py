"""When a hook is asked: match texts, and matchers that combine with ``&``, ``|`` and ``~``.

A predicate answers True, False or ``WEAKLY``: the hook is asked, but nothing it allows counts, because the name it
matched on cannot be trusted that far (the last segment of a dotted name, or text too long to search).
"""

from __future__ import annotations

from agent_hooks.errors import RegistrationError
from agent_hooks.model.tool_names import exact_names, host_kinds
from agent_hooks.model.tools import FILE_KINDS, is_message
from agent_hooks.model.touched_paths import (
    command_paths,
    further_paths,
    project_folders,
    touched_paths,
    working_folders,
)

from .markers import WEAKLY
from .plan import is_by_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable
    from typing import Any

    from agent_hooks.model.context import HookContext

    from .markers import Match

    Predicate = Callable[[HookContext], Any]
    PathTest = Callable[[str], Any]

_SPECIAL = frozenset("\\.^$+()[]{}")
_UNKNOWN_KINDS = frozenset(("mcp", "other"))
_TREE_KINDS = _UNKNOWN_KINDS | {"delete", "search"}


def match_names(ctx: HookContext, matched_by: str) -> tuple[str, ...]:
    """Return the names that a match is tried on: those of the event's kind of thing, else the agent's."""
    if matched_by == "tool" and ctx.tool_call is not None:
        return ctx.tool_call.names
    if matched_by == "error" and ctx.error is not None:
        if isinstance(ctx.error, BaseException):
            return tuple(kind.__name__ for kind in type(ctx.error).__mro__[:-1])
        return (ctx.error.type,)
    name = {
        "subagent": ctx.name,
        "skill": ctx.skill_name,
        "model": ctx.model,
        "notification": ctx.notification_type,
        "host_event": ctx.host_event,
        "step": getattr(ctx.step, "type", ""),
    }.get(matched_by, "")
    if matched_by == "model":  # the provider, and whose model it is there, may stand before it
        return (name, name.partition(":")[2] or name, name.rpartition("/")[2]) if name else (ctx.agent_name,)
    return (name or ctx.agent_name,)


def text_test(text: str, source: str = "code", *, prefix: bool = False) -> Callable[[str], Any] | None:
    """Return the test of one name that a match text stands for; None if it accepts every name.

    ``*`` or nothing: all. Only letters, digits, ``_``, ``-``, blanks, commas and bars: exact names, split on ``|`` and
    ``,`` (with ``prefix`` also their beginnings). With ``*`` or ``?`` and nothing else special: globs for the whole
    name, split likewise. Otherwise a regular expression, searched anywhere; from a project or a skill it needs RE2,
    unless it is a simple one, and from anybody if it could run for ever.
    Raises ``RegistrationError`` for a text that names nothing and for an expression that does not compile.
    """
    if text in ("", "*"):
        return None
    names = exact_names(text)
    if names == []:
        raise RegistrationError(f"The match {text!r} names nothing, so its hook would never be asked.")
    if names is not None:
        beginnings = tuple(names)
        return (lambda name: name.startswith(beginnings)) if prefix else frozenset(names).__contains__
    if ("*" in text or "?" in text) and _SPECIAL.isdisjoint(text):
        import re
        from fnmatch import translate

        from .expressions import MAX_SUBJECT

        globs = (part.strip() for part in text.replace(",", "|").split("|"))
        return limited(re.compile("|".join(translate(glob) for glob in globs if glob)).fullmatch, MAX_SUBJECT)
    return _searched(text, f"The match {text!r}", source)


def _searched(pattern: str, name: str, source: str, flags: int = 0) -> Callable[[str], Any]:
    from .expressions import bounded_search, is_surely_quick

    return limited(*bounded_search(pattern, name, source, is_quick=is_surely_quick(pattern), flags=flags))


def limited(find: Callable[[str], Any], longest: int) -> Callable[[str], Any]:
    """Return the test whether ``find`` finds something in a text; one that is longer than ``longest`` it may meet."""
    return lambda name: find(name) is not None if len(name) <= longest else WEAKLY


def compile_match(match: Match | None, matched_by: str = "tool", source: str = "code") -> Predicate | None:
    """Return the predicate for ``match``; None if it is always true.

    ``match``: text, a compiled regular expression, which is searched as one written as text, a predicate, or an object
    with ``matches(ctx)``. ``matched_by`` is the event's (``HookEvent.matched_by``; "" for that of the event asked
    about), ``source`` the hook's. A name that only some hosts have for a kind of tool meets all of that kind weakly.
    Raises ``RegistrationError`` for a text that does not compile, an ``async`` predicate, and anything else.
    """
    kinds: frozenset[str] = frozenset()
    if match is None:
        return None
    if isinstance(match, str):
        test = text_test(match, source, prefix=matched_by == "model")
        if matched_by == "tool":
            kinds = host_kinds(exact_names(match) or ())
    elif isinstance(pattern := getattr(match, "pattern", None), str) and hasattr(match, "search"):
        test = _searched(pattern, f"The match {match!r}", source, getattr(match, "flags", 0))
    else:
        return _checked(match)
    return None if test is None else _NameMatch(test, matched_by, kinds)


def match_within(scope: tuple[str, ...] | None, match: Match | None, matched_by: str, source: str) -> Predicate | None:
    """Return the predicate for ``match`` where a hook of ``scope`` is live; as ``compile_match``."""
    found = compile_match(match, matched_by, source)
    if scope is None or scope[0] != "directory":
        return found
    directory = DirectoryMatcher(*scope[1:])
    return directory if found is None else directory & found


class _NameMatch:
    """The predicate of a match text or an expression. ``kinds``: those it meets weakly."""

    __slots__ = ("by_name", "kinds", "matched_by", "test")

    def __init__(self, test: Callable[[str], Any], matched_by: str, kinds: frozenset[str]) -> None:
        self.test = test
        self.matched_by = matched_by
        self.kinds = kinds
        self.by_name = not kinds  # else it depends on the agent's other tools as well

    def __call__(self, ctx: HookContext) -> Any:
        weakly: Any = False
        test, by = self.test, self.matched_by or ctx.event.matched_by
        for name in match_names(ctx, by):
            found = test(name)
            if found is True:
                return True
            weakly = weakly or found
        call = ctx.tool_call if by == "tool" else None
        if weakly or (call is not None and any(test(name) for name in call.weak_names)):
            return WEAKLY
        is_of_kind = self.kinds and call is not None and _is_of_kind(ctx, call.names, self.kinds, test)
        return WEAKLY if is_of_kind else False


def _is_of_kind(ctx: HookContext, names: Iterable[str], kinds: frozenset[str], test: Callable[[str], Any]) -> bool:
    """Whether a tool is of one of ``kinds``, and none of its agent's is the very tool that ``test`` is about."""
    return not kinds.isdisjoint(names) and not any(map(test, getattr(ctx.runtime, "tools", ())))


def _checked(match: Any) -> Predicate:
    """Return ``match`` as a predicate. Raises ``RegistrationError`` if it is none."""
    if type(match) in (DirectoryMatcher, ToolNameMatcher):  # ours, and asked about in processes of one event
        return match  # type: ignore[no-any-return]
    from inspect import iscoroutinefunction, signature

    found = getattr(match, "matches", match)
    if not callable(found) or isinstance(match, type):
        raise RegistrationError(
            f"{match!r} is no match: use text, a compiled regular expression, a predicate that takes the context, or "
            "an object with matches(ctx)."
        )
    if iscoroutinefunction(found) or iscoroutinefunction(getattr(found, "__call__", None)):  # noqa: B004 - its signature is meant
        raise RegistrationError(
            f"The match {match!r} is async; a match is asked before the hook and must answer at once."
        )
    try:
        signature(found).bind(None)
    except TypeError:
        raise RegistrationError(f"The match {match!r} must take one argument, the context.") from None
    except ValueError:  # a builtin without a signature
        pass
    return match if isinstance(match, Matcher) else found


class Matcher:
    """A predicate on the context that combines with ``&``, ``|`` and ``~``."""

    def matches(self, ctx: HookContext) -> Any:
        """Return whether the hook is asked: True, False or ``WEAKLY``."""
        raise NotImplementedError

    def __call__(self, ctx: HookContext) -> Any:
        """Return the same: a matcher is a predicate."""
        return self.matches(ctx)

    def __and__(self, other: Match) -> Matcher:
        return CompositeMatcher((self, other))

    def __or__(self, other: Match) -> Matcher:
        return CompositeMatcher((self, other), require_all=False)

    def __invert__(self) -> Matcher:
        return _Not(self)


class CompositeMatcher(Matcher):
    """All of ``matchers`` (or any, with ``require_all=False``). All of none matches, any of none does not."""

    def __init__(self, matchers: Iterable[Match], require_all: bool = True) -> None:
        self.matchers = tuple(matchers)
        self.require_all = require_all
        self._predicates = tuple(_operand(matcher) for matcher in self.matchers)
        # A subclass may ask for more.
        self.by_name = type(self) is CompositeMatcher and all(map(is_by_name, self._predicates))

    def matches(self, ctx: HookContext) -> Any:
        """Return whether the hook is asked."""
        answers = [matches(ctx) for matches in self._predicates]
        if self.require_all:
            return False if not all(answers) else WEAKLY if WEAKLY in answers else True
        return (
            True if any(answer and answer != WEAKLY for answer in answers) else WEAKLY if WEAKLY in answers else False
        )


def _operand(matcher: Any) -> Predicate:
    if matcher is None or isinstance(matcher, str):
        raise RegistrationError(f"{matcher!r} does not combine with matchers: write ToolNameMatcher({matcher!r}).")
    return compile_match(matcher, "") or _NameMatch(lambda _name: True, "", frozenset())


class _Not(Matcher):
    def __init__(self, inner: Predicate) -> None:
        self.inner = inner
        self.by_name = is_by_name(inner)

    def matches(self, ctx: HookContext) -> Any:
        """Return whether the hook is asked."""
        answer = self.inner(ctx)
        return WEAKLY if answer == WEAKLY else not answer


class ToolNameMatcher(Matcher):
    """Match tool calls by name, kind or alias with the rules of match texts."""

    def __init__(self, text: str | re.Pattern[str]) -> None:
        self.match_text = self.text = text
        self._test = compile_match(text, "tool")
        # A subclass may ask for more.
        self.by_name = type(self) is ToolNameMatcher and (self._test is None or is_by_name(self._test))

    def matches(self, ctx: HookContext) -> Any:
        """Return whether the hook is asked."""
        return ctx.tool_call is not None and (self._test is None or self._test(ctx))


class StepTypeMatcher(Matcher):
    """Steps of one type: ``tool_execution``, ``final_response`` or ``error``."""

    def __init__(self, step_type: str) -> None:
        self.step_type = step_type

    def matches(self, ctx: HookContext) -> bool:
        """Return whether the hook is asked."""
        step = ctx.step if ctx.step is not None else getattr(ctx.state, "current_step", None)
        return getattr(step, "type", None) == self.step_type


_ANY = object()


class MetadataMatcher(Matcher):
    """Contexts (or their states) whose metadata has ``key``: any value but None, or one equal to ``expected``."""

    def __init__(self, key: str, expected: Any = _ANY) -> None:
        self.key = key
        self.expected = expected

    def matches(self, ctx: HookContext) -> bool:
        """Return whether the hook is asked."""
        found = ctx.metadata.get(self.key)
        if found is None and ctx.state is not None:
            found = ctx.state.metadata.get(self.key)
        return found is not None if self.expected is _ANY else found == self.expected


class PathMatcher(Matcher):
    """Tool calls that touch a path meeting ``pattern``: ``*`` and ``?`` stay within a name, ``**`` crosses directories.

    A relative pattern is taken below the event's working directory, and for ``**/…`` anywhere. Paths are tried as
    written and with symbolic links resolved. A shell call's paths are not known, so it never matches. A path under a
    key that is not known to hold one matches weakly: for a deny, never for an allow.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        # The last working directory, and the test of paths there.
        self._compiled: tuple[str | None, PathTest] = (None, bool)

    def matches(self, ctx: HookContext) -> Any:
        """Return whether the hook is asked."""
        cwd, meets = self._compiled
        if cwd != ctx.cwd:
            import re
            from os.path import isabs, join

            anywhere = isabs(self.pattern) or self.pattern.startswith("**/")
            pattern = self.pattern if anywhere else join(ctx.cwd, self.pattern)
            meets = re.compile(_path_expression(pattern), re.DOTALL).fullmatch
            self._compiled = (ctx.cwd, meets)
        if any(map(meets, touched_paths(ctx))):
            return True
        is_shell = ctx.tool_call is not None and ctx.tool_call.kind == "shell"
        return WEAKLY if not is_shell and any(map(meets, further_paths(ctx))) else False


def _path_expression(pattern: str) -> str:
    import re

    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(meaning.get(part) or re.escape(part) for part in parts)


class DirectoryMatcher(Matcher):
    """Events below ``directory``: their working directory or their project is, or their tool call touches a path that
    is.

    A text in the arguments that may be a path counts as one, whatever its key is. Unless a tool is known to read, write
    or edit one file, a path stands for all below it. Where the paths of a call are not known, it counts as soon as its
    working directory or project is below ``project``, or below the event's ``project_dir`` if ``directory`` is in that,
    or its working directory is above ``directory``: for a shell, for a tool of files that shows no path, and for a tool
    of unknown kind, unless its arguments are just a message. Paths are tried as written and with symbolic links
    resolved.
    """

    def __init__(self, directory: str, project: str | None = None) -> None:
        from os.path import abspath, realpath

        self.directory = abspath(directory)
        self._directories = {self.directory, realpath(self.directory)}
        self._projects = {abspath(project), realpath(project)} if project else set()

    def matches(self, ctx: HookContext) -> bool:
        """Return whether the hook is asked."""
        here, project = working_folders(ctx), project_folders(ctx)
        if any(_below(path, self._directories) for path in (*here, *project)):
            return True
        call = ctx.tool_call
        if call is None:
            return False
        paths = (*touched_paths(ctx), *further_paths(ctx))
        if any(_below(path, self._directories) for path in (*paths, *command_paths(ctx))):
            return True
        if call.kind in _TREE_KINDS and any(_below(directory, paths) for directory in self._directories):
            return True
        if call.kind in FILE_KINDS:
            is_known = bool(paths)
        else:
            is_known = call.kind not in ("shell", *_UNKNOWN_KINDS) or bool(call.paths)
        if is_known or (call.kind in _UNKNOWN_KINDS and is_message(call.args)):
            return False
        # Which files it touches is not known: it may be any of the project, or any below where it runs.
        around = {top for top in project if any(_below(each, (top,)) for each in self._directories)}
        is_in_project = any(_below(path, self._projects | around) for path in (*here, *project))
        return not here or is_in_project or any(_below(directory, here) for directory in self._directories)


def _below(path: str, directories: Iterable[str]) -> bool:
    return any(path == top or path.startswith(top.rstrip("/") + "/") for top in directories)
