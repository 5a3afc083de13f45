"""Shell commands: those that the gate is there for, and those that it must never be in the way of."""

from __future__ import annotations

import pytest

TRUSTING = r"""
agent-hooks trust
agent-hooks trust .
agent-hooks trust --digest sha256:0 .
agent-hooks trust --show --digest sha256:0 .
agent-hooks untrust
agent-hooks allow something
agent-hooks uninstall claude-code
agent-hooks doctor --ignore 3f2a91c0ffee
agent-hooks doctor --ignore=3f2a91c0ffee
/usr/local/bin/agent-hooks trust .
./.venv/bin/agent-hooks trust
~/.local/bin/agent-hooks trust
agent-hooks.exe trust
AGENT_HOOKS_CONFIG_DIR=/tmp/x agent-hooks trust .
yes | agent-hooks trust
env agent-hooks trust
env -i HOME=/root PATH=/bin agent-hooks trust
sudo -u someone agent-hooks trust
nohup agent-hooks trust &
timeout 10 agent-hooks trust
python -m agent_hooks trust
python3 -m agent_hooks.cli.main trust
python3 -magent_hooks trust
python3.12 -I -m agent_hooks untrust
python src/agent_hooks/cli/main.py trust
uvx --from agent-hooks-core agent-hooks trust
uvx agent-hooks@latest trust
uv run agent-hooks trust
uv tool run agent-hooks trust
pipx run --spec agent-hooks-core agent-hooks trust
poetry run agent-hooks trust
sh -c 'agent-hooks trust .'
bash -lc "cd /tmp && agent-hooks trust ."
bash -c "bash -c 'agent-hooks trust'"
eval agent-hooks trust
eval "agent-hooks trust"
exec agent-hooks trust
su -c 'agent-hooks trust' someone
script -qc 'agent-hooks trust' /dev/null
tmux new-session -d 'agent-hooks trust'
tmux send-keys agent-hooks Space trust Enter
ssh localhost 'agent-hooks trust'
echo $(agent-hooks trust)
echo "$(agent-hooks trust)"
echo `agent-hooks trust`
echo "`agent-hooks trust`"
cat <(agent-hooks trust)
ls && agent-hooks trust
ls; agent-hooks trust
false || agent-hooks trust
true | agent-hooks trust
(agent-hooks trust)
{ agent-hooks trust; }
if true; then agent-hooks trust; fi
for x in 1; do agent-hooks trust; done
! agent-hooks trust
time agent-hooks trust
agent-hooks \
  trust
"agent-hooks" "trust"
agent-"hooks" tr'us't
\agent-hooks trust
$'agent\x2dhooks' trust
A=agent-hooks; $A trust
T=trust; agent-hooks $T
agent-hooks {trust,.}
echo 'agent-hooks trust' | sh
printf 'agent-hooks trust\n' | bash -s
echo trust | xargs agent-hooks
echo 'agent-hooks trust' | xargs -I{} sh -c '{}'
bash <<< 'agent-hooks trust'
find . -maxdepth 0 -exec agent-hooks trust {} \;
git -c alias.x='!agent-hooks trust' x
git config alias.x '!agent-hooks trust'
git rebase --exec 'agent-hooks trust' main
vim -c ':!agent-hooks trust' README.md
trap 'agent-hooks trust' EXIT
python -c "import os; os.system('agent-hooks trust')"
python -c "import subprocess; subprocess.run(['agent-hooks', 'trust', '.'])"
python -c "from agent_hooks.trust import TrustStore; TrustStore().trust(p)"
node -e "require('child_process').execSync('agent-hooks trust')"
perl -e 'system("agent-hooks trust")'
awk 'BEGIN{system("agent-hooks trust")}'
sudo -u test agent-hooks trust
uv run --group test agent-hooks trust
docker exec web agent-hooks trust
agent-hooks trust; echo "not closed
ah() { agent-hooks "$@"; }; ah trust
agent-hooks $(echo trust)
git bisect run agent-hooks trust
git commit -m "`agent-hooks trust`"
cat <(sh -c "agent-hooks trust")
sh -c "cat x | xargs -n1 agent-hooks trust"
pip uninstall -y agent-hooks-core
pip3 uninstall agent_hooks_core
python -m pip uninstall -y agent-hooks-core
uv pip uninstall agent-hooks-core
uv remove agent-hooks-core
uv tool uninstall agent-hooks-core
pipx uninstall agent-hooks-core
poetry remove agent-hooks-guards
python -c "import pip; pip.main(['uninstall', '-y', 'agent-hooks-core'])"
$(which agent-hooks) trust --digest sha256:0
"$(command -v agent-hooks)" trust .
`which agent-hooks` trust
"`which agent-hooks`" trust
$(type -P agent-hooks) untrust
python -c 'from agent_hooks.cli.main import main; main()' trust --digest sha256:0
python -c "import runpy; runpy.run_module('agent_hooks.cli.main', run_name='__main__')" trust
python -c "import sys; sys.argv=['x','trust']; from agent_hooks.cli.main import main; main()"
python -c "from importlib.metadata import entry_points; entry_points(name='agent-hooks')['agent-hooks'].load()()" trust
python -c "import subprocess, shutil; subprocess.run([shutil.which('agent-hooks'), 'trust'])"
python -c "import subprocess; c='agent-hooks'; subprocess.run([c, 'trust'])"
x=$(which agent-hooks); $x trust
x="$(which agent-hooks)"; "$x" trust
x=`which agent-hooks`; ${x} trust
read x <<< agent-hooks; $x trust
read -r x < <(which agent-hooks); "$x" trust
printf -v x agent-hooks; $x trust
set -- agent-hooks trust; "$@"
a=(agent-hooks trust); "${a[@]}"
alias t='agent-hooks trust'; t
alias ah=agent-hooks; ah trust
t() { $(which agent-hooks) "$@"; }; t trust
function t { agent-hooks "$@"; }; t trust
bash <(echo agent-hooks trust)
bash < <(echo agent-hooks trust)
source <(echo agent-hooks trust)
. <(printf 'agent-hooks trust\n')
source /dev/stdin <<< 'agent-hooks trust'
bash /dev/stdin <<< 'agent-hooks trust'
bash - <<< 'agent-hooks trust'
python - x <<< "import os; os.system('agent-hooks trust')"
python <(echo "import os; os.system('agent-hooks trust')")
eval "$(echo agent-hooks trust)"
eval $(printf 'agent-hooks trust')
bash -c "$(echo agent-hooks trust)"
$(echo agent-hooks trust)
$(echo agent-hooks) trust
$(printf 'agent-%s' hooks) trust
at now <<< 'agent-hooks trust'
echo 'agent-hooks trust' | at now + 1 minute
batch <<< 'agent-hooks trust'
echo '* * * * * agent-hooks trust' | crontab -
systemd-run --user agent-hooks trust
tmux send-keys 'agent-hooks trust' Enter
screen -S x -X stuff $'agent-hooks trust\n'
echo agent-hooks trust | sudo -s
sudo -s <<< 'agent-hooks trust'
su <<< 'agent-hooks trust'
script -q /dev/null <<< 'agent-hooks trust'
expect <<< 'spawn agent-hooks trust'
make -f - <<< 'x:; agent-hooks trust'
command -v agent-hooks | xargs -I{} {} trust
which agent-hooks | xargs -I@ sh -c '@ trust'
which agent-hooks | while read -r p; do $p trust; done
sudo $(which agent-hooks) trust
env X=1 "$(which agent-hooks)" trust
nohup $(which agent-hooks) trust &
${X:-agent-hooks} trust
/usr/bin/agent-h?oks trust
~/.local/bin/agent-h* trust
ln -s $(which agent-hooks) /tmp/ah
ln -s ~/.local/bin/agent-hooks /tmp/ah
cp "$(command -v agent-hooks)" ./x
mv .venv/bin/agent-hooks .venv/bin/x
hash -p $(which agent-hooks) x
nix run nixpkgs#agent-hooks -- trust
python -m pdb -m agent_hooks.cli.main trust
python .venv/lib/python3.12/site-packages/agent_hooks/cli/commands.py trust
: $((1<<2)); $(which agent-hooks) trust
agent-hooks trust --show $(echo --digest sha256:0)
& (Get-Command agent-hooks) trust
"$AH" trust --digest sha256:0
xargs agent-hooks <<< trust
x='agent-hooks trust'; $x
x='agent-hooks trust'; sudo $x
echo trust | xargs "$(which agent-hooks)"
PROMPT_COMMAND='agent-hooks trust' bash -i
GIT_EDITOR='agent-hooks trust;' git commit
EDITOR="agent-hooks trust" crontab -e
vim +'!agent-hooks trust' README.md
ssh -o ProxyCommand='agent-hooks trust' x
perl -e '$x="agent-hooks"; system($x, "trust")'
awk 'BEGIN{c="agent-hooks"; system(c " trust")}'
xargs -I{} {} trust < <(which agent-hooks)
for x in $(which agent-hooks); do "$x" trust; done
if x=$(which agent-hooks); then $x trust; fi
[ -x "$(which agent-hooks)" ] && $_ trust
cd $(dirname $(which agent-hooks)) && ./agent-hooks trust
(cd /usr/bin; ./agent-hooks trust)
"$(dirname "$(which python)")"/agent-hooks trust
$(dirname $(which python))/agent-hooks trust
"$VIRTUAL_ENV"/bin/agent-hooks trust
${VENV:-.venv}/bin/agent-hooks trust
python3 -c "import os; os.execvp('agent-hooks', ['agent-hooks', 'trust'])"
yes | $(which agent-hooks) trust
cmd /c agent-hooks trust
pwsh -c "agent-hooks trust"
"""

