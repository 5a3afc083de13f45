"""What builders run."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
make -C d test => nothing
make -f - |> make -f - => make<-
make SHELL=/tmp/x => sh{/tmp/x}
make CC=gcc all => nothing
just --command rm x => rm x
tox exec -e py -- rm x => rm x
go run -exec 'rm x' . => sh{rm x}
go build -toolexec='rm x' ./... => sh{rm x}
go test ./... => nothing
rake -e 'code' => ruby{code}
rake db:migrate => nothing
make => nothing
make -n => nothing
make --eval='$(shell rm x)' all => make{$(shell rm x)} ['all']
make -f x.mk clean => make<x.mk ['clean']
make -C d -f x.mk => make<d/x.mk
make 'X=$(shell rm x)' => make{x := $(shell rm x)\n} ['X=$(shell rm x)']
make SHELL=/bin/bash all => sh{/bin/bash}
ctest --build-and-test a b --test-command rm x => rm x
just build => nothing
just --shell /tmp/x build => sh{/tmp/x}
"""


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_what_builders_run(command, expected):
    assert inside(command) == expected
