"""What package managers and keepers of environments run."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
npx rimraf / => rimraf /
npm exec -c 'rm x' => sh{rm x}
npm exec -- rimraf x => rimraf x
npm test => nothing
npm run x => nothing
npm config set script-shell /tmp/x => sh{/tmp/x}
pnpm exec rm x => rm x
pnpm dlx rimraf x => rimraf x
yarn dlx rimraf x => rimraf x
bun x rimraf / => rimraf /
bun -e 'code' => node{code}
uv run rm x => rm x
uv run -- python -c code => python -c code
uv run script.py a => python<script.py ['a']
uv run -m pytest => pytest
uv tool run ruff check => ruff check
uvx ruff check => ruff check
poetry run rm x => rm x
pipenv run rm x => rm x
conda run -n e rm x => rm x
nix shell nixpkgs#x -c rm y => rm y
nix develop --command bash -c 'rm x' => bash -c 'rm x'
nix-shell -p x --run 'rm x' => sh{rm x}
mise exec node@20 -- rm x => rm x
mise run build => nothing
direnv exec . rm x => rm x
op run --env-file=x -- rm y => rm y
aws-vault exec prof -- rm x => rm x
chamber exec svc -- rm x => rm x
doppler run --command 'rm x' => sh{rm x}
doppler run -- rm x => rm x
sops exec-env f 'rm x' => sh{rm x}
dotenv -e .env -- rm x => rm x
cross-env A=b rm x => [A=b] rm x
apt-get -o 'APT::Update::Pre-Invoke::=rm x' update => sh{rm x}
npx rimraf@5 x => rimraf x
npx -y @scope/pkg x => @scope/pkg x
npm run build -- --script-shell=/tmp/x => nothing
npm --script-shell=/tmp/x run build => sh{/tmp/x}
npm config set registry https://r => nothing
npm explore p -- rm x => rm x
npm install => nothing
npm exec --package=x -- y z => y z
npm x -- rimraf dist => rimraf dist
npx --no-install eslint . => eslint .
npx -p rimraf -c 'rimraf x' => sh{rimraf x}
npx --yes create-react-app a => create-react-app a
npx tsx script.ts => tsx script.ts
pnpm run build => nothing
pnpm -C d exec rm x => rm x
pnpm exec -c 'rm x | y' => sh{rm x | y}
pnpm add x => nothing
yarn exec 'rm x' => sh{rm x}
yarn exec -- rm x => rm x
yarn run build => nothing
yarn add x => nothing
bun run script.ts => node<script.ts
bun test => nothing
bunx rimraf x => rimraf x
bun exec 'rm x' => sh{rm x}
uv pip install x => nothing
uv run --with rich python -c code => python -c code
uv run -  => nothing
print() |> uv run - => python<-
uv run https://h/x.py => python{…}
uvx --from pkg tool x => tool x
uvx ruff@latest check => ruff check
pipx run black . => black .
pipx run x.py => python<x.py
poetry install => nothing
poetry run python -m pytest => python -m pytest
hatch run rm x => rm x
hatch build => nothing
pdm run rm x => rm x
rye run rm x => rm x
conda run --no-capture-output -n e python -c code => python -c code
conda install x => nothing
pixi run rm x => rm x
rustup run nightly rm x => rm x
bundle exec rm x => rm x
bundle exec rake db:drop => rake db:drop
bundle install => nothing
nix run nixpkgs#x -- y => nothing
nix build => nothing
nix-shell --command 'rm x' => sh{rm x}
guix shell p -- rm x => rm x
mise x -- rm y => rm y
asdf exec rm x => rm x
rbenv exec rm x => rm x
volta run --node 18 rm x => rm x
nvm exec 18 rm x => rm x
fnm exec --using=18 rm x => rm x
direnv allow => nothing
devbox run 'rm x' => sh{rm x}
devbox run -- rm x => rm x
dotenv run -- rm x => rm x
dotenv -f .env run rm x => rm x
cross-env-shell A=b 'rm x' => sh{A=b rm x}
infisical run --command 'rm x' => sh{rm x}
infisical run -- rm x => rm x
teller run -- rm x => rm x
chamber list svc => nothing
aws-vault list => nothing
lerna exec -- rm x => rm x
lerna run build => nothing
composer exec -- rm x => rm x
composer install => nothing
apt-get install -y x => nothing
apt-get -o Dpkg::Pre-Invoke::='rm x' install y => sh{rm x}
dpkg --pre-invoke='rm x' -i p.deb => sh{rm x}
rpm -qa => nothing
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_programs_of_packages(command, expected):
    assert inside(command) == expected
