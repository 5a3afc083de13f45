"""What variables that are set for a command make it run: ``GIT_SSH_COMMAND``, ``PAGER``, ``BASH_ENV``, ``LESSOPEN``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command, Inner
from agent_hooks_guards.model.values import Data

from .unwrapping import shell, split, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Special = Callable[[Command, str, Data], list[Inner]]

_PAGERS = "man git less systemctl journalctl psql mysql gh glab aws bat delta perldoc pydoc python ri help info go az"
_EDITORS = (
    "git crontab visudo sudoedit sudo kubectl oc vipw vigr less more mutt psql mysql hg svn gh glab svn edit"
    " bash zsh sh fc systemctl sops ansible-vault helm yq rails bundle npm yarn pnpm cargo poetry chezmoi pass"
    " top ipython python irb virsh nano lftp jq tig lazygit select-editor sensible-editor run-mailcap mailx mail"
    " dpkg ex vi script redis-cli"
)
_SHELLS = "bash zsh sh dash ksh mksh ash yash rbash"
# Variables whose text a shell runs (or that is split into words, which is near enough), by the programs that do so.
_TEXTS: dict[str, frozenset[str]] = {
    variable: frozenset(programs.split())
    for variables, programs in (
        ("GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER", "git"),
        ("GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_ASKPASS", "git"),
        ("PAGER", _PAGERS),
        ("MANPAGER", "man"),
        ("SYSTEMD_PAGER", "journalctl loginctl machinectl systemctl"),
        ("PSQL_PAGER PSQL_EDITOR", "psql"),
        ("AWS_PAGER", "aws"),
        ("GH_PAGER GH_EDITOR", "gh"),
        ("BAT_PAGER", "bat batcat"),
        ("EDITOR VISUAL", _EDITORS),
        ("SUDO_EDITOR", "sudo sudoedit"),
        ("SUDO_ASKPASS", "sudo"),
        ("KUBE_EDITOR KUBECTL_EXTERNAL_DIFF", "kubectl oc"),
        ("FCEDIT", "bash fc ksh zsh"),
        ("BROWSER", "aws az cargo firebase gcloud gh git man netlify npm python sensible-browser vercel xdg-open"),
        ("SSH_ASKPASS", "git rsync scp sftp ssh ssh-add"),
        ("RSYNC_RSH RSYNC_CONNECT_PROG", "rsync"),
        ("CVS_RSH", "cvs"),
        ("SVN_SSH SVN_EDITOR", "svn"),
        ("HGEDITOR", "hg"),
        ("LESSOPEN", "git journalctl less lesspipe man systemctl"),
        ("LESSCLOSE", "less man"),
        ("PROMPT_COMMAND", _SHELLS),
        ("RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTC RUSTDOC CARGO_BUILD_RUSTC_WRAPPER CARGO_BUILD_RUSTC", "cargo"),
        ("CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER", "cmake"),
        ("CC CXX", "cargo cmake configure gem gmake go make meson npm pip python"),
        ("LD", "gmake make"),
        ("MAKE", "configure gmake make npm pip"),
        ("TAPE_RSH TAR_RSH", "tar"),
        ("npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL", "npm npx pnpm yarn"),
        ("npm_config_editor npm_config_git", "npm"),
        ("RESTIC_PASSWORD_COMMAND", "restic"),
        ("BORG_PASSCOMMAND BORG_RSH", "borg"),
        ("RCLONE_PASSWORD_COMMAND", "rclone"),
        ("DIFFPROG", "pacdiff"),
        ("FZF_DEFAULT_COMMAND", "fzf"),
        ("LESSEDIT", "less"),
        ("TEXEDIT", "latex pdflatex tex"),
        ("PERLDOC_PAGER", "perldoc"),
        ("PERL5SHELL", "perl"),
    )
    for variable in variables.split()
}

_IS_SHELL = frozenset(_SHELLS.split())
# Files that are read as code first, with their language.
_FILES: dict[str, tuple[str, frozenset[str]]] = {
    "BASH_ENV": ("sh", frozenset(("bash", "sh"))),
    "ENV": ("sh", _IS_SHELL),
    "PYTHONSTARTUP": ("python", frozenset({"python"})),
    "GIT_CONFIG_GLOBAL": ("gitconfig", frozenset({"git"})),
    "R_PROFILE": ("r", frozenset({"R", "Rscript"})),
    "R_PROFILE_USER": ("r", frozenset({"R", "Rscript"})),
}


# Programs that read the options of their platform from the environment.
_NODE = frozenset("node npm npx yarn pnpm tsx ts-node next jest vite eslint tsc webpack".split())
_JAVA = frozenset("java javac mvn gradle gradlew mvnw ant sbt jshell kotlin groovy scala".split())


def from_variables(command: Command, name: str) -> list[Inner]:
    """What the variables set for ``command``, which is called ``name``, make it run."""
    found: list[Inner] = []
    for variable, data in command.assignments.items():
        text = data.text
        if not text:
            continue
        programs = _TEXTS.get(variable)
        if programs is not None:
            if name in programs:
                found += shell(Data(text.lstrip("|-"), data.labels) if "LESS" in variable else data, variable)
            continue
        known = _FILES.get(variable)
        if known is not None:
            if name in known[1] and text != "/dev/null":
                found.append(Inner(language=known[0], path=text, label=variable))
                if known[0] == "sh":
                    found += _prompt(command, name, data)
            continue
        handler = _SPECIAL.get(variable)
        if handler is not None:
            found += handler(command, name, data)
        elif variable.startswith("BASH_FUNC_") and name in _IS_SHELL and text.lstrip().startswith("()"):
            found += shell(Data(f"f {text}\nf", data.labels), variable)
        elif (
            variable.startswith("CARGO_")
            and name == "cargo"
            and variable.endswith(("_RUNNER", "_LINKER", "_RUSTC_WRAPPER"))
        ):
            found += shell(data, variable)
    if name == "git" and "GIT_CONFIG_COUNT" in command.assignments:
        found += _numbered_settings(command)
    return found


def _numbered_settings(command: Command) -> list[Inner]:
    from .wrappers_git import run_by_setting

    found: list[Inner] = []
    for variable, key in command.assignments.items():
        if variable.startswith("GIT_CONFIG_KEY_"):
            value = command.assignments.get(f"GIT_CONFIG_VALUE_{variable[15:]}", Data())
            found += run_by_setting(key.text, value)
    return found


def _prompt(_command: Command, name: str, data: Data) -> list[Inner]:
    """What a prompt's text has in it is run before it is shown."""
    if name not in _IS_SHELL or not ("$(" in data.text or "`" in data.text):
        return []
    return shell(Data(': "' + data.text.replace('"', '\\"') + '"', data.labels), "PS4")


