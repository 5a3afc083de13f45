"""What runs in a container."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
machinectl shell root@.host /bin/rm x => [root] /bin/rm x
docker run --rm -v /:/host alpine rm -rf /host/etc => [container, no-env, in /] rm -rf /host/etc
docker run -v /:/host alpine chroot /host sh -c 'rm -rf /etc' => [container, no-env, in /] chroot /host sh -c 'rm -rf /etc'
docker run -v $PWD:/app alpine sh -c 'rm -rf /app' => [container, no-env, in /] sh -c 'rm -rf /app'
docker run --entrypoint rm alpine -rf / => [container, no-env, in /] rm -rf /
docker exec -it c bash -c 'rm x' => [container, no-env] bash -c 'rm x'
docker exec c => nothing
docker compose -f x run --rm svc rm x => [container, no-env, in /] rm x
docker ps => nothing
podman unshare rm x => rm x
kubectl exec -n a pod -c c -- rm x => [container] rm x
kubectl run x --image=i -- rm x => [container] rm x
kubectl get pods => nothing
oc rsh pod rm x => [container] rm x
lxc exec c -- rm x => [container] rm x
flatpak-spawn --host rm x => rm x
docker run alpine => nothing
docker run -it --rm alpine sh => [container, no-env, in /] sh
docker run --rm -v /etc:/e:ro alpine cat /e/passwd => [container, no-env, in /] cat /e/passwd
docker run --mount type=bind,source=/,target=/h alpine rm -rf /h/home => [container, no-env, in /] rm -rf /h/home
docker run --privileged --pid=host alpine nsenter -t 1 -m rm x => [container, no-env, in /] nsenter -t 1 -m rm x
docker run -e A=b -w /app node npm test => [container, no-env, in /app, A=b] npm test
docker container exec -u root c rm x => [container, no-env] rm x
rm x |> docker exec -i c sh => [container, no-env] sh
docker compose exec -T db psql -c 'x' => [container, no-env] psql -c x
docker-compose run --rm web rm x => [container, no-env, in /] rm x
docker build -t x . => nothing
docker create alpine rm x => [container, no-env] rm x
docker system prune -af => nothing
podman run --rm alpine rm x => [container, no-env, in /] rm x
nerdctl exec c rm x => [container, no-env] rm x
kubectl exec pod rm x => [container] rm x
kubectl exec -it deploy/x -c c -- sh -c 'rm x' => [container] sh -c 'rm x'
rm x |> kubectl exec -i pod -- sh => [container] sh
kubectl debug node/n -it --image=b -- chroot /host rm x => [container] chroot /host rm x
kubectl delete pod x => nothing
systemd-nspawn -D /d rm x => [container] rm x
lxc-attach -n c -- rm x => [container] rm x
incus exec c rm x => [container] rm x
devcontainer exec --workspace-folder . rm x => [container] rm x
flatpak run --command=sh app -c 'rm x' => sh -c 'rm x'
snap run --shell n -c 'rm x' => sh{rm x}
nomad alloc exec -task t id rm x => [container] rm x
virt-customize -a i --run-command 'rm x' => [container] sh{rm x}
apptainer exec i.sif rm x => [container] rm x
buildah run c -- rm x => [container] rm x
k3s kubectl exec p -- rm x => kubectl exec p -- rm x
"""  # noqa: E501


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_programs_in_containers(command, expected):
    assert inside(command) == expected
