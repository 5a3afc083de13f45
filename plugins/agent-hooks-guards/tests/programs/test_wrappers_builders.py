"""What builders run."""

from __future__ import annotations

import pytest
from wrapping import cases, inside

CASES = r"""
make -C d test => make<d/Makefile ['test'] ;; make<d/makefile ['test'] ;; make<d/GNUmakefile ['test']
make -f - |> make -f - => make<-
make SHELL=/tmp/x => sh{/tmp/x} ;; make<Makefile ['SHELL=/tmp/x'] ;; make<makefile ['SHELL=/tmp/x'] ;; make<GNUmakefile ['SHELL=/tmp/x']
make CC=gcc all => make<Makefile ['CC=gcc', 'all'] ;; make<makefile ['CC=gcc', 'all'] ;; make<GNUmakefile ['CC=gcc', 'all']
cmake -E rm -rf x => rm -rf x
cmake -E env A=b rm x => [A=b] rm x
cmake -P x.cmake => cmake<x.cmake
just --command rm x => rm x
cargo --config 'build.rustc-wrapper="rm"' build => sh{rm}
tox exec -e py -- rm x => rm x
cargo build => nothing
cargo run -- rm x => nothing
cargo watch -s 'rm x' => sh{rm x}
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
make SHELL=/bin/bash all => make<Makefile ['SHELL=/bin/bash', 'all'] ;; make<makefile ['SHELL=/bin/bash', 'all'] ;; make<GNUmakefile ['SHELL=/bin/bash', 'all']
cmake -S . -B build => nothing
cmake --build build => nothing
cmake -E remove_directory x => rm -rf x
cmake -E echo x => nothing
cmake -E chdir d rm x => [in d] rm x
ctest --build-and-test a b --test-command rm x => rm x
just build => nothing
just --shell /tmp/x build => sh{/tmp/x}
gradle -I /tmp/i.gradle build => groovy</tmp/i.gradle
gradle build => nothing
mvn exec:exec -Dexec.executable=rm -Dexec.args='-rf x' => sh{rm -rf x}
mvn test => nothing
"""  # noqa: E501


@pytest.mark.parametrize(("command", "expected"), cases(CASES))
def test_what_builders_run(command, expected):
    assert inside(command) == expected
