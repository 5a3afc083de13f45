"""Known programs: those with a grammar or effects here, and those that cannot do harm."""

from __future__ import annotations

from agent_hooks_guards.model.declarations import declarations

# Programs that only print, compute or wait, and builtins of the shell.
_HARMLESS = frozenset(
    (
        ". : [ [[ alias arch basename bc bg break builtin cal caller cd clear command compgen complete "
        "continue date dc declare df dig dirname dirs disown dmesg du echo enable exit export expr false fg "
        "file free getconf getopts groups hash help history hostname id info jobs let local locale locate "
        "logname ls lsb_release lsblk lscpu lsof man mapfile mkdir nproc pathchk pgrep popd printf ps pushd "
        "pwd read readarray readlink readonly realpath return seq set shift shopt sleep source stat suspend "
        "sw_vers test time times top tput tree true tty type typeset ulimit umask unalias uname unset uptime "
        "uuidgen vmstat w wait whatis whereis which who whoami yes "
    ).split()
)


def is_known(program: str) -> bool:
    """Whether ``program``, by its base name, is known."""
    table = declarations()
    return program in _HARMLESS or program in table.entries or program in table.aliases
