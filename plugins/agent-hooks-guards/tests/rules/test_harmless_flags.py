"""A flag that makes a command harmless counts if it is in force in the end, and only then."""

from __future__ import annotations

import pytest
from making import about

from agent_hooks_guards import ShellGuard

# One command to a line.
TAKEN_BACK = r"""
kubectl delete ns prod --dry-run=none
kubectl delete ns prod --dry-run=client --dry-run=none
kubectl delete ns prod --dry-run=false
kubectl delete ns prod --dry-run=bogus
kubectl delete ns prod --dry-run=$MODE
kubectl delete ns prod -- --dry-run=client
kubectl delete ns prod -l --dry-run=client
kubectl delete ns prod --help=false
kubectl delete ns prod --help --help=false
kubectl delete ns prod -h=false
kubectl delete ns prod --help -h=false
docker system prune -af --volumes -h=false
docker system prune -afh=0 --volumes
gh repo delete acme/shop --yes --help=false
gh repo delete acme/shop --yes -- --help
gh repo delete acme/shop --yes -R --help
docker system prune -af --volumes --help=false
docker system prune -af --volumes --help=0
docker system prune -af --volumes --filter --help
git push --force --dry-run --no-dry-run origin main
git push --force --dry-run --no-dry origin main
git push --force --dry-run --no-d origin main
git push --force -n --no-dry-run origin main
git push --force origin main -- --dry-run
git push --force -o --dry-run origin main
git push --force -o --help origin main
git push --force --dry --no-dry-run origin main
git clean -fdx --dry-run --no-dry-run
git clean -fdx -n --no-dry
git clean -fdx -e -n
git rm -rf . -n --no-dry-run
git rm -rf . --cached --no-cached
git rm -rf . -- -n
git reflog expire --expire=now --all --dry-run --no-dry-run
git prune --dry-run --no-dry-run
npm unpublish left-pad --force --dry-run=false
npm unpublish left-pad --force --dry-run false
npm publish --dry-run=false
npm publish --dry-run --no-dry-run
helm uninstall web --dry-run=false
helm uninstall web --dry-run=none
git push --force -n=false origin main
rclone sync a: b: -n=false
terraform state rm a.b -dry-run=false
terraform destroy -auto-approve -help=false
cargo publish --dry-run --no-dry-run
aws s3 rm s3://b --recursive --dryrun --no-dryrun
aws ec2 terminate-instances --instance-ids i-1 --dry-run --no-dry-run
rsync -a --delete -n --no-dry-run src/ ~/
rsync -a --delete --dry-run --no-n empty/ ~/
rclone sync a: b: --dry-run=false
gem push x.gem --help=false
docker run -v /etc/passwd:/etc/passwd -v /etc/passwd:/x:ro img ls
pwsh -c 'Remove-Item -Recurse -Force ~ -WhatIf:$false'
pwsh -c 'Remove-Item -WhatIf: $false -Recurse -Force ~'
"""
IN_FORCE = r"""
kubectl delete ns prod --dry-run=client
kubectl delete ns prod --dry-run=server
kubectl delete ns prod --dry-run
kubectl delete ns prod --dry-run=none --dry-run=client
kubectl delete ns prod --help
git push --force --dry-run origin main
git push --force -n origin main
git push --force --dry origin main
git push --force --no-dry-run --dry-run origin main
git push --force --dry-run --no-verify origin main
git clean -fdxn
git clean -fdx --dry-run
git rm -rf . --cached
git rm -rf . -n
docker system prune --help
docker system prune -h=true
docker system prune -af --help=true
gh repo delete acme/shop --help
npm publish --dry-run
npm unpublish left-pad --force --dry-run=true
helm uninstall web --dry-run
rsync -an --delete src/ dst/
cargo publish --dry-run --no-verify
aws s3 rm s3://b --recursive --dryrun
aws ec2 terminate-instances --instance-ids i-1 --dry-run
rclone sync a: b: --dry-run
rclone sync a: b: -n=true
git prune -n
git restore -S .
docker run -v /etc/passwd:/etc/passwd:ro -v $PWD:/src img ls
pwsh -c 'Remove-Item -Recurse -Force ~ -WhatIf'
pwsh -c 'Remove-Item -Recurse -Force ~ -WhatIf:$true'
"""


def decision(command):
    outcome = ShellGuard().execute(about("Bash", "shell", args={"command": command}, cwd="/home/dev/app"))
    return None if outcome is None else outcome.decision


@pytest.mark.parametrize("command", TAKEN_BACK.strip().splitlines())
def test_a_flag_that_is_taken_back_or_means_something_else_changes_nothing(command):
    assert decision(command) in ("deny", "ask")


@pytest.mark.parametrize("command", IN_FORCE.strip().splitlines())
def test_a_command_that_only_shows_its_changes_passes(command):
    assert decision(command) is None
