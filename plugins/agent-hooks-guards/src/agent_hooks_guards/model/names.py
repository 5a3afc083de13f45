"""The names of programs: one name for one tool, and the names that are known."""

from __future__ import annotations

from functools import lru_cache

from .declarations import declarations
from .values import UNKNOWN

_LONGEST_NAME = 40

# Programs with versions in their names: python3.12, gcc-12.
_VERSIONED = frozenset(
    "2to3 R awk bash bundle bundler clang clang++ cmake cpp dash easy_install emacs erl g++ gawk gcc gdb gem ghc go"
    " gpg guile ipython irb java julia ksh llc lldb lua luajit make mawk mysql node nodejs openssl opt pdb perl pg_dump"
    " php pip psql pydoc pypy python qemu-system rake ruby sqlite tar tclsh vim wish zsh".split()
)

# Of GNU's packages; where others have these names, GNU's have a g in front: gsed, grm.
_GNU = frozenset(
    "awk base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dirname"
    " du echo egrep env expand false fgrep find fold grep head id install join kill link ln locate ls md5sum mkdir"
    " mkfifo mknod mktemp mv nice nl nohup numfmt od paste printf readlink realpath rev rm rmdir runcon sed seq sha1sum"
    " sha256sum sha512sum shred shuf sleep sort split stat stdbuf sum sync tac tail tar tee test timeout touch tr true"
    " truncate tty uname unexpand uniq unlink updatedb uptime users wc who whoami xargs yes".split()
)

# Names whose capitals are their own.
_FOLDED = frozenset({"R", "Rscript", "GET", "POST", "HEAD", "Xvfb", "MAKEDEV"})

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


def base_name(program: str) -> str:
    """Return one name for one tool: ``python`` for ``python3.12``, ``sed`` for ``gsed``, ``git`` for ``Git.EXE``.

    Other names stay as they are.
    """
    found = declarations().names.get(program)
    if found is not None:
        return found
    if program in declarations().entries or not program or UNKNOWN in program or len(program) > _LONGEST_NAME:
        return program
    return _without_decoration(program)


@lru_cache(maxsize=1024)
def _without_decoration(name: str) -> str:
    """Return an undeclared name without the extension of Windows, the version and the ``g`` of GNU."""
    if name[-4:].lower() in {".exe", ".cmd", ".bat", ".com"}:
        name = name[:-4]
    if not name.islower() and name not in _FOLDED:
        name = name.lower()
    name = declarations().names.get(name, name)
    if name[-1:].isdigit():
        bare = name.rstrip("0123456789.").rstrip("-")
        if bare in _VERSIONED:
            return declarations().names.get(bare, bare)
    if name.startswith(("ld-linux", "ld-musl", "ld64.so")):
        return "ld.so"
    if name[:1] == "g" and name[1:] in _GNU:
        return name[1:]
    return name


def is_known(program: str) -> bool:
    """Whether ``program``, by its base name, is known."""
    table = declarations()
    return program in _HARMLESS or program in table.entries or program in table.aliases