def _perl_options(_command: Command, name: str, data: Data) -> list[Inner]:
    """``PERL5OPT=-Mmodule;code``: what is behind ``-M`` is a statement."""
    if name != "perl":
        return []
    found = []
    switches = data.text
    for letter in "MmdIw":
        switches = switches.replace(f" -{letter}", f"\0-{letter}")
    for text in switches.split("\0"):
        option = text.lstrip(" -")
        if option[:1] in {"M", "m"}:
            found.append(Inner(language="perl", code=Data(f"use {option[1:]};", data.labels), label="PERL5OPT"))
        elif option[:1] == "d":
            found.append(Inner(language="perl", code=Data(option[1:].lstrip(":"), data.labels), label="PERL5OPT"))
    return found


def _perl_debugger(_command: Command, name: str, data: Data) -> list[Inner]:
    return [Inner(language="perl", code=data, label="PERL5DB")] if name == "perl" else []


def _own_options(program: str, others: str = "") -> Special:
    """Options that are put before those on the command line: the command is run with them, too."""
    programs = {program, *others.split()}

    def handler(command: Command, name: str, data: Data) -> list[Inner]:
        from .wrappers import inner

        if name not in programs:
            return []
        added = split(data.text)
        words = [command.argv[0], *added, *command.argv[1:]]
        labels = dict.fromkeys(range(1, len(added) + 1), data.labels) if data.labels else {}
        with_them = inner(Command(command.program, words, labels, stdin=command.stdin, cwd=command.cwd))
        without = inner(Command(command.program, list(command.argv), stdin=command.stdin, cwd=command.cwd))
        known = {(each.path, each.code.text if each.code else None) for each in without}
        added_by_them = [each for each in with_them if (each.path, each.code.text if each.code else None) not in known]
        for each in added_by_them:
            if each.words is not None:
                each.argv, each.words = [words[at] for at in each.words], None
        return added_by_them

    return handler


def _ruby_options(_command: Command, name: str, data: Data) -> list[Inner]:
    if name not in {"ruby", "gem", "bundle", "rake", "irb", "rails"}:
        return []
    words = split(data.text)
    return [
        Inner(language="ruby", path=text[2:], label="RUBYOPT") for text in words if text[:2] == "-r" and "/" in text
    ]


