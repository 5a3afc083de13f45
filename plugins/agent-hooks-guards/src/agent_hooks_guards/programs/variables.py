"""Variables of the environment that make a program run something: ``GIT_SSH_COMMAND``, ``PAGER``, ``BASH_ENV``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command, Inner
from agent_hooks_guards.model.values import Data

from .unwrapping import code, file, shell, split, texts

_PAGERS = "man git less systemctl journalctl psql mysql gh glab aws bat delta perldoc pydoc python ri help info go az"
_EDITORS = (
    "git crontab visudo sudoedit sudo kubectl oc vipw vigr less more mutt psql mysql hg svn gh glab edit bash zsh sh fc"
    " systemctl sops ansible-vault helm yq rails bundle npm yarn pnpm cargo poetry chezmoi pass top ipython python irb"
    " virsh nano lftp jq tig lazygit select-editor sensible-editor run-mailcap mailx mail dpkg ex vi script redis-cli"
)
_SHELLS = "bash zsh sh dash ksh mksh ash yash rbash"
# Variables whose value is a command line, or near enough, by the programs that run it.
_COMMAND_LINES: dict[str, frozenset[str]] = {
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
        ("BAT_PAGER", "bat"),
        ("EDITOR VISUAL", _EDITORS),
        ("SUDO_EDITOR", "sudo sudoedit"),
        ("SUDO_ASKPASS", "sudo"),
        ("KUBE_EDITOR KUBECTL_EXTERNAL_DIFF", "kubectl oc"),
        ("FCEDIT", "bash fc ksh zsh"),
        ("BROWSER", "aws az cargo firebase gcloud gh git man netlify npm python sensible-browser vercel xdg-open"),
        ("SSH_ASKPASS", "git rsync scp sftp ssh ssh-add"),
        ("RSYNC_RSH RSYNC_CONNECT_PROG", "rsync"),
        ("SVN_SSH SVN_EDITOR", "svn"),
        ("HGEDITOR", "hg"),
        ("LESSOPEN", "git journalctl less lesspipe man systemctl"),
        ("LESSCLOSE LESSEDIT", "less man"),
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
        ("FZF_DEFAULT_COMMAND", "fzf"),
        ("PERL5SHELL", "perl"),
    )
    for variable in variables.split()
}
_IS_SHELL = frozenset(_SHELLS.split())
_VIM = frozenset("vim vi nvim ex view rvim gvim vimdiff rview".split())
# Variables with code, or with the name of a file of code, by the programs that run it first.
_CODES = {
    "VIMINIT": ("vim", _VIM),
    "EXINIT": ("vim", _VIM),
    "PERL5DB": ("perl", frozenset(("perl",))),
    "LUA_INIT": ("lua", frozenset(("lua", "luajit"))),
}
_FILES = {
    "BASH_ENV": ("sh", frozenset(("bash", "sh"))),
    "ENV": ("sh", _IS_SHELL),
    "PYTHONSTARTUP": ("python", frozenset(("python",))),
    "GIT_CONFIG_GLOBAL": ("gitconfig", frozenset(("git",))),
}
# Variables with options that are put before those on the command line.
_OPTIONS = {
    "TAR_OPTIONS": "tar",
    "MAKEFLAGS": "make",
    "GNUMAKEFLAGS": "make",
    "LESS": "less",
    "MANOPT": "man",
    "PARALLEL": "parallel",
    "ZIPOPT": "zip",
    "NODE_OPTIONS": "node",
    "PERL5OPT": "perl",
}
_NODE = frozenset("npm npx yarn pnpm tsx ts-node next jest vite eslint tsc webpack".split())
# Programs that start the shell of the variable `SHELL`.
_SHELL_STARTERS = frozenset(
    "parallel script tmux screen vim vi vipw less man watch sudo su xterm ssh scp at batch crontab fzf entr".split()
)


def run_by_variables(command: Command, name: str) -> list[Inner]:
    """Return the programs that the variables set for ``command``, which is called ``name``, make it run."""
    found: list[Inner] = []
    for variable, data in command.assignments.items():
        text = data.text
        if not text:
            continue
        if name in _COMMAND_LINES.get(variable, ()):
            found += shell(Data(text.lstrip("|-"), data.labels) if "LESS" in variable else data, variable)
        elif variable in _FILES and name in _FILES[variable][1] and text != "/dev/null":
            found.append(Inner(language=_FILES[variable][0], path=text, label=variable))
            found += _prompt(data, variable) if _FILES[variable][0] == "sh" else []
        elif variable in _CODES and name in _CODES[variable][1]:
            language = _CODES[variable][0]
            found.append(file(language, text[1:], variable) if text[0] == "@" else code(language, data, variable))
        elif name in _IS_SHELL:
            found += _of_shell(variable, data, name)
        elif variable == "RUBYOPT" and name in {"ruby", "gem", "bundle", "rake", "irb", "rails"}:
            scripts = [each[2:] for each in split(text) if each[:2] == "-r" and "/" in each]
            found += [file("ruby", path, variable) for path in scripts]
        elif variable == "SHELL" and name in _SHELL_STARTERS and text.rpartition("/")[2] not in _IS_SHELL | {"fish"}:
            found.append(texts([data], variable))
    return found + (_settings_of_git(command) if name == "git" else [])


def _of_shell(variable: str, data: Data, name: str) -> list[Inner]:
    """Return the programs that a variable makes a shell run before anything else."""
    if variable in ("PS0", "PS1", "PS4"):
        return _prompt(data, variable)
    if variable.startswith("BASH_FUNC_") and data.text.lstrip().startswith("()"):
        return shell(Data(f"f {data.text}\nf", data.labels), variable)
    if variable == "ZDOTDIR" and name == "zsh":
        return [Inner(language="sh", path=f"{data.text}/{each}", label=variable) for each in (".zshenv", ".zshrc")]
    return []


def _prompt(data: Data, variable: str) -> list[Inner]:
    """Return the substitutions in a prompt, which run before it is shown."""
    if "$(" not in data.text and "`" not in data.text:
        return []
    return shell(Data(': "' + data.text.replace('"', '\\"') + '"', data.labels), variable)


def options_in_variables(command: Command, name: str) -> list[Command]:
    """Return the command with the options that each variable puts before those on its command line."""
    found = []
    for variable, data in command.assignments.items():
        program = _OPTIONS.get(variable)
        if program is None or not (name == program or (program == "node" and name in _NODE)):
            continue
        added = split(data.text)
        labels = dict.fromkeys(range(1, len(added) + 1), data.labels) if data.labels else {}
        words = [program, *added, *(command.argv[1:] if name == program else [])]
        found.append(Command(program, words, labels, stdin=command.stdin, cwd=command.cwd))
    return found


def _settings_of_git(command: Command) -> list[Inner]:
    """``GIT_CONFIG_KEY_0``, ``GIT_CONFIG_PARAMETERS="'key=value'"`` and ``GIT_EXEC_PATH``."""
    from .git import run_by_setting

    found: list[Inner] = []
    for variable, data in command.assignments.items():
        if variable.startswith("GIT_CONFIG_KEY_"):
            value = command.assignments.get(f"GIT_CONFIG_VALUE_{variable[15:]}", Data())
            found += run_by_setting(data.text, value)
        elif variable == "GIT_CONFIG_PARAMETERS":
            for text in split(data.text):
                key, _, value_text = text.partition("=")
                found += run_by_setting(key, Data(value_text, data.labels))
        elif variable == "GIT_EXEC_PATH" and data.text:
            found.append(Inner(language="sh", path=f"{data.text}/git", label=variable))
    return found
