"""``git``: the files and hosts that it reaches, and the programs that its settings, aliases and options run.

Sources: git-config(1), "Environment Variables" and "Configuration" of git(1), gitattributes(5), gitremote-helpers(7).
"""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import as_login, in_address, is_carried

from .files import move
from .noting import COMES, is_remote, last_name, url_in
from .unwrapping import operands_from, part, quoted, shell, split, texts, values_as_shell, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .noting import Noting

# Settings whose value a shell runs; where a name stands in the middle, as in `filter.lfs.clean`, without it.
_COMMANDS = frozenset(
    "core.editor core.pager core.sshcommand core.askpass core.gitproxy core.alternaterefscommand core.fsmonitor"
    " sequence.editor diff.external gpg.program gpg.openpgp.program gpg.x509.program gpg.ssh.program"
    " gpg.ssh.defaultkeycommand interactive.difffilter sendemail.sendmailcmd sendemail.tocmd sendemail.cccmd"
    " sendemail.headercmd uploadpack.packobjectshook imap.tunnel gc.recentobjectshook instaweb.httpd".split()
)
_COMMANDS_OF_NAMES = frozenset(
    "filter.clean filter.smudge filter.process diff.command diff.textconv merge.driver mergetool.cmd"
    " difftool.cmd mergetool.path difftool.path browser.cmd browser.path man.cmd man.path guitool.cmd"
    " tar.command trailer.command trailer.cmd remote.uploadpack remote.receivepack remote.vcs"
    " hook.command lfs.clean lfs.process gpg.program".split()
)
# Settings that run their value only behind an exclamation mark.
_MARKED = frozenset(("submodule.update", "credential.helper"))
# Options of subcommands whose value a shell runs.
_OPTIONS = {
    "archive": "--exec",
    "clone": "-u|--upload-pack",
    "daemon": "--access-hook",
    "difftool": "-x|--extcmd",
    "fetch": "--upload-pack",
    "fetch-pack": "--upload-pack|--exec",
    "filter-branch": "--setup|--env-filter|--tree-filter|--index-filter|--parent-filter|--msg-filter|--commit-filter"
    "|--tag-name-filter",
    "grep": "-O|--open-files-in-pager",
    "ls-remote": "--upload-pack|--exec",
    "pull": "--upload-pack",
    "push": "--receive-pack|--exec",
    "rebase": "-x|--exec",
    "send-email": "--sendmail-cmd|--to-cmd|--cc-cmd|--header-cmd",
    "send-pack": "--receive-pack|--exec",
    "shell": "-c",
    "svn": "--authors-prog",
}
_WITH_ADDRESSES = frozenset(
    "clone fetch pull push remote ls-remote submodule archive fetch-pack send-pack config bundle".split()
)
_QUERIES = "--get|--get-all|--get-regexp|--unset|--unset-all|--list|-l|--remove-section|--rename-section|-e|--edit"
_HOOKS = ("pre-commit", "post-checkout", "post-merge", "pre-push")


def run_by_setting(key: str, value: Data) -> list[Inner]:
    """Return the programs that a setting makes git run, now or later; an alias only if it is a shell's."""
    lowered = key.strip().lower()
    text = value.text
    if not text or text.lower() in {"true", "false", "none"}:
        return []
    section, _, rest = lowered.partition(".")
    middle, _, last = rest.rpartition(".")
    marked = Data(text[1:], value.labels) if text[:1] == "!" else None
    label = f"git {lowered}"
    if section == "alias" or f"{section}.{last}" in _MARKED:
        if marked is None and last == "helper" and "/" in text.partition(" ")[0]:
            return shell(value, label)
        return shell(marked, label) if marked is not None else []
    if lowered == "core.hookspath":
        return [Inner(language="sh", path=f"{text}/{hook}", label="git hook") for hook in _HOOKS]
    if section == "url" or (section == "remote" and last == "url"):
        return _of_address(value)
    if lowered in _COMMANDS or (middle and f"{section}.{last}" in _COMMANDS_OF_NAMES) or (section == "pager" and last):
        return shell(value, label)
    if (lowered == "include.path" or (section == "includeif" and last == "path")) and text != "/dev/null":
        return [Inner(language="gitconfig", path=text, label=label)]
    if UNKNOWN in lowered and not lowered.strip(UNKNOWN):
        return [Inner(language="sh", code=Data(UNKNOWN, value.labels), label="git -c")]
    return []


def _of_address(address: Data) -> list[Inner]:
    """Return the program of ``ext::arguments``; ``% `` is a blank in an argument."""
    if not address.text.startswith("ext::"):
        return []
    words = address.text[5:].replace("% ", "\0").split()
    return [texts([Data(each.replace("\0", " "), address.labels) for each in words], "git ext::")] if words else []