TRUSTING_IN_LINES = (
    "ls\nagent-hooks trust\n",
    "# only a comment\nagent-hooks trust",
    "bash <<EOF\nagent-hooks trust\nEOF",
    "bash <<EOF\nagent-hooks trust",
    "cat <<EOF | sh\nagent-hooks trust .\nEOF",
    "cat <<EOF\n$(agent-hooks trust)\nEOF",
    "python - <<'EOF'\nimport os\nos.system('agent-hooks trust')\nEOF",
    "cat <<'EOF' > notes.md\nit's fine\nEOF\nagent-hooks trust",
    "echo it\\'s; agent-hooks trust",
    "x=$(cat <<'EOF'\nagent-hooks\nEOF\n)\n$x trust",
    "python - x <<'EOF'\nimport os\nos.system('agent-hooks trust')\nEOF",
    "python - trust <<'EOF'\nfrom agent_hooks.cli.main import main\nmain()\nEOF",
    "python - <<'EOF'\nimport subprocess\nname = 'agent-hooks'\nsubprocess.run([name, 'trust'])\nEOF",
    "at now <<EOF\nagent-hooks trust\nEOF",
    "sudo sh -s x <<EOF\nagent-hooks trust\nEOF",
)

WRITING = r"""
echo x > hookconf.py
echo x >> hookconf.py
echo x >hookconf.py
echo x >| hookconf.py
echo x &> hookconf.py
ls 2> hookconf.py
: > new/folder/hookconf.py
> agent-hooks.toml
echo '{}' > .claude/settings.json
echo '{}' > .claude/settings.local.json
echo '{}' > other/.claude/settings.json
echo '{}' > ~/.claude/settings.json
echo '{}' > $HOME/.claude/settings.json
echo '{}' > "${HOME}/.config/agent-hooks/agent-hooks.toml"
cd .claude && echo '{}' > settings.json
cd ~/.config && rm -rf agent-hooks
pushd ~/.config/agent-hooks; rm -rf *
(cd .claude; touch settings.local.json)
D=.claude; echo '{}' > $D/settings.json
export D=.claude; echo '{}' > ${D}/settings.json
F=hookconf.py; rm $F
for f in hookconf.py; do rm "$f"; done
echo x > $(echo hookconf.py)
echo x > "$(git rev-parse --show-toplevel)/hookconf.py"
echo x > ${X:-hookconf.py}
echo x | tee hookconf.py
echo x | tee -a README.md hookconf.py
echo x | sudo tee /etc/agent-hooks/agent-hooks.toml
cat > >(tee hookconf.py)
cp /tmp/x hookconf.py
cp /tmp/x/hookconf.py .
cp /tmp/x/hookconf.py src/
cp -t . /tmp/x/hookconf.py
cp --target-directory=.claude /tmp/settings.json
cp template/* .
cp -r template/. .
cp -r template/.claude .
cp -r template/agent-hooks ~/.config
install -m 644 /tmp/x hookconf.py
rsync -a template/ .
scp host:x hookconf.py
mv /tmp/x hookconf.py
mv hookconf.py hookconf.bak
mv hookconf.py /tmp
mv .claude .claude-off
mv ~/.config /tmp
mv hooks hooks-off
mv /tmp/claude .claude.
rm hookconf.py
rm -f -- hookconf.py
rm -rf .claude
rm -rf .claude/
rm -rf ~/.config/agent-hooks
rm -rf ~/.config
rm -rf ~/.local/state/agent-hooks
rm -rf hooks
rm hook*.py
rm hookconf.{py,bak}
rm *.py
rm ./HookConf.PY
unlink hookconf.py
shred -u hookconf.py
ln -s /tmp/evil.py hookconf.py
ln -sf /tmp/evil.json .claude/settings.json
ln hookconf.py notes2.txt
ln -s ~/.config/agent-hooks a
ln hooks/check.py x.py
mv -t /tmp .claude
mv -t /tmp hookconf.py
cp -rt . /tmp/x/hookconf.py
rsync -t /tmp/x hookconf.py
curl -sSLO https://example.com/hookconf.py
dd if=/dev/zero of=hookconf.py
truncate -s 0 hookconf.py
touch hookconf.py
touch package/agent-hooks.toml
chmod 000 hookconf.py
chmod -x hooks/check.py
chown nobody hookconf.py
sed -i s/deny/allow/ hookconf.py
sed -i.bak -e s/deny/allow/ hookconf.py
sed -Ei 's/deny/allow/' .claude/settings.json
sed --in-place s/a/b/ hookconf.py
sed -n 'w hookconf.py' README.md
perl -i -pe s/deny/allow/ hookconf.py
perl -pi -e 's/deny/allow/' hookconf.py
ruby -i -pe '$_.upcase!' hookconf.py
gawk -i inplace '{print}' hookconf.py
awk '{print > "hookconf.py"}' README.md
patch hookconf.py fix.diff
patch -p1 < bad.patch
patch -p1 -i bad.patch
git apply bad.patch
git apply < bad.patch
git diff x -- hookconf.py | patch -p1 hookconf.py
git checkout main -- hookconf.py
git checkout HEAD~3 .claude/settings.json
git checkout main -- .claude
git restore hookconf.py
git restore --source=main hookconf.py
git restore --staged --worktree hookconf.py
git stash push hookconf.py
git stash -- hookconf.py
git clean -fd .claude
git clean -f hookconf.py
git rm hookconf.py
git mv hookconf.py x.py
git mv x.py hookconf.py
git -C .claude checkout settings.json
git --no-pager checkout main hookconf.py
git show main:hookconf.py > hookconf.py
git checkout main -- :/hookconf.py
python -c "open('hookconf.py', 'w').write('')"
python3 -c 'import os; os.remove("hookconf.py")'
python -c "import pathlib; pathlib.Path('.claude/settings.json').write_text('{}')"
python -c "import pathlib; (pathlib.Path('.claude') / 'settings.json').unlink()"
python -c "import shutil; shutil.rmtree('.claude')"
python -c "from agent_hooks.system.folders import config_dir; import shutil; shutil.rmtree(config_dir())"
python -c "from pathlib import Path; (Path.home() / '.config' / 'agent-hooks' / 'x').touch()"
python -c "__import__('os').system('rm hookconf.py')"
python -c "open('hookconf.py', 'w')" -m x
python -W ignore -m black hookconf.py
python -c "exec=exec; exec(open('hookconf.py').read())"
python -c "print(fr'{open(chr(119)).unlink(chr(104))}', 'hookconf.py')"
node -e "require('fs').writeFileSync('hookconf.py', '')"
ruby -e "File.delete('hookconf.py')"
perl -e 'unlink "hookconf.py"'
php -r 'unlink("hookconf.py");'
echo "open('hookconf.py','w')" | python
find . -name hookconf.py -delete
find . -name hookconf.py -exec rm {} \;
find . -name 'hookconf*' -exec rm {} +
find .claude -type f -delete
find . -name hookconf.py | xargs rm
ls hookconf.py | xargs -n1 sed -i s/a/b/
git ls-files | grep hookconf | xargs rm -f
echo hookconf.py | parallel rm
curl -o hookconf.py https://example.com/x
curl -sSfLo hookconf.py https://example.com/x
curl -O https://example.com/hookconf.py
wget https://example.com/hookconf.py
wget -O .claude/settings.json https://example.com/x
tar xf evil.tar hookconf.py
tar -xf evil.tar -C .claude
unzip evil.zip hookconf.py
gzip hookconf.py
sort -o hookconf.py README.md
ed hookconf.py
ex -sc '1d|x' hookconf.py
black hookconf.py
python -m black hookconf.py
ruff format hookconf.py
ruff check --fix hookconf.py
npx prettier --write .claude/settings.json
taplo fmt agent-hooks.toml
yq -i '.x = 1' agent-hooks.toml
sh -c 'echo x > hookconf.py'
bash -c "rm -rf .claude"
eval "echo x > hookconf.py"
sudo rm hookconf.py
sudo -u test rm hookconf.py
python -mblack hookconf.py
cat x | tee >(cat > hookconf.py)
env -C .claude rm settings.json ../hookconf.py
vim -c ':!rm hookconf.py' README.md
F=hook; echo x > ${F}conf.py
sudo -n env X=1 rm hookconf.py
command rm hookconf.py
busybox rm hookconf.py
ls hookconf.py | while read -r f; do rm "$f"; done
F=$(ls hookconf.py); rm "$F"
F=hookconf.py.bak; cp x ${F%.bak}
for f in a.py hookconf.py; do sed -i s/a/b/ $f; done
sh -c 'rm "$1"' _ hookconf.py
sh -c 'for f in $(ls hookconf.py); do rm $f; done'
find . -name hookconf.py -exec sh -c 'rm "$1"' _ {} \;
find . -name '*.py' -delete
find .claude -name '*.json' -delete
find ~/.config -delete
find "$HOME" -type f -print0 | xargs -0 rm -f
echo 'rm hookconf.py' | sh
echo 'rm hookconf.py' | xargs -I{} sh -c '{}'
docker run -v .:/w alpine sh -c 'rm /w/hookconf.py'
mkdir ~/.config/agent-hooks/plugins
echo {} > notes.txt
tee notes.txt
echo x > shortcut/agent-hooks.toml
rm -rf shortcut/trust
cp x src/../hookconf.py
echo x > ./src/./../hookconf.py
echo x > hookconf.py.
echo x > .CLAUDE/Settings.JSON
echo x > hook""conf.py
echo x > 'hookconf'.py
echo x > hook\conf.py
echo x > $'hookconf\x2epy'
echo x > $'hook\143onf.py'
{ sh; } <<< 'rm hookconf.py'
a=(rm hookconf.py .); "${a[@]}"
a=(bash -c 'rm hookconf.py'); "${a[@]}"
a=(rm); a+=(hookconf.py); "${a[@]}"
a=(rm); a[1]=hookconf.py; "${a[@]}"
a=(x hookconf.py); rm "${a[1]}"
a=(hookconf.py x); for each in "${a[@]}"; do rm "$each"; done
declare -A a=([x]=hookconf.py); rm "${a[x]}"
eval '{ python3 -c "open('"'"'hookconf.py'"'"','"'"'w'"'"')"; }'
echo 'rm hookconf.py' | { cat; sh; }
coproc X { rm hookconf.py; }
[[ -n $(rm hookconf.py) ]]
echo x > hookconf.py; cat <<< "it's
apply_patch '*** Update File: hookconf.py'
sed -i 's/closed/open/' pyproject.toml
echo '[tool.agent_hooks]' >> package/pyproject.toml
cp template/table.toml package/pyproject.toml
cp package/pyproject.toml .
mv pyproject.toml old.toml
rm pyproject.toml
git checkout main -- pyproject.toml
python -c "open('pyproject.toml','a').write('x')"
sed -i 's/^hooks:/x:/' skills/guarded/SKILL.md
echo x > skills/guarded/SKILL.md
rm .claude/agents/guard.md
sed -i 's/^name/hooks: {}\nname/' skills/plain/SKILL.md; printf 'hooks:\n' >> skills/plain/SKILL.md
$(echo rm) hookconf.py
$(echo rm hookconf.py)
find . -name settings.json -delete
find . -name 'set*.json' -delete
find . -path '*/.claude/*' -delete
find . -name settings.json -exec rm {} +
find . -name settings.json | xargs rm
git clone https://x/y ~/.claude
git clone https://x/.claude
git clone git@x:y/.claude.git
git worktree add .claude main
gh repo clone x/y .claude
unzip x.zip -d ~/.claude
unzip x.zip -d .claude
7z x evil.7z -o.claude
tar xf x.tar --directory .claude
cp -r template/.claude ~
cp -r template/. ~
cp -r not-there-yet/.claude ~
mv not-there-yet/.claude ~
rsync -a template/.claude/ ~/.claude/
rsync -a host:evil/ ~/.claude/
git clone --depth 1 https://example.com/x.git ~/.config/agent-hooks
git submodule add https://example.com/x .claude
cd ~ && git clone https://example.com/.claude
cd /tmp && cp -r evil ~/.claude
unzip -o evil.zip -d ~/.config/agent-hooks
tar xzf evil.tgz -C ~/.claude
bsdtar -xf evil.zip -C .claude
find .claude -name settings.json -exec mv {} /tmp \;
find ~ -name settings.json -delete
find . -iname 'SETTINGS.*' -delete
rm $(echo -f) hookconf.py
rm `echo -f` hookconf.py
python - x <<< "open('hookconf.py', 'w')"
python <(echo "open('hookconf.py', 'w')")
bash <(echo rm hookconf.py)
alias x='rm hookconf.py'; x
x='rm hookconf.py'; $x
"""

