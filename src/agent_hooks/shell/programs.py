"""The one table of programs: what they do with their operands, and where the command of a program that runs another one
starts.

Sources: the programs' manual pages.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# -- programs that run another one -------------------------------------------------------------------------------------

# Name: options that take a value as the next word. A number in front: operands before the command.
_TABLE = """
sudo: -A -u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role --type --close-from
doas: -u -C
env: -u -C -S --unset --chdir --split-string
nice: -n --adjustment
ionice: -c -n --class --classdata
nohup:
time: -f -o --format --output
timeout: 1 -k -s --kill-after --signal
gtimeout: 1 -k -s --kill-after --signal
stdbuf: -i -o -e --input --output --error
unbuffer:
setsid:
chronic:
caffeinate: -t -w
command:
builtin:
exec: -a
noglob:
busybox:
toybox:
xargs: -I -i -n -P -L -d -E -s -a --arg-file --delimiter --max-args --max-procs --max-lines --max-chars --replace --eof
parallel: -j -a -I -N -n -L --jobs --arg-file --colsep --delimiter --results --joblog
watch: -n --interval
flock: 1 -w -E --timeout --wait --conflict-exit-code
strace: -e -o -p -s -u -a -b -I -O -P -S -E
ltrace: -e -o -p -s -u -a -l -n
chroot: 1 --userspec --groups
unshare: -S -G -R -w --setuid --setgid --root --wd --map-user --map-group
nsenter: -t -S -G --target --setuid --setgid
setpriv: --reuid --regid --groups --inh-caps --ambient-caps --bounding-set
prlimit: -p --pid
taskset: 1
chrt: 1 -T -P -D
numactl: -N -m -C -p -i --cpunodebind --membind --physcpubind --preferred --interleave
systemd-run: -u -p -E -M -H --unit --property --setenv --uid --gid --slice --working-directory --description
systemd-inhibit: --what --who --why --mode
fakeroot: -l -f -i -s -b --lib --faked
proot: -r -b -q -w -R -S
firejail:
xvfb-run: -e -f -n -p -s -w --error-file --auth-file --server-num --server-args
dbus-run-session: --config-file --dbus-daemon
hyperfine: -w -m -M -r -p -c -s -n --warmup --min-runs --max-runs --runs --prepare --cleanup --setup --command-name
proxychains: -f
proxychains4: -f
torsocks: -u -p -a -P --user --pass
arch: -arch -e -d
runuser: -u -g -G --user --group --supp-group
npx: -p -c --package --call
bunx: -p --package
pnpx: --package
uvx: -p --from --with --python --with-requirements --index-url --extra-index-url --index
"""
WRAPPERS: dict[str, tuple[int, frozenset[str]]] = {}
for _line in _TABLE.strip().splitlines():
    _name, _, _rest = _line.partition(":")
    _words = _rest.split()
    _operands = int(_words.pop(0)) if _words[:1] and _words[0].isdigit() else 0
    WRAPPERS[_name] = (_operands, frozenset(_words))

# Programs that run a command behind a subcommand of theirs, and the options of it that take a value.
RUNNERS: dict[str, frozenset[str]] = {
    **dict.fromkeys("uv poetry pipenv pdm rye hatch pipx conda micromamba mamba".split(), frozenset(["run"])),
    **dict.fromkeys(("npm", "pnpm", "yarn"), frozenset(["exec", "dlx"])),
    **dict.fromkeys(("bundle", "mise", "rtx"), frozenset(["exec"])),
    "bun": frozenset(["x"]),
    "direnv": frozenset(["exec"]),
    "dotenv": frozenset(["run"]),
    "doppler": frozenset(["run"]),
    "op": frozenset(["run"]),
}
_RUNNER_VALUES = frozenset(
    """
    --with --from --python -p --package --project --directory -C --env-file --extra --group --index -n --name --spec
    --with-requirements -w --workspace --filter -F
    """.split()
)
_FINDERS = {
    "find": frozenset("-exec -execdir -ok -okdir".split()),
    **dict.fromkeys(("fd", "fdfind"), frozenset("-x -X --exec --exec-batch".split())),
}
_ASSIGNING = frozenset(["env", "sudo", "doas"])
# Options that are followed by a command line for a shell, of programs that are not shells themselves.
_TEXT_OPTIONS = {
    "su": ("-c", "--command"),
    "runuser": ("-c", "--command"),
    "sg": ("-c",),
    "flock": ("-c", "--command"),
    "script": ("-c", "--command"),
    "npx": ("-c", "--call"),
    "nix-shell": ("--run", "--command"),
    "env": ("-S", "--split-string"),
}

# -- what programs do with their operands ------------------------------------------------------------------------------
# A program in none of these sets may run, write and remove all of its operands.

# They read, print or compare their operands, and run none of them; a keyword of the shell is one of them.
READERS = frozenset(
    """
    echo printf print cat tac head tail more nl od hexdump strings cut tr wc column rev fold paste
    grep egrep fgrep zgrep rg ag ack diff cmp colordiff comm stat file ls dir tree du df lsof sum cksum md5sum sha1sum
    sha256sum sha512sum shasum b2sum basename dirname realpath readlink hostname test [ [[ true false : which type
    whereis whatis tldr info help apropos export unset declare local readonly typeset set cd pushd popd pwd date
    sleep exit return break continue shift wait read mapfile readarray say logger notify-send seq expr jq sed sqlite3
    for case select in function
    get-content gc select-string sls get-childitem gci test-path write-output write-host
    """.split()
)
# They check or format their operands, or print something about them, and run none of them.
CHECKERS = frozenset(
    """
    py_compile json.tool cloc tokei delta difft hexyl b3sum openssl base64 base32 md5 sha1 ctags scc pygmentize glow
    pytest py.test mypy pyright flake8 pylint vale ruff bandit vulture radon ty pyflakes semgrep gitleaks trivy
    shellcheck yamllint jsonlint taplo eslint stylelint prettier biome tsc markdownlint markdownlint-cli2 mdformat
    actionlint hadolint codespell cspell typos coverage yq black isort gofmt goimports rustfmt shfmt clang-format jest
    vitest mocha rspec
    """.split()
)
# They read their operands, and run the command in an option.
PAGERS = frozenset("less man sort bat batcat".split())
# They do not write their operands, but a file that they name may say what they do.
CLIENTS = frozenset("gh glab hub hg jj sl svn open code xdg-open curl wget psql claude codex gemini".split())
# Further ones that do not write operands.
_OTHERS = frozenset("agent-hooks agent_hooks agent-hooks-core agent_hooks_core find fd fdfind git make zip".split())
SHELLS = frozenset("sh bash dash zsh ksh mksh ash fish csh tcsh rbash".split())
# Further ones that run a text, in a language or at a time of their own.
TEXT_RUNNERS = frozenset("pwsh powershell cmd at batch crontab".split())
AWKS = frozenset("awk gawk mawk nawk".split())
PYTHONS = frozenset("python pythonw py pypy ipython".split())
INTERPRETERS = AWKS.union(
    PYTHONS,
    "node nodejs deno bun tsx ts-node ruby irb perl php lua luajit rscript osascript julia tclsh guile groovy".split(),
    ("scala", "elixir"),
)
# They take away their operands, whole folders too.
REMOVERS = frozenset(
    "rm rmdir unlink shred srm wipe rimraf trash trash-put trash-cli del-cli del erase rd remove-item ri mount".split()
)
MOVERS = frozenset("mv mmv rename move ren move-item mi rename-item rni".split())
LINKERS = frozenset("ln link mklink".split())
# They write their last operand, or the folder of ``-t``.
COPIERS = LINKERS | frozenset(
    "cp gcp install ginstall rsync scp ditto copy xcopy robocopy copy-item cpi rclone".split()
)
# They put files with names of their own into a folder.
TARS = frozenset("tar gtar bsdtar".split())
UNPACKERS = TARS | frozenset("unzip 7z 7za 7zz cpio zipfile tarfile".split())
# Other common ones, known so that a command that names none of them and nothing protected needs no analysis.
WRITERS = frozenset(
    """
    truncate fallocate touch chmod chown chgrp chattr setfacl tee sponge ed ex vi vim nvim nano emacs mkdir mkfifo
    mknod gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd set-content sc add-content ac out-file clear-content clc
    new-item ni tee-object apply_patch patch dd dos2unix unix2dos uniq xxd objcopy strip convert magick script
    """.split()
)
SQL = frozenset("sqlite3 psql duckdb mysql mariadb".split())
SOCKETS = frozenset("nc ncat netcat socat".split())  # they make them where they are told to, and run commands
EDITORS = frozenset("ed ex vi vim nvim emacs".split())  # they run commands
# They run another command, or one in their arguments, in ways that the table above does not list.
CARRIERS = frozenset(
    """
    uv uvx pipx poetry pdm hatch rye tox npx bunx pnpm yarn npm bundle eval script su ssh docker podman kubectl
    nix-shell entr direnv mise dotenv daemonize start-stop-daemon gio bwrap winpty screen tmux nerdctl
    """.split()
) | frozenset(WRAPPERS)
# What they start has files of its own, and coding agents with hooks of their own or none.
MOUNTING = frozenset("docker podman nerdctl".split())
ELSEWHERE = MOUNTING | {"kubectl", "ssh"}
GATHERERS = frozenset("xargs parallel find fd fdfind".split())  # they add arguments to the command that they run
FORMATTERS = frozenset("black isort pyupgrade rustfmt sd".split())
MANAGERS = frozenset(
    """
    pip pipx uv poetry pdm conda mamba micromamba rye hatch pipenv pixi pyenv apt apt-get aptitude brew dnf yum zypper
    apk port
    """.split()
)
ENDERS = frozenset("pkill killall kill skill".split())  # of processes
CHANGING = REMOVERS | MOVERS | COPIERS | UNPACKERS | WRITERS | SOCKETS
# They run none of their operands; copies run under another name.
PASSIVE = READERS | CHECKERS | PAGERS | REMOVERS | UNPACKERS | (WRITERS - EDITORS - CARRIERS - {"apply_patch"})
# They work on the environment of the project that they are called in.
PROJECT_MANAGERS = frozenset("uv poetry pdm rye hatch pipenv pixi".split())
KNOWN = frozenset[str]().union(
    *(READERS, CHECKERS, PAGERS, CLIENTS, _OTHERS, SHELLS, TEXT_RUNNERS, INTERPRETERS, CHANGING, FORMATTERS),
    *(MANAGERS, ENDERS, CARRIERS),
)
MAX_STARTS = 64  # of programs that run each other


def name_of(word: str) -> str:
    """Return the name of a program without its folder, ``.exe`` and version."""
    name = word.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
    return name if name in KNOWN else name.partition("@")[0].rstrip("0123456789.") or name


def command_start(words: Sequence[str]) -> int:
    """Return the index at which the command that ``words[0]`` runs starts; 0 if it runs none, and ``len(words)`` if
    none follows.
    """
    name = name_of(words[0]) if words else ""
    at = 1
    if name == "command" and words[1:2] in (["-v"], ["-V"]):  # it says where a program is
        return len(words)
    if name in RUNNERS and len(words) > 1 and words[1] in RUNNERS[name]:
        if name in ("mise", "rtx"):  # versions of tools come before the command
            return words.index("--") + 1 if "--" in words else len(words)
        at, operands, valued = 2, int(name == "direnv"), _RUNNER_VALUES
    elif name in WRAPPERS:
        operands, valued = WRAPPERS[name]
    elif name in _FINDERS:
        return next((at + 1 for at, word in enumerate(words) if word in _FINDERS[name]), 0)
    else:
        return 0
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            if not operands:
                break
        elif word.startswith("-") and len(word) > 1:
            at += 2 if word in valued else 1
        elif name in _ASSIGNING and "=" in word:
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return min(at, len(words))


def starts(words: Sequence[str]) -> list[int]:
    """Return the indexes at which the program and each that the one before runs start, at most ``MAX_STARTS``, and
    ``len(words)`` if a wrapper runs none.
    """
    found = [0] if words else []
    while found and len(found) < MAX_STARTS and (start := command_start(words[found[-1] :])):
        found.append(found[-1] + start)
    return found


def unwrapped(words: Sequence[str]) -> Sequence[str]:
    """Return the command that is run in the end; nothing if a wrapper runs none."""
    return words[starts(words)[-1] :] if words else words


def command_line(words: Sequence[str]) -> str | None:
    """Return the command line that ``words``, a program and its arguments, give to a shell; None if there is none."""
    name = name_of(words[0]) if words else ""
    if name == "eval":
        return " ".join(words[1:])
    if name in SHELLS:
        for at, word in enumerate(words[1:], 1):
            if word[:1] not in ("-", "+") or word == "--":
                return None
            if "c" in word[1:] and not word.startswith("--"):
                following = [each for each in words[at + 1 :] if each[:1] not in ("-", "+")]
                return following[0] if following else None
            if word in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
                return command_line([name, *words[at + 2 :]])
        return None
    options = _TEXT_OPTIONS.get(name, ())
    for at, word in enumerate(words[1:-1], 1):
        is_bundled = "-c" in options and word[:1] == "-" and word[:2] != "--" and word.endswith("c")
        if word in options or is_bundled:
            return words[at + 1]
    for word in words[1:] if options else ():
        option, has_value, value = word.partition("=")
        if has_value and option in options:
            return value
        if name == "env" and word[:1] == "-" and word[1:2].isalpha() and "S" in option:  # `-vS'git push'`
            return word.partition("S")[2]
    return None