def _node_options(_command: Command, name: str, data: Data) -> list[Inner]:
    """``NODE_OPTIONS='--require file'``, ``--import data:text/javascript,code``."""
    if name not in _NODE:
        return []
    from .wrappers_code import node_modules

    words = split(data.text)
    return node_modules(words, data.labels)


def _java_options(_command: Command, name: str, data: Data) -> list[Inner]:
    """``-XX:OnOutOfMemoryError=text``."""
    if name not in _JAVA:
        return []
    found: list[Inner] = []
    for text in split(data.text):
        option, equals, value = text.partition("=")
        if equals and option in {"-XX:OnOutOfMemoryError", "-XX:OnError"}:
            found += shell(Data(value, data.labels), "JAVA_TOOL_OPTIONS")
    return found


def _go_flags(_command: Command, name: str, data: Data) -> list[Inner]:
    if name != "go":
        return []
    found: list[Inner] = []
    for text in split(data.text):
        option, equals, value = text.partition("=")
        if equals and option.lstrip("-") in {"toolexec", "exec"}:
            found += shell(Data(value, data.labels), "GOFLAGS")
    return found


def _vim_script(_command: Command, name: str, data: Data) -> list[Inner]:
    if name not in {"vim", "vi", "nvim", "ex", "view", "rvim", "gvim", "vimdiff", "rview"}:
        return []
    return [Inner(language="vim", code=data, label="VIMINIT")]


def _lua(_command: Command, name: str, data: Data) -> list[Inner]:
    if name not in {"lua", "luajit", "texlua"}:
        return []
    if data.text[:1] == "@":
        return [Inner(language="lua", path=data.text[1:], label="LUA_INIT")]
    return [Inner(language="lua", code=data, label="LUA_INIT")]


def _shell_choice(_command: Command, name: str, data: Data) -> list[Inner]:
    """``SHELL=program``: what starts a shell starts that."""
    if name not in {
        "parallel",
        "script",
        "tmux",
        "screen",
        "vim",
        "vi",
        "vipw",
        "less",
        "man",
        "watch",
        "sudo",
        "su",
        "xterm",
        "ssh",
        "scp",
        "at",
        "batch",
        "crontab",
        "fzf",
        "entr",
    }:
        return []
    if data.text.rpartition("/")[2] in _IS_SHELL | {"fish", "nu", "csh", "tcsh"}:
        return []
    return [texts([data], "SHELL")]


def _git_parameters(_command: Command, name: str, data: Data) -> list[Inner]:
    """``GIT_CONFIG_PARAMETERS="'key=value' 'key'='value'"``."""
    if name != "git":
        return []
    from .wrappers_git import run_by_setting

    found: list[Inner] = []
    for text in split(data.text):
        key, _, value = text.partition("=")
        found += run_by_setting(key, Data(value, data.labels))
    return found


def _git_exec_path(_command: Command, name: str, data: Data) -> list[Inner]:
    """A folder with programs that git runs instead of its own."""
    return [Inner(language="sh", path=f"{data.text}/git", label="GIT_EXEC_PATH")] if name == "git" else []


def _startup_folder(_command: Command, name: str, data: Data) -> list[Inner]:
    if name != "zsh":
        return []
    return [Inner(language="sh", path=f"{data.text}/{file}", label="ZDOTDIR") for file in (".zshenv", ".zshrc")]


_SPECIAL: dict[str, Special] = {
    "PS4": _prompt,
    "PS1": _prompt,
    "PS0": _prompt,
    "PERL5OPT": _perl_options,
    "PERL5DB": _perl_debugger,
    "RUBYOPT": _ruby_options,
    "NODE_OPTIONS": _node_options,
    "JAVA_TOOL_OPTIONS": _java_options,
    "_JAVA_OPTIONS": _java_options,
    "JDK_JAVA_OPTIONS": _java_options,
    "MAVEN_OPTS": _java_options,
    "GRADLE_OPTS": _java_options,
    "GOFLAGS": _go_flags,
    "VIMINIT": _vim_script,
    "EXINIT": _vim_script,
    "LUA_INIT": _lua,
    "SHELL": _shell_choice,
    "GIT_CONFIG_PARAMETERS": _git_parameters,
    "GIT_EXEC_PATH": _git_exec_path,
    "ZDOTDIR": _startup_folder,
    "TAR_OPTIONS": _own_options("tar"),
    "MAKEFLAGS": _own_options("make", "gmake"),
    "GNUMAKEFLAGS": _own_options("make", "gmake"),
    "LESS": _own_options("less"),
    "MANOPT": _own_options("man"),
    "PARALLEL": _own_options("parallel"),
    "ZIPOPT": _own_options("zip"),
}