WRITING_IN_LINES = (
    "cat > hookconf.py <<EOF\nx\nEOF",
    "cat <<EOF > hookconf.py\nx\nEOF",
    "cat <<'EOF' >> .claude/settings.json\n{}\nEOF",
    "tee hookconf.py <<-EOF\n\tx\n\tEOF",
    "python3 <<EOF\nopen('hookconf.py', 'w')\nEOF",
    "python - <<'EOF'\nfrom pathlib import Path\nPath('hookconf.py').unlink()\nEOF",
    "patch -p1 <<EOF\n--- a/hookconf.py\n+++ b/hookconf.py\n@@ -1 +1 @@\n-x\n+y\nEOF",
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: hookconf.py\n@@\n-x\n+y\n*** End Patch\nEOF",
    "eval \"$(cat <<'EOF'\nrm hookconf.py\nEOF\n)\"",
    'git commit -m "$(cat <<EOF\n$(rm hookconf.py)\nEOF\n)"',
    "while read f; do rm $f; done <<EOF\nhookconf.py\nEOF",
    "python -c \"import pathlib; pathlib.Path('hookconf.py').\uff55nlink()\"",
    "ls\nrm hookconf.py",
    "if true\nthen\n  rm hookconf.py\nfi",
    "cat <<EOF > package/pyproject.toml\n[tool.agent_hooks]\nEOF",
    "cat <<EOF > skills/plain/SKILL.md\n---\nhooks:\n  Stop: []\n---\nEOF",
)

