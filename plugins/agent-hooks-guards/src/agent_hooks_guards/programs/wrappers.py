"""What a command runs besides itself: the program behind ``sudo``, the code behind ``bash -c``, the editor of ``git``.

Programs that put a command line behind their own options, and change nothing else about it, stand in ``PREFIXES``. All
others have a function in the module of their topic, which is imported when one of its programs is met.
"""

from __future__ import annotations

from importlib import import_module

from agent_hooks_guards.model.grammar import ALIASES
from agent_hooks_guards.model.values import Data

from .unwrapping import operands_from, texts, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Inner

    from .unwrapping import Handler


def _by_program(texts: dict[str, str]) -> dict[str, str]:
    return {program: key for key, programs in texts.items() for program in programs.split()}


# So many operands stand before the words of a program.
PREFIXES: dict[str, str] = _by_program({
    "0": "nohup ssh-agent nice ionice stdbuf time setsid unbuffer strace ltrace valgrind setpriv prlimit numactl"
    " cpulimit caffeinate proxychains torsocks sshpass dbus-run-session dbus-launch xvfb-run fakeroot"
    " fakechroot daemonize daemon choom chpst firejail catchsegv rlwrap trickle eatmydata systemd-inhibit"
    " gnome-session-inhibit chronic ifne cgexec schedtool grc noglob nocorrect rtk softlimit pgrphack"
    " fghack dumb-init tini catatonit aa-exec optirun primusrun prime-run gamemoderun mangohud heaptrack"
    " ccache sccache distcc icecc graftcp lckdo apulse padsp aoss memusage sotruss uftrace nocache"
    " with-contenv multitime s6-setsid env-cmd summon envconsul runcon proot",
    "1": "timeout faketime envdir setlock setuidgid envuidgid argv0 lockf s6-setuidgid s6-envdir s6-setlock",
})  # fmt: skip

# Which module knows what a program runs.
TOPICS: dict[str, str] = _by_program({
    "shells": "bash zsh sh dash ksh mksh ash yash rbash hush csh tcsh posh oksh loksh osh ysh elvish xonsh rc es"
    " ion sash fish nu pwsh powershell cmd wsl busybox toybox coreutils . source eval exec builtin"
    " command trap bind fc complete compgen mapfile readarray watch flock script at batch crontab expect",
    "processes": "sudo doas pkexec run0 gosu su-exec su runuser sg newgrp capsh env chroot nsenter unshare bwrap"
    " systemd-run chrt taskset setarch linux64 linux32 i386 x86_64 uname26 arch ld.so start-stop-daemon"
    " perf rr nsys hyperfine gdb lldb",
    "terminals": "tmux byobu screen zellij dtach abduco wezterm kitty alacritty xterm gnome-terminal konsole"
    " xfce4-terminal mate-terminal terminator tilix urxvt rxvt st foot lxterminal uxterm"
    " x-terminal-emulator dvtm ttyd gotty websocketd tcpserver asciinema nc ncat netcat nc.openbsd"
    " nc.traditional socat open",
    "repeated": "find fd xargs parallel sem entr watchexec nodemon concurrently onchange chokidar reflex"
    " cargo-watch watchman-make when-changed",
    "remote": "ssh slogin autossh dbclient mosh scp sftp ftp lftp rsync rclone vagrant colima minikube eb cf"
    " multipass limactl lima gcloud aws az fly heroku railway doctl gh distrobox toolbox ansible salt"
    " salt-ssh pdsh clush pssh parallel-ssh dsh fab rsh rexec plink tsh tailscale et consul adb",
    "containers": "docker podman nerdctl docker-compose podman-compose kubectl oc kubecolor k microk8s.kubectl lxc"
    " incus lxc-attach lxc-execute systemd-nspawn machinectl devcontainer flatpak flatpak-spawn snap"
    " nomad virt-customize apptainer singularity udocker crictl buildah k3s",
    "git": "git hg svn",
    "packages": "npm npx pnpx bunx pnpm yarn bun uv uvx pipx poetry pipenv hatch pdm rye conda mamba micromamba"
    " pixi rustup bundle gem nix nix-shell guix mise rtx asdf rbenv pyenv nodenv volta direnv devbox"
    " dotenv dotenvx op aws-vault chamber doppler infisical sops teller envchain cross-env"
    " cross-env-shell lerna composer apt apt-get dpkg rpm fnm nvm saml2aws corepack nx brew",
    "builders": "cargo go rake tox make cmake ctest just gradle gradlew mvn mvnw",
    "code": "python pypy ipython node tsx ts-node deno perl ruby jruby irb pry php hhvm lua luajit texlua tclsh"
    " wish jimsh Rscript R julia groovy scala elixir iex mix erl clojure bb guile racket sbcl ghc runghc"
    " ocaml swift jshell raku crystal tcc hy sage janet fennel kotlin mongosh mongo coverage rails wp"
    " drush",
    "texts": "osascript awk sed vim vi nvim ex view rvim rview gvim vimdiff ed red emacs emacsclient nano psql"
    " mysql mariadb sqlite3 duckdb sqlcmd osql gnuplot octave m4 latex pdflatex xelatex lualatex tex"
    " pdftex dc telnet psftp smbclient tasksh ginsh crash tdbtool cpan",
    "tools": "tar bsdtar star zip sort split less man tcpdump gpg aria2c nmap cpio mail mailx s-nail bat batcat"
    " rg ag ack wget yt-dlp youtube-dl xdotool ydotool wtype ip gcc g++ cc c++ clang clang++ gs fzf sk"
    " launchctl restic borg run-parts certbot pandoc openvpn dhclient dmesg delta helm terraform-docs"
    " chromium chrome google-chrome chromium-browser brave microsoft-edge",
})  # fmt: skip


_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash"))
_handlers: dict[str, Handler] = {}


def _shell_behind(command: Command) -> list[Inner]:
    """A shell with a text, ``sh -c text``, among the words of a program that nothing is known of."""
    argv = command.argv
    for at in range(1, len(argv) - 2):
        option = argv[at + 1]
        if argv[at].rpartition("/")[2] in _SHELLS and option[:1] == "-" and option[-1:] == "c" and option[:2] != "--":
            from agent_hooks_guards.rules.programs import is_known

            return [] if is_known(command.name) else words_from(command, at, command.name)
    return []


def inner(command: Command) -> list[Inner]:
    """What ``command`` runs besides itself, in order; nothing for most programs. Never raises."""
    name = command.name
    topic = TOPICS.get(name)
    if topic is None and name not in PREFIXES:
        name = ALIASES.get(name, name)
        topic = TOPICS.get(name)
    if topic is not None:
        handler = _handlers.get(name)
        if handler is None:
            handler = _handlers[name] = import_module(f".wrappers_{topic}", __package__).HANDLERS[name]
        options = command.options
        found = [] if options.is_help else handler(command, options)
    elif name in PREFIXES:
        options = command.options
        found = [] if options.is_help else operands_from(command, options, int(PREFIXES[name]), name)
    elif name[:4] == "git-" and len(name) > len("git-"):
        words = [word(command, at) for at in range(1, len(command.argv))]
        found = [texts([Data("git"), Data(name[4:]), *words], "git")]
    else:
        found = _shell_behind(command)
    if command.assignments:
        from .wrappers_variables import from_variables

        found += from_variables(command, name)
    return found
