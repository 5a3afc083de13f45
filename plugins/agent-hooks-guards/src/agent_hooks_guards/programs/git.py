"""``git``: the files and hosts that it reaches, and the programs that its settings and aliases run.

Sources: git-config(1), "Environment Variables" and "Configuration" of git(1), gitremote-helpers(7).
"""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import as_login, in_address, is_carried

from .effects import COMES, is_remote, last_name, url_in
from .files import move
from .inner import alias, argument, items, part, quoted, shell, split, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .effects import Noting

# The last parts of the names of settings whose value a shell runs: `core.editor`, `filter.lfs.clean`.
_COMMANDS = frozenset(
    "editor pager sshcommand askpass gitproxy alternaterefscommand fsmonitor external program defaultkeycommand"
    " difffilter sendmailcmd tocmd cccmd headercmd packobjectshook tunnel recentobjectshook httpd clean smudge process"
    " command textconv driver cmd uploadpack receivepack vcs".split()
)
_WITH_ADDRESSES = frozenset(
    "clone fetch pull push remote ls-remote submodule archive fetch-pack send-pack config bundle".split()
)
_QUERIES = "--get|--get-all|--get-regexp|--unset|--unset-all|--list|-l|--remove-section|--rename-section|-e|--edit"
_HOOKS = ("pre-commit", "post-checkout", "post-merge", "pre-push")


def run_by_setting(key: str, value: Data) -> list[Inner]:
    """Return the programs that a setting makes git run, now or later; an alias only if it is a shell's."""
    lowered = key.strip().lower()
    text = value.text
    if not text or text.lower() in {"true", "false", "none", "/dev/null"}:
        return []
    section, _, rest = lowered.partition(".")
    last = rest.rpartition(".")[2]
    label = f"git {lowered}"
    if section == "alias" or (section, last) in (("submodule", "update"), ("credential", "helper")):
        is_path = last == "helper" and "/" in text.partition(" ")[0]
        return shell(Data(text.removeprefix("!"), value.labels), label) if text[:1] == "!" or is_path else []
    if lowered == "core.hookspath":
        return [Inner(language="sh", path=f"{text}/{hook}", label="git hook") for hook in _HOOKS]
    if last == "url" or (section == "url" and rest):
        return _of_address(value)
    if last in _COMMANDS or section == "pager" or (last == "path" and section in ("mergetool", "difftool", "browser")):
        return shell(value, label)
    if last == "path" and section.startswith("include"):
        return [Inner(language="gitconfig", path=text, label=label)]
    return shell(Data(UNKNOWN, value.labels), "git -c") if not lowered.strip(UNKNOWN) else []


def _of_address(address: Data) -> list[Inner]:
    """Return the program of ``ext::arguments``; ``% `` is a blank in an argument."""
    if not address.text.startswith("ext::"):
        return []
    words = address.text[5:].replace("% ", "\0").split()
    return [texts([Data(each.replace("\0", " "), address.labels) for each in words], "git ext::")] if words else []


def git(command: Command, options: Options) -> list[Inner]:
    """Return the programs that settings, aliases and addresses make git run."""
    found: list[Inner] = []
    aliases: dict[str, Data] = {}
    argv = command.argv
    called = options.subcommand[0] if options.subcommand else ""
    first = argv.index(called) if called else len(argv)
    for variable, data in command.assignments.items():
        if variable.startswith("GIT_CONFIG_KEY_"):
            found += run_by_setting(data.text, command.assignments.get(f"GIT_CONFIG_VALUE_{variable[15:]}", Data()))
        for key, _, text in (each.partition("=") for each in split(data.text) if variable == "GIT_CONFIG_PARAMETERS"):
            found += run_by_setting(key, Data(text, data.labels))
    for each in found:
        each.hands_down = False  # as for other variables
    for (name, value), at in zip(options.given, options.places, strict=True):
        if value is None or (at > first and called != "clone"):
            continue
        key, _, text = value.partition("=")
        if name == "--exec-path":
            found.append(Inner(language="sh", path=f"{value}/git-{called}", label="git --exec-path"))
        elif name in ("-c", "--config", "--config-env"):
            data = command.assignments.get(text, Data(UNKNOWN)) if name == "--config-env" else part(command, text, at)
            lowered = key.lower()
            if lowered.startswith("alias."):
                aliases[lowered[6:]] = data
            elif lowered.startswith("url.") and ".insteadof" in lowered:
                found += _of_address(part(command, key[4 : lowered.rindex(".insteadof")], at))
            else:
                found += run_by_setting(key, data)
    if called.lower() in aliases:
        return found + _alias(command, aliases[called.lower()], first)
    if called == "config":
        found += _config(command, options)
    for at, text in enumerate(argv) if called in _WITH_ADDRESSES else ():
        before, mark, address = text.partition("ext::")
        if mark and (not before or before.endswith("=")):
            found += _of_address(part(command, mark + address, at))
    return found