HONEST = r"""
ls -la
git status
git diff
git diff hookconf.py
git diff -w .claude/settings.json
git log -p -- hookconf.py
git add hookconf.py .claude/settings.json agent-hooks.toml
git add -A && git commit -m "hookconf.py: deny rm -rf"
git commit -m "Document agent-hooks trust"
git commit -m "rm hookconf.py > see agent-hooks trust"
git show main:hookconf.py
git show main:hookconf.py > /tmp/old.py
git checkout -b hookconf-docs
git checkout main
git checkout -- src/app.py
git restore --staged hookconf.py
git reset hookconf.py
git rm --cached hookconf.py
git stash
git stash pop
git clean -fdx build
git push origin main
git apply good.patch
git blame hookconf.py
git grep "agent-hooks trust"
git mv src/app.py src/main.py
git log --grep '>' hookconf.py
patch -p1 < good.patch
cat hookconf.py
cat hookconf.py | head -20
cat .claude/settings.json | jq .hooks
jq -r '.hooks | keys' .claude/settings.json
head -n 5 agent-hooks.toml
wc -l hookconf.py
less hookconf.py
grep -rn "deny" hookconf.py .claude/settings.json
grep -rn 'agent-hooks trust' docs
grep -n ">" hookconf.py
grep -rl hookconf . | sort
rg agent-hooks trust.md
rg "echo x > hookconf.py" docs
diff hookconf.py /tmp/old.py
diff -u .claude/settings.json /tmp/x.json > /tmp/changes.diff
sha256sum hookconf.py
stat hookconf.py
ls -l .claude/ && ls ~/.config/agent-hooks
find . -name hookconf.py
find . -name hookconf.py -print0
find . -name '*.pyc' -delete
find . -name '*.orig' -exec rm {} \;
find . -name '*.pyc' -o -name '*.orig' -delete
find . -type f -mtime +30 -delete
find .claude -name '*.bak' -delete
xargs rm < list.txt; cat hookconf.py
rm -f "$1" "$2" # but not hookconf.py
cp "$SRC" build/ && git commit -m "hookconf.py: stricter"
f=$(mktemp); echo x > $f; git commit -m "hookconf.py is stricter"
sed -i '$d' README.md && cat hookconf.py
sed -i -e 's/hookconf$/x/' -e '$p' README.md
perl -pi -e 's/hookconf\.py$/x/' README.md
for f in src/*.py; do cp $f /tmp; done; cat hookconf.py
find src -name '*.py' | xargs sed -i s/a/b/ && cat hookconf.py
find . -name '*.py' | xargs grep -n deny
sed -n 1,20p hookconf.py
sed 's/a/b/' hookconf.py
sed -n '/deny/p' .claude/settings.json
awk '/deny/ {print $1}' hookconf.py
awk '/hookconf.py/ {print NR": "$0}' README.md
perl -ne 'print if /deny/' hookconf.py
test -f hookconf.py && echo yes
[ -e .claude/settings.json ] || echo none
python hookconf.py
python -m py_compile hookconf.py
python -m json.tool .claude/settings.json
python -m pytest -q tests/test_hookconf.py
pytest hookconf.py -q 2>&1 | tail -5
mypy hookconf.py
ruff check hookconf.py
ruff format --check hookconf.py
ruff format src
black --check hookconf.py
black --diff hookconf.py
npx prettier --check .claude/settings.json
python -c "import json; print(json.load(open('.claude/settings.json'))['hooks'])"
python -c "import ast; ast.parse(open('hookconf.py').read())"
python3 -c "import tomllib; print(tomllib.load(open('pyproject.toml', 'rb'))['project']['version'])"
node -e "console.log(require('./.claude/settings.json').hooks)"
node -p "Object.keys(JSON.parse(fs.readFileSync('.claude/settings.json', 'utf8')))"
python -c "import agent_hooks; print(agent_hooks.__name__)"
python -c "from agent_hooks.folders import config_dir; print(config_dir())"
python -c "print('agent-hooks')" > out.txt
agent-hooks check PreToolUse --tool Bash --arg command=ls
agent-hooks check PreToolUse --tool Bash --arg 'command=agent-hooks trust'
agent-hooks plugins
agent-hooks events --json
agent-hooks doctor
agent-hooks doctor --json
agent-hooks demo --recorded
agent-hooks schema > /tmp/schema.json
agent-hooks run --agent claude-code < event.json
agent-hooks trust --show
agent-hooks trust --diff .
agent-hooks trust --help
agent-hooks --help
python -m agent_hooks check PreToolUse --tool Bash
uvx --from agent-hooks-core agent-hooks check PreToolUse
AGENT_HOOKS_DISABLE=guards pytest -q
export AGENT_HOOKS_CONFIG_DIR=/tmp/config
AGENT_HOOKS_STATE_DIR=/tmp/s agent-hooks plugins
pip install agent-hooks-core
pip install -e '.[dev]' && pip show agent-hooks-core
uv pip install --upgrade agent-hooks-core
uv add agent-hooks-core
pip uninstall -y requests
pip uninstall -y pytest-hooks
which agent-hooks
echo "Run agent-hooks trust in a terminal"
echo agent-hooks trust is for people
echo 'see hookconf.py' >> README.md
printf '%s\n' "agent-hooks trust" > docs.txt
gh pr create --title "Add hookconf.py" --body "Then run agent-hooks trust; rm hookconf.py undoes it"
gh issue list --search "agent-hooks trust"
curl -s https://example.com/hookconf.py
curl -s https://example.com/x -o /tmp/x
curl -d '{"text": "rm hookconf.py"}' https://example.com
wget -q https://example.com/data.json
wget -q https://example.com/
cd "$(git rev-parse --show-toplevel)" && rm -rf build
echo "not closed; rm x
cp hookconf.py /tmp/backup.py
cp .claude/settings.json /tmp/backup.json
cp -r . /tmp/copy
cp -r src/. /tmp/out
cp -r build/* .
cp README.md docs/
cp -r template/.claude/settings.json /tmp/settings-copy.json
rsync -a . host:backup
tar czf backup.tgz hookconf.py .claude
tar xzf data.tgz
tar -xf data.tar -C build
rm -rf build dist
rm -rf src/__pycache__ .pytest_cache
rm -f *.log
rm *.txt.bak
rm -rf .claude/worktrees/old
rm .claude/settings.json.bak
rm hooks/notes.md
mv src/app.py src/main.py
mv hooks/notes.md docs/
mkdir -p .claude/commands
mkdir .claude
mkdir -p src/hooks
touch src/hooks.py
touch .claude/commands/review.md
echo x > .claude/commands/review.md
echo x > tests/test_hookconf.py
echo x > my_hookconf.py
echo x > .vscode/settings.json
echo '{}' > settings.json
echo x > src/settings.local.json
mkdir -p .vscode && echo '{}' > .vscode/settings.json
cd .claude && cat settings.json
(cd .claude && ls); echo '{}' > settings.json
sed -i 's/a/b/' src/app.py
sed -i 's#hookconf.py#conftest.py#' README.md
sed -i 's/agent-hooks trust now/x/' README.md
sed -i 's/^version = .*/version = "2"/' package/pyproject.toml
echo '[tool.x]' >> package/pyproject.toml
cp /tmp/x package/pyproject.toml
git checkout -- package/pyproject.toml
grep -n version pyproject.toml
cat pyproject.toml > /tmp/p.toml
uv add httpx
poetry version patch
pip install -e .
sed -i 's/Steps/Stages/' skills/plain/SKILL.md
cat skills/guarded/SKILL.md
rm -rf skills/plain
chmod +x scripts/run.sh
chmod -R u+w .
ln -s ../src lib
ln -s .. up
ln -s .claude c
tar xzf data.tgz -C ..
cp -t /tmp/backup hookconf.py.bak README.md
mv -t docs README.md
rsync -rt src/ docs/
cd - && rm -rf .config
env EDITOR=/usr/bin/vim git commit hookconf.py
git grep -e agent-hooks -e trust
git log agent-hooks trust
agent-hooks "$@"
python tool.py -mode hookconf.py
docker build -t x . && docker run --rm x pytest
docker compose up -d
npm install && npm run build
npm run lint -- --fix src
make clean all
cargo build 2>/dev/null
cat hookconf.py 2>/dev/null
ls hookconf.py > /dev/null 2>&1
pytest -q > /tmp/out.txt 2>&1; tail -3 /tmp/out.txt
for f in src/*.py; do sed -i 's/a/b/' $f; done
while read f; do rm "$f"; done < list.txt
git ls-files '*.py' | xargs sed -i 's/a/b/'
find src -name '*.py' | xargs black
ls | xargs -n1 echo rm
[[ a > b ]] && echo x
echo $((1 > 0))
x=$(cat hookconf.py | wc -l); echo $x > /tmp/count
cat <<< "echo x > hookconf.py"
sh scripts/install.sh
bash -c 'cat hookconf.py'
bash -c "pytest -q && git status"
sudo cat /etc/agent-hooks/agent-hooks.toml
tmux new-session -d 'pytest -q'
git commit -m 'Say `agent-hooks trust` and $(rm hookconf.py) in the docs'
git commit -m "Say \`agent-hooks trust\` in the docs"
echo '$(agent-hooks trust)'
xargs -n1 grep -l deny hookconf.py < list.txt
sudo -u postgres psql -c "select 'hookconf.py'"
EMPTY=; rm -f $EMPTY
rm -f ''
tar -czf /tmp/x.tgz --exclude=.claude .
kubectl apply -f deploy.yaml
npm config set x y
# rm hookconf.py; agent-hooks trust
ls # don't rm hookconf.py
tee out.log
dd if=hookconf.py of=/tmp/copy.py
sort hookconf.py
type agent-hooks; command -v agent-hooks
code hookconf.py
grep -rn "agent-hooks trust" docs README.md
grep -rl "agent-hooks trust" docs | xargs sed -i s/a/b/
grep -rl 'agent-hooks' docs | xargs wc -l
git grep -n "agent-hooks trust" | head
git grep -l agent-hooks | xargs grep -n trust
rg -n 'agent-hooks (un)?trust' docs
git log --oneline --grep='agent-hooks trust'
git commit -am "docs: explain agent-hooks trust"
git commit -m "$(echo agent-hooks trust is documented)"
git commit -m 'agent-hooks trust: refuse under an agent' -m 'agent-hooks untrust, too'
git tag -a v1 -m "agent-hooks trust"
git notes add -m "agent-hooks trust"
git checkout -b agent-hooks-trust
git worktree add ../agent-hooks-trust main
git clone https://github.com/x/agent-hooks-core
git clone https://github.com/x/agent-hooks trust
git clone --depth 1 https://github.com/x/y /tmp/y
git submodule update --init
hg commit -m "agent-hooks trust: document it"
jj describe -m "agent-hooks trust"
gh pr create --title "agent-hooks trust" --body "Run agent-hooks trust"
gh repo clone x/agent-hooks
gh issue view 12 --comments | grep 'agent-hooks trust'
cat docs/trust.md
sed -n '1,80p' docs/trust.md | grep -n "agent-hooks trust"
head -50 docs/trust.md; wc -l docs/trust.md
less docs/trust.md
sed -i 's/`agent-hooks trust`/`agent-hooks trust PATH`/' docs/trust.md
perl -pi -e 's/agent-hooks check/agent-hooks doctor/' README.md
echo "Run \`agent-hooks trust\` in a terminal of your own" >> README.md
printf 'agent-hooks trust\n' >> docs/commands.txt
echo 'agent-hooks trust' | tee -a notes.md
python -m pytest -q tests/test_trust.py -k "agent-hooks trust"
python -m pytest tests/protection -q
pytest -k 'trust and agent_hooks'
uv run pytest tests/test_trust.py
tox -e py312 -- tests/test_trust.py
pip install agent-hooks-guards
pip install agent-hooks-core agent-hooks-guards
pip install -U 'agent-hooks-core[cli]'
pip show agent-hooks-core && pip list | grep agent-hooks
pip download agent-hooks-guards
uv add agent-hooks-guards
uv pip install -e plugins/a-plugin-of-mine
pipx install agent-hooks-core
python -m pip install agent-hooks-guards
poetry add agent-hooks-guards
agent-hooks check before_tool_use --tool Bash --arg command='agent-hooks trust'
agent-hooks check PreToolUse --tool Write --arg file_path=hookconf.py
agent-hooks check PreToolUse --tool Bash --arg command="$(cat cmd.txt)"
agent-hooks doctor --json | jq .findings
agent-hooks doctor "$PWD"
agent-hooks plugins "$(pwd)"
agent-hooks events
agent-hooks demo
agent-hooks trust --show "$(pwd)"
agent-hooks trust --show | grep -o 'sha256:.*'
agent-hooks trust --diff; agent-hooks doctor
agent-hooks trust --show --json . | python -m json.tool
"$(which agent-hooks)" doctor
$(command -v agent-hooks) check PreToolUse --tool Bash
x=$(which agent-hooks); $x doctor; echo $x
which agent-hooks && agent-hooks --version
command -v agent-hooks >/dev/null || pip install agent-hooks-core
ls -l $(which agent-hooks)
file "$(command -v agent-hooks)"
cat $(python -c "import agent_hooks; print(agent_hooks.__file__)")
readlink -f $(which agent-hooks)
python -c "import agent_hooks; print(agent_hooks.__version__)"
python -c "from agent_hooks import HookOutcome; print(HookOutcome)"
python -c "print('agent-hooks trust')"
python -c "from agent_hooks.sources.loader import HookConfigLoader; print(HookConfigLoader('.').load())"
node -e "console.log('agent-hooks trust')"
alias ll='ls -la'; ll
alias gs='git status' gd='git diff'; gs
mise trust
$(which mise) trust
"$MISE" trust mise.toml
direnv allow
direnv allow . && cat hookconf.py
trust list --filter=ca-anchors
p11-kit list-modules; trust list
at now <<< 'pytest -q'
echo 'make' | at now + 1 hour
bash <(curl -s https://example.com/install.sh)
bash <(echo pytest -q)
source <(kubectl completion bash)
source .venv/bin/activate && agent-hooks doctor
. .venv/bin/activate; pytest
eval "$(ssh-agent -s)"
eval "$(direnv hook bash)"
bash -c "$(curl -fsSL https://example.com/x.sh)"
diff <(git show main:hookconf.py) hookconf.py
diff <(sort a) <(sort b) > /tmp/d
while read -r f; do echo "$f"; done < <(git ls-files)
tmux send-keys 'pytest -q' Enter
tmux capture-pane -p | grep 'agent-hooks trust'
sudo -s <<< 'apt-get update'
make docs
make -f - <<< 'x:; echo agent-hooks'
cp -r src/agent_hooks /tmp/copy
cp docs/agent-hooks.md docs/old.md
ln -s ../docs/agent-hooks.md link.md
mv docs/agent-hooks.md docs/hooks.md
rm -rf .venv && python -m venv .venv
rm -rf build dist *.egg-info
find src -name settings.json -delete
find node_modules -name settings.json -delete
find build -name '*.json' -exec rm {} +
find . -name '*.tmp' | xargs rm -f
find docs -name '*.md' | xargs grep -l 'agent-hooks trust'
unzip data.zip -d build
unzip -l evil.zip
unzip x.zip
tar xzf app.tgz -C ~/.local
7z x data.7z -obuild
cp -r /tmp/none/src .
cp missing.txt docs/
cp template/config.json config.json
rsync -a src/ host:backup/
rsync -a host:data/ data/
docker run -v $(pwd):/w -w /w image pytest
docker exec -i db psql -c "select 'agent-hooks trust'"
xargs -a list.txt grep -n 'agent-hooks trust'
curl -s https://example.com/agent-hooks | grep trust
echo $(git rev-parse HEAD) $(date)
for f in $(git ls-files '*.md'); do grep -H 'agent-hooks trust' "$f"; done
x=$(grep -c 'agent-hooks trust' README.md); echo "$x"
cd "$(git rev-parse --show-toplevel)" && grep -rn 'agent-hooks trust' docs
export X=$(date +%s); echo $X > /tmp/x
ls `which python`
test -n "$(command -v agent-hooks)" && echo yes
[ "$(agent-hooks --version)" ] && agent-hooks doctor
claude -p "What does agent-hooks do?"
code docs/trust.md
open docs/trust.md
mkdocs build && grep -rn "agent-hooks trust" site
ruff check src/agent_hooks/trust.py
mypy src/agent_hooks/protection
python scripts/build_docs.py docs/trust.md
vim docs/trust.md
zip -r docs.zip docs
wc -c src/agent_hooks/trust.py
touch tests/test_trust.py
mkdir -p tests/trust
brew install agent-hooks
MSG="agent-hooks trust"; git commit -m "$MSG"
X="see agent-hooks trust" make docs
T='agent-hooks trust'; grep -rn "$T" docs
T='agent-hooks trust'; echo $T >> README.md
agent-hooks check before_tool_use --arg 'command=agent-hooks trust'
EDITOR='code --wait' git commit
""".strip("\n")

