"""What other tools run by an option of theirs: ``tar --to-command``, ``sort --compress-program``, ``man -P``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import UNKNOWN, Data

from .unwrapping import joined, part, shell, split, texts, values_as_shell, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def by_options(names: str) -> Handler:
    """Options whose value a shell runs, or that is the name of a program with its words."""

    def handler(command: Command, options: Options) -> list[Inner]:
        return values_as_shell(command, options, names, command.name)

    return handler


def by_words(names: str, *, single: bool = False) -> Handler:
    """The same for programs whose other options nothing is known of: ``name=text`` or ``name text`` anywhere."""
    wanted = set(names.split("|"))

    def handler(command: Command, _options: Options) -> list[Inner]:
        argv = command.argv
        found: list[Inner] = []
        for at, text in enumerate(argv[1:], 1):
            if text == "--":
                break
            name, equals, value = text.partition("=")
            if name in wanted:
                if equals and not single:
                    found += shell(part(command, value, at), command.name)
                elif at + 1 < len(argv):
                    found += shell(word(command, at + 1), command.name)
        return found

    return handler


def tar(command: Command, options: Options) -> list[Inner]:
    """``tar --checkpoint-action=exec=text``, ``-I program``, ``--to-command=text``, ``-F text``."""
    found: list[Inner] = []
    for text, at in options.values("--checkpoint-action"):
        kind, _, value = text.partition("=")
        if kind == "exec":
            found += shell(part(command, value, at), "tar --checkpoint-action")
    names = "-I|--use-compress-program|--to-command|-F|--info-script|--new-volume-script|--rsh-command|--rmt-command"
    return found + values_as_shell(command, options, names, "tar")


def archive(command: Command, options: Options) -> list[Inner]:
    """``zip -T -TT text``: the text, with the archive in the place of ``{}`` or behind it."""
    found: list[Inner] = []
    for text, at in options.values("-TT|--unzip-command"):
        path = command.argv[options.operands[0]] if options.operands else UNKNOWN
        filled = text.replace("{}", path) if "{}" in text else f"{text} {path}"
        found += shell(part(command, filled, at), "zip -TT")
    return found


def less(command: Command, _options: Options) -> list[Inner]:
    """``less +!text``."""
    found: list[Inner] = []
    for at, text in enumerate(command.argv[1:], 1):
        if text[:1] == "+" and "!" in text:
            found += shell(part(command, text.partition("!")[2], at), "less")
        elif text[:1] == "+" and "|" in text:
            found += shell(part(command, text.partition("|")[2][1:], at), "less")
    return found


def capture(_command: Command, options: Options) -> list[Inner]:
    """``tcpdump -G 1 -w file -z program``: the program with the file."""
    path = options.value("-w") or UNKNOWN
    return [
        texts([*(Data(each) for each in split(text)), Data(path)], "tcpdump -z")
        for text, _ in options.values("-z")
        if text
    ]


def mail(command: Command, _options: Options) -> list[Inner]:
    """``mail --exec='!text'``, and ``~!text`` in what it reads."""
    found: list[Inner] = []
    for at, text in enumerate(command.argv[1:], 1):
        name, equals, value = text.partition("=")
        if name == "--exec" and equals:
            found += shell(part(command, value.lstrip("!"), at), "mail")
    if command.stdin is not None:
        for line in command.stdin.text.split("\n"):
            if line.startswith(("~!", "~|")) and any(text in {"-~", "-#"} for text in command.argv):
                found += shell(Data(line[2:], command.stdin.labels), "mail")
    return found


def searcher(command: Command, options: Options) -> list[Inner]:
    """``rg --pre program``: the program with each file."""
    return values_as_shell(command, options, "--pre|--hostname-bin|--pager", command.name)


def download(command: Command, options: Options) -> list[Inner]:
    """``wget --use-askpass=program``."""
    found = values_as_shell(command, options, "--use-askpass", "wget")
    for text, at in options.values("-e|--execute"):
        key, _, value = text.partition("=")
        if key.strip().lower().replace("-", "_") == "use_askpass":
            found += shell(part(command, value.strip(), at), "wget")
    return found


def scanner(_command: Command, options: Options) -> list[Inner]:
    """``nmap --script file``: Lua."""
    return [
        Inner(language="lua", path=each, label="nmap --script")
        for text, _ in options.values("-script")
        for each in text.split(",")
        if "/" in each or each.endswith(".nse")
    ]


def typing(command: Command, _options: Options) -> list[Inner]:
    """``xdotool type text``: keys for whatever has the focus, a terminal perhaps."""
    argv = command.argv
    if command.name == "wtype":
        places = [at for at in range(1, len(argv)) if argv[at][:1] != "-"]
    elif "type" in argv:
        places = [
            at for at in range(argv.index("type") + 1, len(argv)) if argv[at][:1] != "-" and not argv[at].isdigit()
        ]
    else:
        return []
    return shell(joined(command, places), command.name)


def namespace(command: Command, _options: Options) -> list[Inner]:
    """``ip netns exec name words``."""
    argv = command.argv
    for at in range(1, len(argv) - 2):
        if argv[at] in {"netns", "vrf"} and argv[at + 1] in {"exec", "e", "ex", "exe"}:
            return words_from(command, at + 3, f"ip {argv[at]} exec")
    return []


def compiler(command: Command, _options: Options) -> list[Inner]:
    """``gcc -wrapper program,words``."""
    argv = command.argv
    return [
        texts([part(command, each, at + 1) for each in argv[at + 1].split(",")], "gcc -wrapper")
        for at in range(1, len(argv) - 1)
        if argv[at] == "-wrapper"
    ]


def ghostscript(command: Command, _options: Options) -> list[Inner]:
    """``gs -sOutputFile=%pipe%text``."""
    found: list[Inner] = []
    for at, text in enumerate(command.argv[1:], 1):
        if "%pipe%" in text:
            found += shell(part(command, text.partition("%pipe%")[2].partition(")")[0], at), "gs")
    return found


def finder(command: Command, options: Options) -> list[Inner]:
    """``fzf --preview text``, ``--bind 'key:execute(text)'``."""
    argv = command.argv
    found = by_words("--preview")(command, options)
    for at, text in enumerate(argv[1:], 1):
        bound = text[7:] if text.startswith("--bind=") else text if argv[at - 1] == "--bind" else ""
        for kind in ("execute", "execute-silent", "become", "reload", "transform", "start:reload"):
            for opener, closer in (("(", ")"), (":", "")):
                mark = f"{kind}{opener}"
                if mark in bound:
                    rest = bound.partition(mark)[2]
                    found += shell(
                        part(command, rest.rpartition(closer)[0] if closer and closer in rest else rest, at), "fzf"
                    )
    return found


def launch(command: Command, _options: Options) -> list[Inner]:
    """``launchctl submit -l label -- words``."""
    argv = command.argv
    if argv[1:2] == ["submit"] and "--" in argv:
        return words_from(command, argv.index("--") + 1, "launchctl submit")
    if argv[1:2] in (["asuser"], ["bsexec"]):
        return words_from(command, 3, f"launchctl {argv[1]}")
    return []


def backup(command: Command, options: Options) -> list[Inner]:
    """``restic --password-command text``, ``borg --rsh text``."""
    found = by_words("--password-command|--rsh|--stdin-filename-command|--remote-path")(command, options)
    if "--stdin-from-command" in command.argv and "--" in command.argv:
        found += words_from(command, command.argv.index("--") + 1, command.name)
    return found


def folder(command: Command, options: Options) -> list[Inner]:
    """``run-parts folder``: every program in it."""
    return [Inner(language="sh", path=f"{command.argv[at]}/{UNKNOWN}", label="run-parts") for at in options.operands]


def browser(command: Command, options: Options) -> list[Inner]:
    """Every browser of Chromium's kind runs what ``--renderer-cmd-prefix`` and the like say."""
    return by_words(
        "--renderer-cmd-prefix|--gpu-launcher|--utility-cmd-prefix|--ppapi-plugin-launcher|--browser-subprocess-path"
    )(command, options)


