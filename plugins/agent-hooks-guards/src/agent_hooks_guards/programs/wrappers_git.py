"""What git runs: aliases, editors, pagers, hooks, helpers, filters and whatever else its settings and options name.

Sources: git-config(1), "Environment Variables" and "Configuration" of git(1), gitattributes(5), gitremote-helpers(7).
"""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import UNKNOWN, Data

from .unwrapping import operands_from, part, shell, split, texts, values_as_shell, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler

# Settings whose value a shell runs.
_RUN = frozenset(
    "core.editor core.pager core.sshcommand core.askpass core.gitproxy core.alternaterefscommand core.fsmonitor"
    " sequence.editor diff.external gpg.program gpg.openpgp.program gpg.x509.program gpg.ssh.program"
    " gpg.ssh.defaultkeycommand interactive.difffilter sendemail.sendmailcmd sendemail.tocmd sendemail.cccmd"
    " sendemail.headercmd uploadpack.packobjectshook imap.tunnel gc.recentobjectshook instaweb.httpd".split()
)
# The same, where a name stands in the middle: `filter.lfs.clean`.
_RUN_MIDDLE = frozenset(
    "filter.clean filter.smudge filter.process diff.command diff.textconv merge.driver mergetool.cmd"
    " difftool.cmd mergetool.path difftool.path browser.cmd browser.path man.cmd man.path guitool.cmd"
    " tar.command trailer.command trailer.cmd remote.uploadpack remote.receivepack remote.vcs submodule.update"
    " hook.command credential.helper lfs.clean lfs.process gpg.program".split()
)
_WITH_ADDRESSES = frozenset(
    "clone fetch pull push remote ls-remote submodule archive fetch-pack send-pack config bundle".split()
)
_HOOKS = ("pre-commit", "post-checkout", "post-merge", "pre-push")


def run_by_setting(key: str, value: Data) -> list[Inner]:
    """What git runs because of a setting: now, or later if it is only written down. Not what an alias stands for."""
    lowered = key.strip().lower()
    text = value.text
    if not text or text.lower() in {"true", "false", "none"}:
        return []
    section, _, rest = lowered.partition(".")
    last = rest.rpartition(".")[2]
    middle = rest.rpartition(".")[0]
    if section == "alias":
        return shell(Data(text[1:], value.labels), "git alias") if text[:1] == "!" else []
    if lowered == "core.hookspath":
        return [Inner(language="sh", path=f"{text}/{hook}", label="git hook") for hook in _HOOKS]
    if section == "credential" and last == "helper":
        if text[:1] == "!":
            return shell(Data(text[1:], value.labels), "git credential.helper")
        return shell(value, "git credential.helper") if "/" in text.partition(" ")[0] else []
    if section == "submodule" and last == "update":
        return shell(Data(text[1:], value.labels), f"git {lowered}") if text[:1] == "!" else []
    if section == "url" or (lowered.startswith("remote.") and last == "url"):
        return _of_address(value)
    if section == "pager" and not middle and last:
        return shell(value, f"git {lowered}")
    if lowered in _RUN or (middle and f"{section}.{last}" in _RUN_MIDDLE):
        return shell(value, f"git {lowered}")
    if lowered == "include.path" or (section == "includeif" and last == "path"):
        return [Inner(language="gitconfig", path=text, label="git include.path")] if text != "/dev/null" else []
    if UNKNOWN in lowered and not lowered.strip(UNKNOWN):
        return [Inner(language="sh", code=Data(UNKNOWN, value.labels), label="git -c")]
    return []


def _of_address(address: Data) -> list[Inner]:
    """``ext::words`` runs a program, ``url.ext::words.insteadOf`` later; blanks behind ``%`` are no ends."""
    if not address.text.startswith("ext::"):
        return []
    text = (
        address.text[5:]
        .replace("%%", "%\0")
        .replace("% ", "\0")
        .replace("%S", "git-upload-pack")
        .replace("%s", "upload-pack")
    )
    words = [each.replace("%\0", "%").replace("\0", " ") for each in text.split()]
    return [texts([Data(each, address.labels) for each in words], "git ext::")] if words else []


