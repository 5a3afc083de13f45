"""What a command runs besides itself: the program behind ``sudo``, the code behind ``bash -c``, the editor of ``git``.

Programs that put a command line behind their own options, and change nothing else about it, stand in ``PREFIXES``. All
others have a function in the module of their topic, which is imported when one of its programs is met.
"""

from __future__ import annotations

from importlib import import_module

from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import Data

from .inner import declared
from .unwrapping import texts, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Inner

    from .unwrapping import Handler


def _by_program(texts: dict[str, str]) -> dict[str, str]:
    return {program: key for key, programs in texts.items() for program in programs.split()}


# Which module knows what a program runs.
TOPICS: dict[str, str] = _by_program({
    "shells": "bash zsh sh dash ksh mksh ash yash rbash hush csh tcsh posh oksh loksh osh ysh elvish xonsh rc es "
"ion sash pwsh powershell cmd wsl bind crontab expect",
    "processes": "env nsenter gdb lldb",
    "terminals": "tmux byobu screen nc ncat netcat nc.openbsd nc.traditional socat open",
    "repeated": "find fd xargs parallel sem",
    "remote": "ssh slogin autossh dbclient mosh scp sftp ftp lftp rsync rclone gcloud aws az gh ansible",
    "containers": "docker podman nerdctl docker-compose podman-compose kubectl oc kubecolor k microk8s.kubectl",
    "git": "git hg svn",
    "packages": "npm rtx apt apt-get",
    "builders": "cargo make cmake gradle gradlew mvn mvnw",
    "code": "python pypy ipython node tsx ts-node perl ruby jruby php hhvm coverage",
    "texts": "awk sed vim vi nvim ex view rvim rview gvim vimdiff ed red emacs emacsclient psql mysql "
"mariadb sqlite3 duckdb sqlcmd osql gnuplot octave m4 latex pdflatex xelatex lualatex tex pdftex dc "
"telnet psftp smbclient tasksh ginsh crash tdbtool cpan",
    "tools": "tar bsdtar star zip less nmap mail mailx s-nail wget gcc g++ cc c++ clang clang++ gs",
})  # fmt: skip


_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash"))
_handlers: dict[str, Handler] = {}


def _shell_behind(command: Command) -> list[Inner]:
    """A shell with a text, ``sh -c text``, among the words of a program that nothing is known of."""
    argv = command.argv
    for at in range(1, len(argv) - 2):
        option = argv[at + 1]
        if argv[at].rpartition("/")[2] in _SHELLS and option[:1] == "-" and option[-1:] == "c" and option[:2] != "--":
            from .known import is_known

            return [] if is_known(command.name) else words_from(command, at, command.name)
    return []


def inner(command: Command) -> list[Inner]:
    """What ``command`` runs besides itself, in order; nothing for most programs. Never raises."""
    name = command.name
    entries = [entry for _, entry in declarations().levels(name, command.options.subcommand)]
    entry = next((each for each in reversed(entries) if "runs" in each or "also" in each), None)
    topic = TOPICS.get(name)
    if topic is None:
        name = declarations().aliases.get(name, name)
        topic = TOPICS.get(name)
    if entry is not None:
        found = [] if command.options.is_help else declared(command, entry)
    elif topic is not None:
        handler = _handlers.get(name)
        if handler is None:
            handler = _handlers[name] = import_module(f".wrappers_{topic}", __package__).HANDLERS[name]
        options = command.options
        found = [] if options.is_help else handler(command, options)
    elif name[:4] == "git-" and len(name) > len("git-"):
        words = [word(command, at) for at in range(1, len(command.argv))]
        found = [texts([Data("git"), Data(name[4:]), *words], "git")]
    else:
        found = _shell_behind(command)
    if command.assignments:
        from .wrappers_variables import from_variables

        found += from_variables(command, name)
    return found
