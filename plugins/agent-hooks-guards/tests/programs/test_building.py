"""What builders run."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
make -C d test => make<d/Makefile ['test'] ;; make<d/makefile ['test'] ;; make<d/GNUmakefile ['test']
make -f - |> make -f - => make<-
make SHELL=/tmp/x => sh{/tmp/x} ;; make<Makefile ['SHELL=/tmp/x'] ;; make<makefile ['SHELL=/tmp/x'] ;; make<GNUmakefile ['SHELL=/tmp/x']
make CC=gcc all => make<Makefile ['CC=gcc', 'all'] ;; make<makefile ['CC=gcc', 'all'] ;; make<GNUmakefile ['CC=gcc', 'all']
just --command rm x => rm x
tox exec -e py -- rm x => rm x
go run -exec 'rm x' . => sh{rm x}
go build -toolexec='rm x' ./... => sh{rm x}
go test ./... => nothing
rake -e 'code' => ruby{code}
rake db:migrate => nothing
make => make<Makefile ;; make<makefile ;; make<GNUmakefile
make -n => make<Makefile ;; make<makefile ;; make<GNUmakefile
make --eval='$(shell rm x)' all => make{$(shell rm x)} ['all']
make -f x.mk clean => make<x.mk ['clean']
make -C d -f x.mk => make<d/x.mk
make 'X=$(shell rm x)' => make{x := $(shell rm x)\n} ['X=$(shell rm x)'] ;; make<Makefile ['X=$(shell rm x)'] ;; make<makefile ['X=$(shell rm x)'] ;; make<GNUmakefile ['X=$(shell rm x)']
make SHELL=/bin/bash all => sh{/bin/bash} ;; make<Makefile ['SHELL=/bin/bash', 'all'] ;; make<makefile ['SHELL=/bin/bash', 'all'] ;; make<GNUmakefile ['SHELL=/bin/bash', 'all']
ctest --build-and-test a b --test-command rm x => rm x
just build => nothing
just --shell /tmp/x build => sh{/tmp/x}
"""  # noqa: E501


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_what_builders_run(command, expected):
    assert inside(command) == expected