def git(command: Command, options: Options) -> list[Inner]:
    """What a git command runs besides itself."""
    found: list[Inner] = []
    argv = command.argv
    aliases: dict[str, Data] = {}
    first = _subcommand_at(command, options)
    for (name, value), at in zip(options.given, options.places, strict=True):
        if at > first or value is None:
            continue
        if name == "-c":
            key, _, text = value.partition("=")
            data = part(command, text, at)
            if key.lower().startswith("alias."):
                aliases[key[6:].lower()] = data
            elif key.lower().startswith("url.") and ".insteadof" in key.lower():
                found += _of_address(part(command, key[4 : key.lower().rindex(".insteadof")], at))
            else:
                found += run_by_setting(key, data)
        elif name == "--config-env":
            key, _, variable = value.partition("=")
            data = command.assignments.get(variable, Data(UNKNOWN))
            if key.lower().startswith("alias."):
                aliases[key[6:].lower()] = data
            else:
                found += run_by_setting(key, data)
        elif name == "--exec-path":
            found.append(
                Inner(
                    language="sh",
                    path=f"{value}/git-{options.subcommand[0] if options.subcommand else ''}",
                    label="git --exec-path",
                )
            )
    if not options.subcommand:
        return found
    called = options.subcommand[0]
    alias = aliases.get(called.lower())
    if alias is not None:
        return found + _alias(command, alias, first)
    handler = _SUBCOMMANDS.get(called)
    if handler is not None:
        found += handler(command, options)
    if called in _WITH_ADDRESSES:
        for at, text in enumerate(argv):
            address = text[text.find("ext::") :] if "ext::" in text else ""
            if address and (address == text or text[: -len(address)].endswith("=")):
                found += _of_address(part(command, address, at))
    if options.has("-O|--open-files-in-pager") and called == "grep":
        found += values_as_shell(command, options, "-O|--open-files-in-pager", "git grep -O")
    return found


def _subcommand_at(command: Command, options: Options) -> int:
    """The position of the first word of the subcommand."""
    if not options.subcommand:
        return len(command.argv)
    passed = set(options.places)
    for at in range(1, len(command.argv)):
        if command.argv[at] == options.subcommand[0] and at not in passed:
            return at
    return len(command.argv)


def _alias(command: Command, alias: Data, first: int) -> list[Inner]:
    """``git -c alias.x=text x words``: a shell's text behind ``!``, else a command of git's."""
    rest = [word(command, at) for at in range(first + 1, len(command.argv))]
    if alias.text[:1] == "!":
        labels = alias.labels.union(*(data.labels for data in rest))
        text = " ".join([alias.text[1:], *(_as_word(data.text) for data in rest)])
        return shell(Data(text, labels), "git alias")
    own = [Data(text, alias.labels) for text in split(alias.text)]
    # Settings given to the outer command hold for the inner one, too, and with them aliases of aliases.
    settings = [word(command, at) for at in range(1, first)]
    if not own or own[0].text == command.argv[first]:  # git refuses an alias of itself
        return []
    return [texts([Data("git"), *settings, *own, *rest], "git alias")]


def _as_word(text: str) -> str:
    return text if UNKNOWN in text else "'" + text.replace("'", "'\\''") + "'"


def _options_run(names: str) -> Handler:
    def handler(command: Command, options: Options) -> list[Inner]:
        label = f"git {options.subcommand[0]}"
        return values_as_shell(command, options, names, label)

    return handler


def _bisect(command: Command, options: Options) -> list[Inner]:
    return operands_from(command, options, 0, "git bisect run") if options.subcommand[1:] == ("run",) else []


def _rebase(command: Command, options: Options) -> list[Inner]:
    return values_as_shell(command, options, "-x|--exec", "git rebase --exec")


def _submodule(command: Command, options: Options) -> list[Inner]:
    """``git submodule foreach text``: a shell runs one word, or words as they stand."""
    if options.subcommand[1:] != ("foreach",) or not options.operands:
        return []
    operands = options.operands
    if len(operands) == 1:
        return shell(word(command, operands[0]), "git submodule foreach")
    start = operands[0]
    return [Inner(words=list(range(start, len(command.argv))), label="git submodule foreach")]


def _foreach_repository(command: Command, options: Options) -> list[Inner]:
    words = [Data("git"), *(word(command, at) for at in options.operands)]
    return [texts(words, "git for-each-repo")] if len(words) > 1 else []


def _config(command: Command, options: Options) -> list[Inner]:
    """``git config key text``: what will run later."""
    if options.has(
        "--get|--get-all|--get-regexp|--unset|--unset-all|--list|-l|--remove-section|--rename-section|-e|--edit"
    ):
        return []
    if options.subcommand[1:2] not in ((), ("set",)) or len(options.operands) < 2:
        return []
    key, at = command.argv[options.operands[0]], options.operands[1]
    value = word(command, at)
    if key.lower().startswith("alias."):
        if value.text[:1] == "!":
            return shell(Data(value.text[1:], value.labels), "git alias")
        own = split(value.text)
        return [texts([Data("git"), *(Data(text, value.labels) for text in own)], "git alias")] if own else []
    return run_by_setting(key, value)


