"""What runs in a terminal, is typed into one, or talks through a connection."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
tmux new -d 'rm x' => sh{rm x}
tmux send-keys -t a 'rm x' Enter => sh{rm x\n}
tmux new -d \; send-keys 'rm x' Enter => sh{rm x\n}
screen -dmS n bash -c 'rm x' => bash -c 'rm x'
screen -S n -X stuff 'rm x\n' => sh{…}
xterm -e rm x => rm x
socat TCP-LISTEN:1 EXEC:/bin/sh => sh{/bin/sh}
nc -e /bin/sh h 1 => sh{/bin/sh}
screen -r n => n
socat - 'SYSTEM:rm x' => sh{rm x}
tmux => nothing
tmux attach -t x => nothing
tmux new-session -d -s n 'rm x' => sh{rm x}
tmux new-session -d -s n rm x => rm x
tmux neww 'rm x' => sh{rm x}
tmux split-window -h 'rm x' => sh{rm x}
tmux run-shell 'rm x' => sh{rm x}
tmux if-shell 'rm x' 'run-shell "rm y"' => sh{…}
tmux pipe-pane -o 'rm x' => sh{rm x}
tmux send-keys -t n.0 rm Space x C-m => sh{rm x\n}
tmux send -l 'rm x' => sh{rm x}
tmux bind-key x run-shell 'rm x' => sh{…}
tmux set-hook -g after-new-window 'run-shell "rm x"' => sh{…}
tmux -L s -f f new -d 'rm x' => sh{rm x}
tmux kill-session -t n => nothing
tmux display-popup -E 'rm x' => sh{rm x}
screen -X -S n stuff 'rm x^M' => sh{…}
screen -S n -X exec rm x => sh{…}
screen rm x => rm x
zellij run -- rm x => rm x
zellij action write-chars 'rm x' => sh{rm x}
dtach -n /tmp/s rm x => rm x
dtach -A /tmp/s -z rm x => rm x
abduco -n name rm x => rm x
gnome-terminal -- rm x => rm x
gnome-terminal -e 'rm x' => sh{rm x}
konsole -e rm x => rm x
xfce4-terminal -x rm x => rm x
alacritty -e rm x => rm x
wezterm start -- rm x => rm x
open https://a.b => nothing
ttyd -p 80 rm x => rm x
websocketd --port=80 rm x => rm x
asciinema rec -c 'rm x' f => sh{rm x}
nc h 80 => nothing
ncat --sh-exec 'rm x' -l 80 => sh{rm x}
ncat -e /bin/bash h 1 => sh{/bin/bash}
socat TCP:h:1 EXEC:'rm x',pty => sh{rm x}
socat TCP:a:1 TCP:b:2 => nothing
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_terminals_and_connections(command, expected):
    assert inside(command) == expected