HONEST_IN_LINES = (
    "cat > README.md <<'EOF'\nRun `agent-hooks trust`.\nThen rm hookconf.py > x\nEOF",
    "cat > README.md <<'EOF'\nagent-hooks trust .\nEOF\ngit add README.md",
    "git commit -F - <<'EOF'\nhookconf.py: it's stricter\n\nagent-hooks trust is needed\nEOF",
    "git commit -m \"$(cat <<'EOF'\nhookconf.py: rm is denied\n\nRun agent-hooks trust\nEOF\n)\"",
    (
        "git add -A && git commit -m \"$(cat <<'EOF'\nDeny \"echo x > hookconf.py\" and don't let "
        "`agent-hooks trust` by\n\n"
        'rm hookconf.py, $(agent-hooks trust) or "it\'s" and EOF\nEOF\n)" && git status'
    ),
    "python - <<'EOF'\nimport json\nprint(json.load(open('.claude/settings.json')))\nEOF",
    "python - <<'EOF'\nopen('out.txt', 'w').write('done')\nEOF",
    "cat <<EOF > package/pyproject.toml\n[project]\nname = 'b'\nEOF",
    "patch -p1 <<EOF\n--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-x\n+y\nEOF",
    "cat > tests/test_x.py <<'EOF'\nimport subprocess\nsubprocess.run(['agent-hooks', 'trust'])\nEOF",
    (
        "python - <<'EOF'\nfrom pathlib import Path\np = Path('README.md')\n"
        "p.write_text(p.read_text().replace('agent-hooks check', 'agent-hooks trust'))\nEOF"
    ),
    (
        "python3 - <<'EOF'\nimport re\nwith open('docs/trust.md') as f:\n    text = f.read()\n"
        "text = re.sub('agent-hooks trust', 'agent-hooks untrust', text)\n"
        "with open('docs/trust.md', 'w') as f:\n    f.write(text)\nEOF"
    ),
    "x=$(cat <<'EOF'\nagent-hooks trust (it's a command)\nEOF\n)\necho \"$x\" >> README.md",
    "cat <<'EOF' > Makefile\ndocs:\n\tmkdocs build\nEOF\nmake docs",
    "cat hookconf.py\nrm -rf build\n",
    "ls \\\n  hookconf.py",
)


