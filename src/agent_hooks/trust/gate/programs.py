"""Programs by how they use the files in their arguments. A program in none of the tables may write all of them."""

from __future__ import annotations

from agent_hooks.shell import programs

# Their operands are text, or files that they read; they run none of it.
READERS = frozenset(
    """
    echo printf print cat tac head tail more bat nl od hexdump strings cut tr wc column rev fold grep egrep fgrep
    zgrep rg ag ack diff cmp colordiff comm stat file ls dir tree du df lsof sum cksum md5sum sha1sum sha256sum
    sha512sum shasum b2sum basename dirname realpath readlink test [ [[ true false : which type whereis whatis info
    help apropos export unset declare local readonly typeset set cd pushd popd pwd date sleep exit return read
    logger notify-send seq expr gh glab hub jq for case select in function mapfile readarray pytest py.test mypy
    pyright flake8 pylint code open xdg-open hg jj sl svn sed curl wget psql sqlite3 claude codex gemini get-content
    gc select-string sls get-childitem gci test-path write-output write-host
    """.split()
)
SHELLS = programs.SHELLS | frozenset("csh tcsh rbash pwsh powershell cmd at batch crontab".split())
INTERPRETERS = frozenset(
    """
    python py pypy ipython node nodejs deno bun tsx ruby irb perl php lua luajit rscript osascript julia tclsh guile
    awk gawk mawk nawk groovy scala elixir
    """.split()
)
AWKS = frozenset("awk gawk mawk nawk".split())
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
# Further ones that only read, or check, the files that they are given.
CHECKERS = frozenset(
    """
    agent-hooks agent_hooks agent-hooks-core agent_hooks_core less sort find fd fdfind py_compile json.tool git make bat
    batcat cloc tokei delta difft hexyl b3sum openssl base64 zip vale ruff pylint bandit vulture radon ty
    pyflakes semgrep gitleaks trivy shellcheck yamllint jsonlint taplo eslint stylelint prettier biome tsc markdownlint
    actionlint hadolint codespell cspell typos coverage base32 md5 sha1 yq ctags scc pygmentize glow
    """.split()
)
SQL = frozenset("sqlite3 psql duckdb mysql mariadb".split())
SOCKETS = frozenset("nc ncat netcat socat".split())  # they make them where they are told to, and run commands
EDITORS = frozenset("ed ex vi vim nvim emacs".split())  # they run commands
# They run another command, or one in their arguments, in ways that ``agent_hooks.shell.programs`` does not list.
CARRIERS = frozenset(
    """
    uv uvx pipx poetry pdm hatch rye tox npx bunx pnpm yarn npm bundle eval script su ssh docker podman kubectl
    nix-shell entr direnv mise dotenv daemonize start-stop-daemon gio bwrap winpty screen tmux nerdctl
    """.split()
) | frozenset(programs.WRAPPERS)
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
CHANGING = REMOVERS | MOVERS | COPIERS | UNPACKERS | WRITERS | SOCKETS
# They run none of their operands.
PASSIVE = READERS | (CHANGING - EDITORS - SOCKETS - CARRIERS)
# Their options `-i` and `-w` change nothing in place.
KEEPING = READERS | GATHERERS | CARRIERS | INTERPRETERS | SHELLS | MANAGERS | {"make"}
# They work on the environment of the project that they are called in.
PROJECT_MANAGERS = frozenset("uv poetry pdm rye hatch pipenv pixi".split())
ENDERS = frozenset("pkill killall kill skill".split())  # of processes
# Coding agents, by the name of the program and by that of the package.
HOSTS = {
    **{name: name for name in "claude codex gemini qwen copilot cursor-agent opencode droid kiro-cli".split()},
    "claude-code": "claude",
    "gemini-cli": "gemini",
    "qwen-code": "qwen",
    "opencode-ai": "opencode",
}
_KNOWN = READERS | SHELLS | INTERPRETERS | CHANGING | FORMATTERS | ENDERS | MANAGERS | HOSTS.keys() | CARRIERS
# A command without any of these words, a redirection or a protected name changes nothing of ours.
NOTABLE = (
    CHANGING
    | MOUNTING
    | HOSTS.keys()
    | frozenset(
        """
    sed wget curl aria2c apply am -delete clone uninstall remove purge autoremove prune uninstall-all -mvenv venv
    virtualenv pipenv conda mamba micromamba clean reset powershell pwsh set-environment setenv --install-extension
    --add-mcp --extensiondevelopmentpath --extensions-dir --user-data-dir mise -fprint -fprint0 -fprintf -fls psql
    """.split()
    )
)


def name_of(word: str) -> str:
    """Return the name of a program without its folder, ``.exe`` and version."""
    name = word.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
    return name if name in _KNOWN or name in CHECKERS else name.rstrip("0123456789.") or name


def is_known(word: str) -> bool:
    """Whether ``word`` names a program of the tables."""
    return name_of(word) in _KNOWN