HANDLERS: dict[str, Handler] = {
    "tar": tar,
    "bsdtar": tar,
    "star": tar,
    "zip": archive,
    "sort": by_options("--compress-program"),
    "split": by_options("--filter"),
    "less": less,
    "man": by_options("-P|--pager|-H"),
    "tcpdump": capture,
    "gpg": by_options("--photo-viewer|--agent-program|--dirmngr-program"),
    "aria2c": by_words(
        "--on-download-complete|--on-download-start|--on-download-error|--on-download-stop|--on-download-pause"
        "|--on-bt-download-complete"
    ),
    "nmap": scanner,
    "cpio": by_options("--rsh-command"),
    "mail": mail,
    "mailx": mail,
    "s-nail": mail,
    "bat": by_words("--pager"),
    "batcat": by_words("--pager"),
    "rg": searcher,
    "ag": searcher,
    "ack": searcher,
    "wget": download,
    "yt-dlp": by_words("--exec|--exec-before-download|--netrc-cmd"),
    "youtube-dl": by_words("--exec"),
    "xdotool": typing,
    "ydotool": typing,
    "wtype": typing,
    "ip": namespace,
    **dict.fromkeys("gcc g++ cc c++ clang clang++".split(), compiler),
    "gs": ghostscript,
    "fzf": finder,
    "sk": finder,
    "launchctl": launch,
    "restic": backup,
    "borg": backup,
    "run-parts": folder,
    "certbot": by_words("--pre-hook|--post-hook|--deploy-hook|--renew-hook|--manual-auth-hook|--manual-cleanup-hook"),
    "pandoc": by_words("-F|--filter|--pdf-engine"),
    "openvpn": by_words("--up|--down|--route-up|--tls-verify|--auth-user-pass-verify|--client-connect|--learn-address"),
    "dhclient": by_words("-sf"),
    "dmesg": by_words("--pager"),
    "delta": by_words("--pager"),
    "helm": by_words("--post-renderer"),
    "terraform-docs": by_words("--pager"),
    **dict.fromkeys("chromium chrome google-chrome chromium-browser brave microsoft-edge".split(), browser),
}