def _inner(command: Command, options: Options) -> list[Inner]:
    found: list[Inner] = []
    aliases: dict[str, Data] = {}
    first = _subcommand_at(command, options)
    for (name, value), at in zip(options.given, options.places, strict=True):
        if at > first or value is None:
            continue
        key, _, text = value.partition("=")
        if name == "--exec-path":
            called = options.subcommand[0] if options.subcommand else ""
            found.append(Inner(language="sh", path=f"{value}/git-{called}", label="git --exec-path"))
        elif name in ("-c", "--config-env"):
            data = part(command, text, at) if name == "-c" else command.assignments.get(text, Data(UNKNOWN))
            lowered = key.lower()
            if lowered.startswith("alias."):
                aliases[lowered[6:]] = data
            elif lowered.startswith("url.") and ".insteadof" in lowered:
                found += _of_address(part(command, key[4 : lowered.rindex(".insteadof")], at))
            else:
                found += run_by_setting(key, data)
    if not options.subcommand:
        return found
    called = options.subcommand[0]
    alias = aliases.get(called.lower())
    if alias is not None:
        return found + _alias(command, alias, first)
    if called in _OPTIONS:
        found += values_as_shell(command, options, _OPTIONS[called], f"git {called}")
    if called in _SUBCOMMANDS:
        found += _SUBCOMMANDS[called](command, options)
    for at, text in enumerate(command.argv) if called in _WITH_ADDRESSES else ():
        before, mark, address = text.partition("ext::")
        if mark and (not before or before.endswith("=")):
            found += _of_address(part(command, mark + address, at))
    return found


def _subcommand_at(command: Command, options: Options) -> int:
    """Return the position of the first token of the subcommand."""
    if options.subcommand:
        passed = set(options.places)
        for at in range(1, len(command.argv)):
            if command.argv[at] == options.subcommand[0] and at not in passed:
                return at
    return len(command.argv)


def _alias(command: Command, alias: Data, first: int) -> list[Inner]:
    """``git -c alias.x=text x arguments``: a command line behind ``!``, else a command of git's."""
    rest = [word(command, at) for at in range(first + 1, len(command.argv))]
    if alias.text[:1] == "!":
        labels = alias.labels.union(*(data.labels for data in rest))
        given = [data.text if UNKNOWN in data.text else quoted(data.text) for data in rest]
        return shell(Data(" ".join([alias.text[1:], *given]), labels), "git alias")
    own = [Data(text, alias.labels) for text in split(alias.text)]
    # Settings of the outer command hold for the inner one, too, and with them aliases of aliases.
    settings = [word(command, at) for at in range(1, first)]
    if not own or own[0].text == command.argv[first]:  # git refuses an alias of itself
        return []
    return [texts([Data("git"), *settings, *own, *rest], "git alias")]


def _bisect(command: Command, options: Options) -> list[Inner]:
    return operands_from(command, options, 0, "git bisect run") if options.subcommand[1:] == ("run",) else []


def _submodule(command: Command, options: Options) -> list[Inner]:
    """``git submodule foreach line``: a single operand is a command line."""
    if options.subcommand[1:] != ("foreach",) or not options.operands:
        return []
    first = options.operands[0]
    if len(options.operands) == 1:
        return shell(word(command, first), "git submodule foreach")
    return [Inner(words=list(range(first, len(command.argv))), label="git submodule foreach")]


def _config(command: Command, options: Options) -> list[Inner]:
    """``git config key value``, which runs later."""
    if options.has(_QUERIES) or options.subcommand[1:2] not in ((), ("set",)) or len(options.operands) < 2:
        return []
    key = command.argv[options.operands[0]]
    value = word(command, options.operands[1])
    if key.lower().startswith("alias.") and value.text[:1] != "!":
        own = split(value.text)
        return [texts([Data(text, value.labels) for text in ("git", *own)], "git alias")] if own else []
    return run_by_setting(key, value)


def _clone(command: Command, options: Options) -> list[Inner]:
    found = [
        Inner(language="sh", path=f"{text}/hooks/post-checkout", label="git clone --template")
        for text, _ in options.values("--template")
    ]
    for text, at in options.values("-c|--config"):
        key, _, value = text.partition("=")
        found += run_by_setting(key, part(command, value, at))
    return found


def _filter_repo(command: Command, options: Options) -> list[Inner]:
    return [
        Inner(language="python", code=part(command, text, at), label="git filter-repo")
        for (name, text), at in zip(options.given, options.places, strict=True)
        if text is not None and name.endswith("-callback")
    ]


_SUBCOMMANDS = {
    "bisect": _bisect,
    "submodule": _submodule,
    "config": _config,
    "clone": _clone,
    "filter-repo": _filter_repo,
}


def _effects(noting: Noting) -> None:
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
    if called in _FILES:
        _FILES[called](noting)
    elif called in ("fetch", "pull", "ls-remote"):
        noting.receive(words[0] if words else "origin")
    elif called in ("archive", "submodule"):
        for address in (*noting.values("--remote"), *words):
            if "://" in address or is_remote(address):
                noting.receive(address)
    elif called == "push":
        noting.send(words[0] if words else "origin", labels=labels)


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


def _note_removal(noting: Noting) -> None:
    if not noting.options.has("--cached|-n|--dry-run"):
        for path in noting.operands():
            noting.file("delete", path, recursive=noting.options.has("-r"))


def _note_patches(noting: Noting) -> None:
    for path in noting.operands():
        noting.file("read", path)


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


_FILES = {
    "rm": _note_removal,
    "mv": move,
    "apply": _note_patches,
    "am": _note_patches,
    "clone": _note_clone,
    "config": _note_settings,
}
EFFECTS = {"git": _effects}
INNER = {"git": _inner}