def _alias(command: Command, text: Data, first: int) -> list[Inner]:
    """``git -c alias.x=text x arguments``: a command line behind ``!``, else a command of git's."""
    rest = items(command, range(first + 1, len(command.argv)))
    if text.text[:1] == "!":
        labels = text.labels.union(*(data.labels for data in rest))
        given = [data.text if UNKNOWN in data.text else quoted(data.text) for data in rest]
        return shell(Data(" ".join([text.text[1:], *given]), labels), "git alias")
    own = [Data(each, text.labels) for each in split(text.text)]
    # Settings of the outer command hold for the inner one, too, and with them aliases of aliases.
    settings = items(command, range(1, first))
    if not own or own[0].text == command.argv[first]:  # git refuses an alias of itself
        return []
    return [texts([Data("git"), *settings, *own, *rest], "git alias")]


def _config(command: Command, options: Options) -> list[Inner]:
    """``git config key value``, which runs later."""
    if options.has(_QUERIES) or options.subcommand[1:2] not in ((), ("set",)) or len(options.operands) < 2:
        return []
    key = command.argv[options.operands[0]]
    value = argument(command, options.operands[1])
    return alias("git", value) if key.lower().startswith("alias.") else run_by_setting(key, value)


def git_effects(noting: Noting) -> None:
    """Note the files and hosts that git reaches."""
    options = noting.options
    if folder := options.value("-C"):
        noting.cwd = noting.path(folder)
    called = options.subcommand[0] if options.subcommand else ""
    words = noting.operands()
    _note_proxies(noting)
    labels = _labels(noting) if called in _WITH_ADDRESSES else NO_LABELS
    if is_carried(labels):
        for address in filter(None, map(url_in, noting.command.argv)):
            noting.send(address, labels=labels)
    if called == "mv":
        move(noting)
    elif called == "clone":
        _note_clone(noting)
    elif called == "config":
        _note_settings(noting)
    elif called == "push":
        noting.send(words[0] if words else "origin", labels=labels)
    elif called in ("fetch", "pull", "ls-remote"):
        noting.receive(words[0] if words else "origin")
    elif called in ("archive", "submodule"):
        for address in (*noting.values("--remote"), *words):
            if "://" in address or is_remote(address):
                noting.receive(address)


def _note_proxies(noting: Noting) -> None:
    for value in noting.values("-c|--config"):
        key, _, setting = value.partition("=")
        lowered = key.lower()
        if lowered.startswith(("http.", "https.", "remote.", "core.git")) and lowered.endswith("proxy"):
            noting.proxies.append(setting)
        elif lowered.startswith("url.") and lowered.endswith(".insteadof"):
            noting.proxies.append(key[4 : -len(".insteadof")])


def _labels(noting: Noting) -> frozenset[str]:
    """Return the labels of the arguments; credentials in remotes' URLs and in headers are logins."""
    argv = noting.command.argv
    return NO_LABELS.union(
        *(
            in_address(argv[at], found, path=True) if "://" in argv[at] else as_login(found)
            for at, found in noting.command.labels.items()
        )
    )


def _note_clone(noting: Noting) -> None:
    address, folder, *_ = (*noting.operands(), "", "")
    if "://" in address or is_remote(address):
        noting.receive(address)
    if address:
        folder = folder or last_name(address).removesuffix(".git") or UNKNOWN
        noting.file("write", folder, recursive=True, labels=COMES)


def _note_settings(noting: Noting) -> None:
    name = noting.options.value("-f|--file")
    # Without the option it changes the repository's own settings, which have rules of their own.
    if name and not name.endswith(".git/config"):
        unsets = noting.options.has("--unset*|--remove-section|--edit|-e")
        asks = noting.options.has("--get*|--list|-l") or (len(noting.operands()) < 2 and not unsets)
        noting.file("read" if asks else "write", name, append=True)