def lines(table: str) -> list[str]:
    """The commands of a table, one a line; a backslash at its end goes on in the next."""
    joined = table.replace("\\\n", "\0")
    return [line.replace("\0", "\\\n") for line in joined.split("\n") if line]


# Each was allowed, and ran: writers by an operand, an option, a text of their own, a mount, or a variable for later.
UNKNOWN_WRITERS = r"""
sqlite3 :memory: '.output ~/.claude/settings.json' 'select 1'
sqlite3 x.db ".once hookconf.py" "select 1"
sqlite3 x.db "select writefile('hookconf.py', '')"
echo '.output hookconf.py' | sqlite3 x.db
psql -c "copy t to '/root/x'" -c "\o hookconf.py"
frobnicate --out hookconf.py
frobnicate ~/.claude/settings.json
frobnicate --log=agent-hooks.toml
mytool hooks/check.py
docker run -v ~/.claude:/c alpine rm -rf /c
docker run --rm --mount type=bind,source=$HOME/.claude,target=/c alpine sh
podman run --volume=./hookconf.py:/x alpine sh -c '> /x'
docker run -v ~/.config/agent-hooks:/c alpine sh
tmux set-environment -g CLAUDE_CONFIG_DIR /tmp/x
launchctl setenv CODEX_HOME /tmp/x
systemctl --user set-environment CLAUDE_CONFIG_DIR=/tmp/x
echo 'env.CLAUDE_CONFIG_DIR = "/tmp/x"' > mise.toml
mise set CLAUDE_CONFIG_DIR=/tmp/x
powershell -EncodedCommand YQBnAGUAbgB0AC0AaABvAG8AawBzACAAdAByAHUAcwB0AA==
pwsh -NoProfile -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAAaABvAG8AawBjAG8AbgBmAC4AcAB5AA==
cat bad.patch | patch -p1
patch -p1 < bad.patch
patch -p0 < bad.patch
git apply - < bad.patch
cat bad.patch | git apply
sed s/a/b/ bad.patch | patch -p1
sh -c 'mlr -I x hookconf.py'
bash -lc "mlr -I x hookconf.py"
eval 'mlr -I x hookconf.py'
env -S 'mlr -I x hookconf.py'
timeout 5 sh -c 'mlr -I x hookconf.py'
xargs some-tool <<< hookconf.py
echo hookconf.py | xargs -n1 some-tool --fix-it
find -name hookconf.py -exec some-tool {} \;
docker run -v /root/.claude:/data/ro a
sudo docker run -v ~/.claude:/c a
docker run -v$HOME/.claude:/c a
docker run -itv $HOME/.claude:/c a
docker run -v /:/h a
docker run -v $HOME:/h a
docker run -v ~:/h:rw a
docker run -v ~/.config:/c a
nerdctl run -v ~/.claude:/c a
docker run --mount type=bind,source=$HOME/.claude,target=/c,readonly=false a
docker run -v ~/.claude:/c,ro a
env tmux set-environment -g CLAUDE_CONFIG_DIR /x
sudo tmux set-environment -g CLAUDE_CONFIG_DIR /x
mise config set env.CLAUDE_CONFIG_DIR /x
printf '[env]\nCLAUDE_CONFIG_DIR="/x"\n' > mise.toml
printf '[env]\nCLAUDE_CONFIG_DIR="/x"\n' > .mise.toml
echo 'env.CLAUDE_CONFIG_DIR = "/tmp/x"' >> mise.local.toml
echo 'env.CLAUDE_CONFIG_DIR = "/tmp/x"' >> ~/.config/mise/config.toml
pwsh -ec YQBnAGUAbgB0AC0AaABvAG8AawBzACAAdAByAHUAcwB0AA==
pwsh -enc:YQBnAGUAbgB0AC0AaABvAG8AawBzACAAdAByAHUAcwB0AA==
powershell /enc YQBnAGUAbgB0AC0AaABvAG8AawBzACAAdAByAHUAcwB0AA==
find . -fprint hookconf.py
find . -name x -fprintf hookconf.py %p
psql -o hookconf.py -c 'select 1'
psql -L hookconf.py -c 'select 1'
psql --log-file=hookconf.py
ctags -f hookconf.py src
yq -i .a=1 .claude/settings.json
echo "plugin install m" | xargs claude
xargs claude <<< "plugin install m"
node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js plugin install m
"""
KNOWN_READERS = r"""
git add hookconf.py
git log -p -- hookconf.py
git commit -m 'about hookconf.py' hookconf.py
prettier --check .claude/settings.json
npx prettier --check .claude/settings.json
gh pr create --body 'changes .claude/settings.json and hookconf.py'
ruff check hookconf.py
python -m pylint hookconf.py
uv run mypy hookconf.py
shellcheck hooks/check.py
bat hookconf.py
frobnicate src/app.py pyproject.toml README.md
frobnicate --message 'hookconf.py is fine'
sqlite3 x.db "select * from t where name = 'hookconf.py'"
sqlite3 x.db .tables
docker run -v $PWD:/w -w /w node npm test
docker run -v ~/.cache/x:/x -v ./src:/s:ro alpine ls
docker run -v ~/.claude:/c:ro alpine ls /c
cat good.patch | patch -p1
patch -p1 < good.patch
tmux set-environment -g EDITOR vim
openssl dgst -sha256 hookconf.py
base64 hookconf.py
base32 hookconf.py
md5 hookconf.py
sha1 hookconf.py
yq . .claude/settings.json
ctags hookconf.py
scc hookconf.py
pygmentize hookconf.py
glow skills/guarded/SKILL.md
echo hookconf.py | xargs wc -l
find . -name hookconf.py -exec grep -n x {} +
sh -c 'grep x hookconf.py'
docker run -v ~/.claude:/c:z,ro a
docker run --mount type=bind,source=$HOME/.claude,target=/c,readonly a
docker run -v data:/ro a
psql -c 'select 1' -o out.txt
ls docs | xargs claude -p 'explain the plugins'
node build/index.js plugin install m
printf '[env]\nNODE_ENV="test"\n' > mise.toml
"""


