"""What runs on another machine."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
ssh -p 22 h rm x => [remote] sh{rm x}
multipass exec vm -- rm x => [remote] rm x
vagrant ssh -c 'rm x' => [remote] sh{rm x}
gcloud compute ssh vm --zone z --command 'rm x' => [remote] sh{rm x}
aws ssm send-command --instance-ids i --document-name AWS-RunShellScript --parameters 'commands=["rm x"]' => [remote] sh{…}
aws ssm send-command --parameters '{"commands":["rm x"]}' => [remote] sh{…}
aws s3 ls => nothing
fly ssh console -C 'rm x' => [remote] sh{rm x}
heroku run rm x -a app => [remote] sh{rm x -a app}
ansible all -m shell -a 'rm x' => [remote] sh{rm x}
ansible localhost -m command -a 'rm x' => [remote] sh{rm x}
salt '*' cmd.run 'rm x' => [remote] sh{rm x}
pdsh -w h rm x => [remote] sh{rm x}
gh alias set x '!rm x' => sh{rm x}
adb shell rm x => [remote] sh{rm x}
ssh -o 'ProxyCommand=rm x' h => sh{rm x}
ssh -oProxyCommand='rm x' h ls => [remote] sh{ls} ;; sh{rm x}
scp -S /tmp/x a h: => sh{/tmp/x}
rsync -e 'sh -c "rm x"' a h:b => sh{sh -c "rm x"}
ssh h => nothing
rm x |> ssh h => [remote] sh<-
ssh h ls => [remote] sh{ls}
ssh -t h 'sudo rm x' => [remote] sh{sudo rm x}
ssh h -p 22 rm x => [remote] sh{rm x}
ssh -l root h rm x => [remote, root] sh{rm x}
ssh root@h rm -rf / => [remote, root] sh{rm -rf /}
ssh -N -L 1:a:2 h => nothing
ssh -o 'LocalCommand rm x' -o PermitLocalCommand=yes h => sh{rm x}
ssh -o ProxyCommand=none h => nothing
ssh -o ProxyCommand='nc %h 22' u@h => sh{nc h 22}
ssh -o StrictHostKeyChecking=no h rm x => [remote] sh{rm x}
ssh -F /dev/null -i k h -- rm x => [remote] sh{rm x}
ssh -J b h rm x => [remote] sh{rm x}
autossh -M 0 h rm x => [remote] sh{rm x}
mosh h -- rm x => [remote] rm x
scp a h:b => nothing
scp -o ProxyCommand='rm x' a h:b => sh{rm x}
!rm x |> sftp h => sh{rm x}
rsync -av a b => nothing
rsync -e ssh a h:b => sh{ssh}
rsync -e 'ssh -p 2' a h:b => sh{ssh -p 2}
rsync --rsync-path='sudo rm x' a h:b => [remote] sh{sudo rm x}
rsync --rsh='rm x' a h:b => sh{rm x}
limactl shell vm rm x => [remote] rm x
colima ssh -- rm x => [remote] sh{rm x}
minikube ssh 'rm x' => [remote] sh{rm x}
vagrant ssh vm -- rm x => [remote] sh{rm x}
gcloud compute ssh vm -- rm x => [remote] sh{rm x}
gcloud compute instances list => nothing
aws ecs execute-command --cluster c --task t --interactive --command 'rm x' => [container] sh{rm x}
az vm run-command invoke -g g -n n --command-id RunShellScript --scripts 'rm x' => [remote] sh{rm x}
fly machine exec id 'rm x' => [remote] sh{rm x}
heroku ps => nothing
railway run rm x => rm x
gh codespace ssh -- rm x => [remote] sh{rm x}
gh alias set --shell x 'rm x' => sh{rm x}
gh alias set co 'pr checkout' => gh pr checkout
gh pr list => nothing
doctl compute ssh d --ssh-command 'rm x' => [remote] sh{rm x}
distrobox enter n -- rm x => rm x
toolbox run rm x => rm x
ansible h -b -m ansible.builtin.shell -a 'rm x' => [remote] sh{rm x}
ansible h -m ping => nothing
ansible h -a 'rm x' => [remote] sh{rm x}
clush -w h rm x => [remote] sh{rm x}
pssh -h hosts -i rm x => [remote] sh{rm x}
fab -H h -- rm x => [remote] sh{rm x}
plink -ssh h rm x => [remote] sh{rm x}
tsh ssh u@h rm x => [remote] sh{rm x}
tailscale ssh h rm x => [remote] sh{rm x}
adb -s d shell rm -rf /sdcard => [remote] sh{rm -rf /sdcard}
rsync -e 'ssh -oProxyCommand="rm x"' a h:b => sh{ssh -oProxyCommand="rm x"}
"""  # noqa: E501


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_programs_elsewhere(command, expected):
    assert inside(command) == expected