def _clone(command: Command, options: Options) -> list[Inner]:
    found = values_as_shell(command, options, "-u|--upload-pack", "git clone")
    for text, at in options.values("-c|--config"):
        key, _, value = text.partition("=")
        found += run_by_setting(key, part(command, value, at))
    for text, _ in options.values("--template"):
        found.append(Inner(language="sh", path=f"{text}/hooks/post-checkout", label="git clone --template"))
    return found


def _hook(command: Command, options: Options) -> list[Inner]:
    """``git hook run name`` runs a file of the repository."""
    if options.subcommand[1:] != ("run",) or not options.operands:
        return []
    name = command.argv[options.operands[0]]
    return [Inner(language="sh", path=f".git/hooks/{name}", label="git hook")]


def _filter_branch(command: Command, options: Options) -> list[Inner]:
    names = "--setup|--env-filter|--tree-filter|--index-filter|--parent-filter|--msg-filter|--commit-filter"
    names += "|--tag-name-filter"
    return values_as_shell(command, options, names, "git filter-branch")


def _filter_repo(command: Command, options: Options) -> list[Inner]:
    return [
        Inner(language="python", code=part(command, text, at), label="git filter-repo")
        for (name, text), at in zip(options.given, options.places, strict=True)
        if text is not None and name.endswith("-callback")
    ]


def _difftool(command: Command, options: Options) -> list[Inner]:
    return values_as_shell(command, options, "-x|--extcmd", "git difftool")


def _shell(command: Command, options: Options) -> list[Inner]:
    return values_as_shell(command, options, "-c", "git shell")


def _web(command: Command, options: Options) -> list[Inner]:
    found: list[Inner] = []
    for text, at in options.values("-b|--browser|-d|--httpd"):
        if "/" in text or " " in text:
            found += shell(part(command, text, at), "git web--browse")
    return found


_SUBCOMMANDS: dict[str, Handler] = {
    "bisect": _bisect,
    "rebase": _rebase,
    "submodule": _submodule,
    "for-each-repo": _foreach_repository,
    "config": _config,
    "clone": _clone,
    "hook": _hook,
    "filter-branch": _filter_branch,
    "filter-repo": _filter_repo,
    "difftool": _difftool,
    "shell": _shell,
    "web--browse": _web,
    "instaweb": _web,
    "push": _options_run("--receive-pack|--exec"),
    "send-pack": _options_run("--receive-pack|--exec"),
    "fetch": _options_run("--upload-pack"),
    "pull": _options_run("--upload-pack"),
    "fetch-pack": _options_run("--upload-pack|--exec"),
    "ls-remote": _options_run("--upload-pack|--exec"),
    "archive": _options_run("--exec"),
    "send-email": _options_run("--sendmail-cmd|--to-cmd|--cc-cmd|--header-cmd|--smtp-server"),
    "daemon": _options_run("--access-hook"),
    "svn": _options_run("--authors-prog"),
}


def mercurial(command: Command, options: Options) -> list[Inner]:
    """``hg --config alias.x='!text'``, hooks and tools of its settings."""
    found: list[Inner] = []
    for text, at in options.values("--config"):
        key, _, value = text.partition("=")
        section = key.partition(".")[0]
        if section == "alias" and value[:1] == "!":
            found += shell(part(command, value[1:], at), "hg alias")
        elif section in {"hooks", "extdiff"} and value:
            if value.startswith("python:"):
                found.append(Inner(language="python", path=value[7:].partition(":")[0], label="hg hook"))
            else:
                found += shell(part(command, value, at), f"hg {key}")
        elif key in {"ui.ssh", "ui.editor", "ui.merge", "pager.pager", "ui.paginate"}:
            found += shell(part(command, value, at), f"hg {key}")
        elif section == "extensions" and "/" in value:
            found.append(Inner(language="python", path=value, label="hg extension"))
    return (
        found + values_as_shell(command, options, "--ssh|--remotecmd|-p|--program", "hg")
        if found or options.has("--ssh|--remotecmd")
        else found
    )


def subversion(command: Command, options: Options) -> list[Inner]:
    """``svn --editor-cmd text``, ``--diff-cmd``."""
    found = values_as_shell(command, options, "--editor-cmd|--diff-cmd|--diff3-cmd", "svn")
    for text, at in options.values("--config-option"):
        key, _, value = text.partition("=")
        if key.endswith(("editor-cmd", "diff-cmd", "diff3-cmd", "merge-tool-cmd", "ssh")):
            found += shell(part(command, value, at), "svn")
    return found


HANDLERS: dict[str, Handler] = {"git": git, "hg": mercurial, "svn": subversion}