@pytest.mark.parametrize("command", lines(UNKNOWN_WRITERS))
def test_a_program_that_nobody_here_knows_may_write_what_it_is_given(guarded, command):
    assert guarded.denies_command(command)


@pytest.mark.parametrize("command", lines(KNOWN_READERS))
def test_and_one_that_only_reads_may_have_it(guarded, command):
    assert not guarded.denies_command(command)


# By host: what adds code or settings to it, and what only shows.
ADDING = """
claude plugin marketplace add ./tools && claude plugin install mm@tt
claude plugin enable mm@tt
claude --plugin-dir ./mods -p hi
claude --settings '{}' -p hi
claude --mcp-config=x.json
claude mcp add x -- sh -c 'agent-hooks untrust'
claude mcp add-json x '{}'
claude config set -g theme dark
npx @anthropic-ai/claude-code plugin install x
codex mcp add x -- ./server
codex features enable x
codex --disable x
gemini extensions install ./x
gemini extensions link ./x
gemini mcp add x ./server
qwen extensions install ./x
copilot plugin install ./x
copilot --additional-mcp-config @x.json
cursor-agent mcp enable x
opencode plugin x
opencode mcp add x
droid mcp add x ./server
kiro-cli mcp add --name x
code --install-extension ./x.vsix
cursor --add-mcp '{}'
env code --extensionDevelopmentPath=. .
"""
SHOWING = """
claude plugin list
claude plugin validate .
claude plugin marketplace list
claude mcp list
claude mcp get x
claude config get theme
claude -p 'plugin install is broken: explain'
codex mcp list
codex exec 'list the plugins'
gemini extensions list
gemini -p 'extensions install'
copilot plugin list
opencode mcp list
opencode run 'plugin'
code .
code --list-extensions
code config
cursor --diff a b
"""


@pytest.mark.parametrize("command", lines(ADDING))
def test_an_agent_adds_no_code_to_a_host(guarded, command):
    assert guarded.denies_command(command)


@pytest.mark.parametrize("command", lines(SHOWING))
def test_and_may_look_at_what_a_host_has(guarded, command):
    assert not guarded.denies_command(command)


@pytest.mark.parametrize("command", [*lines(TRUSTING), *TRUSTING_IN_LINES])
def test_an_agent_cannot_decide_about_itself(guarded, command):
    assert guarded.denies_command(command)


@pytest.mark.parametrize("command", [*lines(WRITING), *WRITING_IN_LINES])
def test_a_command_cannot_write_what_decides(guarded, command):
    assert guarded.denies_command(command)


@pytest.mark.parametrize("command", [*lines(HONEST), *HONEST_IN_LINES])
def test_honest_work_goes_through(guarded, command):
    assert not guarded.denies_command(command)


# Through an interpreter of another kind, or a file that the same command writes.
INDIRECT = r"""
while read -r l; do $l; done <<< 'agent-hooks trust'
echo 'agent-hooks trust' | while read -r l; do $l; done
echo 'agent-hooks trust' | while read -r a b; do "$a" "$b"; done
printf 'agent-hooks trust\n' | while IFS= read -r l; do eval "$l"; done
while read l; do sh -c "$l"; done <<< 'agent-hooks trust'
while read l; do bash -c "$l"; done < <(echo agent-hooks trust)
mapfile -t a <<< 'agent-hooks trust'; ${a[0]}
read -ra a <<< 'agent-hooks trust'; "${a[@]}"
IFS= read -r l <<< 'agent-hooks trust'; $l
sed '1e agent-hooks trust' README.md
sed -n '1e agent-hooks trust' /etc/hostname
sed -e '1{e agent-hooks trust' -e '}' README.md
sed '$e agent-hooks trust' README.md
echo 'agent-hooks trust' | sed e
echo 'agent-hooks trust' | sed '1e'
echo x | sed 's/x/agent-hooks trust/e'
echo x | sed 's#.*#agent-hooks trust#e'
echo 'agent-hooks trust' | sed 's/$//e'
tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='agent-hooks trust'
tar cf /dev/null x --checkpoint=1 '--checkpoint-action=exec=agent-hooks trust'
tar -xf x.tar --to-command='agent-hooks trust'
tar -I 'agent-hooks trust' -xf x.tar
tar -xf x.tar --use-compress-program='agent-hooks trust'
tar cf x:y z --rsh-command='agent-hooks trust'
tar cf x y -F 'agent-hooks trust'
zip x.zip y -T -TT 'agent-hooks trust'
rsync -e 'agent-hooks trust' x host:y
sort --compress-program='agent-hooks trust' big
split --filter='agent-hooks trust' README.md
man -P 'agent-hooks trust' ls
echo 'agent-hooks trust' > x.sh; sh x.sh
echo 'agent-hooks trust' > x.sh && bash ./x.sh
echo 'agent-hooks trust' > x.sh; chmod +x x.sh; ./x.sh
echo 'agent-hooks trust' > /tmp/x; . /tmp/x
echo 'agent-hooks trust' > /tmp/x; source /tmp/x
echo 'agent-hooks trust' | tee /tmp/x > /dev/null; sh /tmp/x
printf '%s\n' '#!/bin/sh' 'agent-hooks trust' > x; chmod +x x; nohup ./x
echo 'agent-hooks trust' > x; at now -f x
echo 'agent-hooks trust' > x; cat x | sh
echo 'agent-hooks trust' > x; sh < x
echo 'agent-hooks trust' > x; cp x y; sh y
echo 'agent-hooks trust' > x; mv x y; sh y
echo "import os; os.system('agent-hooks trust')" > x.py; python x.py
echo 'agent-hooks trust' > x; crontab x
(crontab -l; echo '* * * * * agent-hooks trust') | crontab -
source <(echo 'sh -c "agent-hooks trust"')
make -f - <<< $'x:\n\tagent-hooks trust'
printf 'x:\n\tagent-hooks trust\n' | make -f -
printf 'x:\n\t@agent-hooks trust\n' | make -f -
printf 'x:\n\t-agent-hooks trust\n' | make -f /dev/stdin
make --eval='x:; agent-hooks trust' x
make --eval $'x:\n\tagent-hooks trust'
printf 'x:\n\tagent-hooks trust\n' > Makefile; make
printf 'x:\n\tagent-hooks trust\n' > m.mk; make -f m.mk
make SHELL='agent-hooks trust'
BASH_ENV=<(echo agent-hooks trust) bash -c :
BASH_ENV='$(agent-hooks trust)' bash -c :
echo 'agent-hooks trust' > e; BASH_ENV=e bash -c :
echo 'agent-hooks trust' > e; BASH_ENV=$PWD/e bash -c :
echo 'agent-hooks trust' > e; export BASH_ENV=e; bash -c :
echo 'agent-hooks trust' > e; env BASH_ENV=./e bash -c :
echo 'agent-hooks trust' > e; ENV=./e sh -i
BASH_ENV=/dev/stdin bash -c : <<< 'agent-hooks trust'
agent-hooks-core trust
agent-hooks-core trust --digest sha256:0 .
agent-hooks-core untrust
agent-hooks-core.exe trust
.venv/bin/agent-hooks-core trust
$(which agent-hooks-core) trust
x=$(command -v agent-hooks-core); $x trust
python -m agent_hooks_core trust
python3 -I -m agent_hooks_core untrust
python3.12 -magent_hooks_core trust
python .venv/lib/python3.12/site-packages/agent_hooks_core.py trust
python3 ./src/agent_hooks_core.py trust
cp $(python -c 'import agent_hooks_core; print(agent_hooks_core.__file__)') /tmp/x.py; python /tmp/x.py trust
cp .venv/lib/python3.12/site-packages/agent_hooks_core.py x.py
ln -s $(which agent-hooks-core) /tmp/x
python -c "import agent_hooks_core; agent_hooks_core.main(['trust'])"
python -c "import runpy; runpy.run_module('agent_hooks_core', run_name='__main__')" trust
python -c "import subprocess; subprocess.run(['agent-hooks-core', 'trust'])"
uvx --from agent-hooks-core agent-hooks-core trust
agent-hooks-core doctor --ignore 3f2a91c0ffee
agent-hooks install
agent-hooks install claude-code
agent-hooks-core install codex
agent-hooks install --agent codex --user
agent-hooks uninstall
agent-hooks-core uninstall codex
python -m agent_hooks install
python -m agent_hooks_core install
sudo agent-hooks-core install
$(which agent-hooks) install claude-code
uvx --from agent-hooks-core agent-hooks install
sh -c 'agent-hooks install'
python -c "import subprocess; subprocess.run(['agent-hooks', 'install'])"
"""

