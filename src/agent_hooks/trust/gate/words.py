"""Programs by what they do with the files that they are given, as far as a protection needs to know."""

from __future__ import annotations

from agent_hooks.shell import programs

# They take away what they are given, whole folders too.
REMOVERS = frozenset(
    "rm rmdir unlink shred srm wipe rimraf trash trash-put trash-cli del-cli del erase rd remove-item ri mount".split()
)
MOVERS = frozenset("mv mmv rename move ren move-item mi rename-item rni".split())
# The last thing they are given is written.
COPIERS = frozenset("cp gcp install ginstall rsync scp ditto copy xcopy robocopy copy-item cpi rclone".split())
# A second name for a file is a way around the first.
LINKERS = frozenset("ln link mklink".split())
# They write everything they are given.
WRITERS = frozenset(
    """
    truncate fallocate touch chmod chown chgrp chattr setfacl tee sponge ed ex vi vim nvim nano emacs mkdir mkfifo
    mknod gzip gunzip bzip2 bunzip2 xz unxz zstd unzip set-content sc add-content ac out-file clear-content clc new-item
    ni tee-object apply_patch patch dd dos2unix unix2dos
    """.split()
)
# They read the first file that they are given and write the last; or change the one there is.
FILTERS_TO_FILE = frozenset("uniq xxd objcopy strip convert magick".split())
EDITORS = frozenset("ed ex vi vim nvim emacs".split())  # they run commands too
# They write in place unless an option says otherwise.
FORMATTERS = frozenset("black isort pyupgrade rustfmt sd".split())
FORMATTING = frozenset("format fmt fix set put write edit".split())  # the same as subcommands of any program
HARMLESS_OPTIONS = frozenset("--check --diff --dry-run --check-only".split())

# What they are given is text or files to read; nothing of it is run or written.
READERS = frozenset(
    """
    echo printf print cat tac head tail less more bat nl od xxd hexdump strings cut tr wc uniq column rev fold
    grep egrep fgrep zgrep rg ag ack diff cmp colordiff comm stat file ls dir tree du df lsof sum cksum md5sum sha1sum
    sha256sum sha512sum shasum b2sum basename dirname realpath readlink test [ [[ true false : which type whereis whatis
    man info help apropos export unset declare local readonly typeset set cd pushd popd pwd date sleep exit return read
    logger notify-send seq expr gh glab hub jq for case select in function pytest py.test mypy pyright flake8 pylint
    mapfile readarray get-content gc select-string sls get-childitem gci test-path write-output write-host
    open xdg-open code
    """.split()
)
# They run what they read from their standard input.
SHELLS = frozenset("sh bash zsh dash ksh mksh fish ash csh tcsh rbash pwsh powershell cmd at batch crontab".split())
INTERPRETERS = frozenset(
    """
    python py pypy ipython node nodejs deno bun tsx ruby irb perl php lua luajit rscript osascript julia tclsh guile
    awk gawk mawk nawk groovy scala elixir
    """.split()
)
# So do these, beside what else they are told.
OPEN_TO_INPUT = frozenset(
    """
    sudo doas su runuser newgrp sg script chroot unshare nsenter nix-shell ssh docker podman kubectl expect tmux screen
    make gmake gdb lldb
    """.split()
)
STANDARD_INPUT = frozenset("- /dev/stdin /dev/fd/0 /proc/self/fd/0".split())
# What these are given is run, too, if it is made up by a command.
SOURCING = frozenset(("source", ".", "eval", "iex", "invoke-expression"))
# They print what they are given, or where the program is that they are given.
PRINTERS = frozenset("echo printf print cat which command type whereis get-command gcm where".split())
AWKS = frozenset("awk gawk mawk nawk".split())
# What they are given is, or contains, another command.
PACKAGE_RUNNERS = frozenset("uv uvx pipx poetry pdm hatch rye tox npx bunx pnpm yarn npm bundle".split())
WRAPPERS = (
    PACKAGE_RUNNERS
    | frozenset(programs.WRAPPERS)
    | frozenset(
        """
    eval script su ssh docker podman kubectl nix-shell entr direnv mise dotenv daemonize start-stop-daemon gio
    bwrap winpty
    """.split()
    )
)
MAKES = frozenset(("make", "gmake"))
# They bring what they give to another command from elsewhere: its files are not in the text.
GATHERERS = frozenset("xargs parallel".split())
FINDERS = frozenset("find fd fdfind".split())
DECLARERS = frozenset("export declare local readonly typeset set".split())
TAKERS = frozenset("read mapfile readarray".split())  # they set variables to what they read
# Those of the whole system, where Python itself and what it needs may come from.
SYSTEM_MANAGERS = frozenset("apt apt-get aptitude brew dnf yum zypper apk port".split())
PACKAGE_MANAGERS = SYSTEM_MANAGERS | frozenset(
    "pip pipx uv poetry pdm conda mamba micromamba rye hatch pipenv pixi pyenv".split()
)
# They work on the environment of the project that they are called in.
PROJECT_MANAGERS = frozenset("uv poetry pdm rye hatch pipenv pixi".split())
UNINSTALLING = frozenset("uninstall remove rm purge autoremove del prune uninstall-all".split())
ENDERS = frozenset("pkill killall kill skill".split())  # of processes