# What looks like these.
DIRECT = r"""
while read -r l; do echo "$l"; done <<< 'agent-hooks trust'
while read -r f; do wc -l "$f"; done < list.txt && git commit -m 'agent-hooks trust'
sed 's/agent-hooks trust/agent-hooks check/' README.md
sed -n '/agent-hooks trust/p' README.md
sed -e 's/a/b/' -e '/agent-hooks trust/d' README.md
sed 's/a/agent-hooks trust/g' README.md > /tmp/x
sed -i 's/the/agent-hooks trust/' README.md
tar czf x.tgz docs --checkpoint=100
tar -I zstd -xf x.tar.zst
rsync -e 'ssh -p 22' x host:y
sort --compress-program=gzip big
echo 'agent-hooks trust' > notes.md; cat notes.md
echo 'agent-hooks trust' > notes.md; git add notes.md
echo 'agent-hooks trust' > notes.md; npx prettier --check notes.md
echo 'pytest -q' > x.sh; sh x.sh
vulture hookconf.py && taplo lint agent-hooks.toml
echo '{}' | python hooks/check.py
echo 'echo "run agent-hooks trust yourself"' > x.sh; sh x.sh
echo 'agent-hooks trust' >> README.md; sh scripts/build.sh
echo "print('agent-hooks trust')" > x.py; python x.py
make -f - <<< $'x:\n\techo agent-hooks trust'
printf 'docs:\n\tmkdocs build\n' > Makefile; make docs
make SHELL=/bin/bash docs
BASH_ENV=~/.bashrc bash -c 'pytest -q'
ENV=prod make deploy
ENV=test pytest -q
agent-hooks-core run --agent codex --timeout 50 < event.json
agent-hooks-core doctor
agent-hooks-core trust --show
agent-hooks-core check PreToolUse --tool Bash --arg command='agent-hooks-core trust'
python -m agent_hooks_core doctor
python -m agent_hooks_core run --agent claude-code < event.json
agent-hooks install --help
agent-hooks uninstall --help
agent-hooks trust --help
cat .venv/lib/python3.12/site-packages/agent_hooks_core.py
python -c "import agent_hooks_core; print(agent_hooks_core.__file__)"
pytest tests/test_agent_hooks_core.py -q
ruff check src/agent_hooks_core.py
sed -i 's/a/b/' src/agent_hooks_core.py
git add src/agent_hooks_core.py && git commit -m 'agent-hooks install'
pip install agent-hooks-core
pip install agent-hooks-core && agent-hooks-core doctor
make -C agent-hooks install
npm --prefix agent-hooks install
cd agent-hooks && make install
echo 'Run agent-hooks install in a terminal' >> README.md
grep -rn 'agent-hooks install' docs
"""

INDIRECT_IN_LINES = (
    "cat > x.sh <<'EOF'\n#!/bin/sh\nagent-hooks trust\nEOF\nchmod +x x.sh\n./x.sh",
    "cat <<'EOF' > /tmp/x\nagent-hooks trust\nEOF\nbash /tmp/x",
    "cat > x.py <<'EOF'\nimport subprocess\nsubprocess.run(['agent-hooks', 'trust'])\nEOF\npython3 x.py",
    "make -f - <<'EOF'\nx:\n\tagent-hooks trust\nEOF",
    "make -f - <<'EOF'\nx:\n\t@agent-hooks trust\nEOF",
    "while read -r l; do\n  $l\ndone <<'EOF'\nagent-hooks trust\nEOF",
    "cat > e <<'EOF'\nagent-hooks trust\nEOF\nBASH_ENV=e bash -c :",
    "tee x.sh <<'EOF'\nagent-hooks trust\nEOF\nsh x.sh",
)


@pytest.mark.parametrize("command", [*lines(INDIRECT), *INDIRECT_IN_LINES])
def test_nor_by_a_detour_that_its_own_text_shows(guarded, command):
    assert guarded.denies_command(command)


@pytest.mark.parametrize("command", lines(DIRECT))
def test_what_only_looks_like_a_detour_goes_through(guarded, command):
    assert not guarded.denies_command(command)


@pytest.mark.parametrize(
    "command",
    [
        "nc -lU SERVE/abc",
        "socat UNIX-LISTEN:SERVE/abc,fork EXEC:./answer",
        """python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("SERVE/abc")'""",
        """node -e 'require("net").Server(answer).listen("SERVE/abc")'""",
        """ruby -rsocket -e 'UNIXServer.new("SERVE/abc").accept'""",
    ],
)
def test_nobody_takes_the_place_of_the_resident_process(guarded, command):
    serve = f"{guarded.home}/.local/state/agent-hooks/serve"
    assert guarded.denies_command(command.replace("SERVE", serve))
    assert not guarded.denies_command(command.replace("SERVE", "/tmp"))


@pytest.mark.parametrize(
    "command",
    [
        """cd FOLDER && python3 -c 'open("abc", "w")'""",
        """(cd FOLDER; node -e 'require("fs").writeFileSync("abc", "")')""",
        """cd FOLDER && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("abc")'""",
        """cd FOLDER; echo 'open("abc", "w")' | python3""",
        """cd FOLDER; echo 'echo x > abc' | sh""",
    ],
)
def test_code_in_a_protected_folder_need_not_name_it(guarded, command):
    for folder in ("~/.config/agent-hooks/trust", "~/.config/agent-hooks", "~/.local/state/agent-hooks/serve"):
        (guarded.home / folder[2:]).mkdir(exist_ok=True)
        assert guarded.denies_command(command.replace("FOLDER", folder))
    assert not guarded.denies_command(command.replace("FOLDER", "~/.config"))
    assert not guarded.denies_command("cd ~/.config/agent-hooks && python3 -c 'print(open(\"abc\").read())'")
    code = """python3 -c 'open("abc", "w")'"""
    assert guarded.denies_command(f"cd ~/.claude && {code}")
    assert guarded.denies_command(code, cwd=str(guarded.home / ".config/agent-hooks/trust"))
    assert not guarded.denies_command(code, cwd=str(guarded.root / "src"))