# Coding agents, by the name of the program and by that of the package.
HOSTS = {
    **{name: name for name in "claude codex gemini qwen copilot cursor-agent opencode droid kiro-cli".split()},
    "claude-code": "claude",
    "gemini-cli": "gemini",
    "qwen-code": "qwen",
    "opencode-ai": "opencode",
}

# They put a whole folder somewhere, and what is in it cannot be seen.
TARS = frozenset("tar gtar bsdtar".split())
UNPACKERS = TARS | frozenset("unzip 7z 7za 7zz cpio zipfile tarfile".split())
CLONERS = frozenset("git gh hub glab hg".split())
VERSION_CONTROL = frozenset("git hg jj sl svn gt".split())

# Git's subcommands that write files of the working tree, those that run commands, and options that do.
GIT_WRITERS = frozenset("checkout restore stash clean rm mv apply am checkout-index".split())
GIT_RUNNERS = frozenset("config bisect submodule filter-branch filter-repo difftool mergetool util exec".split())
GIT_RUNNING = frozenset("-c -x --exec --config --config-env --extcmd".split())

# A command without any of these, a `>`, and the name of a protected file can be nothing to protect from.
SUSPICIOUS = REMOVERS | MOVERS | COPIERS | LINKERS | WRITERS | UNPACKERS
SUSPICIOUS |= {"sed", "wget", "curl", "aria2c", "apply", "am", "-delete", "clone"}
# Nor is one without any of these a way to start a host without its hooks, or to remove packages.
NOTABLE = SUSPICIOUS | FILTERS_TO_FILE | HOSTS.keys() | UNINSTALLING
NOTABLE |= frozenset("venv -mvenv virtualenv pipenv conda mamba micromamba clean reset".split())

# Names in code that only looks at files, in the languages people write such lines in.
LOOKING = frozenset(
    """
    import from as in is not and or if else elif for while with def return lambda try except finally pass None True
    False const let var of function null undefined true false new require process console log error argv
    print puts p pp echo len str repr bool int sorted list dict set tuple type isinstance enumerate range zip any all
    open read readlines readline readFileSync readFile load loads read_text read_bytes parse parseString safe_load dumps
    stringify get keys values items join split splitlines strip startswith endswith find count format exists is_file
    is_dir stat st_mode st_size encoding utf8 indent sort_keys ensure_ascii dump
    json ast pathlib Path tomllib yaml sys stdin pprint fs JSON Object entries map filter forEach length hashlib sha256
    hexdigest path isfile isdir BEGIN END NR NF FNR exit
    __file__ __path__ __version__ __name__ version version_info executable prefix base_prefix site getsitepackages
    sysconfig get_path platform importlib metadata inspect getfile find_spec origin util which
    agent_hooks folders config_dir state_dir managed_dir walk name body lineno hooks permissions env
    os sep dirname basename abspath realpath normpath getcwd listdir iterdir parent parents
    resources files distribution distributions requires __spec__ __loader__ pkgutil iter_modules walk_packages ispkg
    """.split()
)
# And those that change texts and files, but run nothing.
EDITING = LOOKING | frozenset(
    """
    write writelines write_text write_bytes writeFileSync writeFile appendFileSync replace sub subn re append extend
    insert pop remove update add setdefault lower upper title encode decode rstrip lstrip splitext exist_ok parents
    mkdir touch unlink rename copy copyfile shutil os makedirs parent with_suffix relative_to resolve cwd glob rglob
    iterdir dirname basename seek truncate newline errors raise ValueError AssertionError assert continue break
    DOTALL MULTILINE IGNORECASE group groups match search findall finditer
    """.split()
)
# Names that give access to everything else, whatever the code binds to them.
RUNNING = frozenset("exec eval compile getattr setattr globals locals vars system __import__ __builtins__".split())
