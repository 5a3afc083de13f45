"""What the source of a compiled program would do, by the texts in its calls and by the names that they have."""

from __future__ import annotations

import pytest

from agent_hooks_guards.analysis.analysing import analyse
from agent_hooks_guards.code import scan
from agent_hooks_guards.model.values import Data
from agent_hooks_guards.places.paths import Place

PLACE = Place("/home/dev/app", "/home/dev", "/home/dev/app")


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("c", 'system("deluge all");'),
        ("c", 'char *c = "deluge all"; system(c);'),
        ("c", 'const char c[] = "deluge all"; system(c);'),
        ("c", '#define C "deluge all"\nint main() { system(C); }'),
        ("c", 'popen("deluge all", "r");'),
        ("c", 'execl("/bin/sh", "sh", "-c", "deluge all", NULL);'),
        ("go", 'exec.Command("sh", "-c", "deluge all").Run()'),
        ("java", 'new ProcessBuilder("sh", "-c", "deluge all").start();'),
        ("rust", 'Command::new("sh").arg("-c").arg("deluge all").status();'),
    ],
)
def test_a_text_that_a_source_gives_to_a_shell(language, code):
    assert scan(language, Data(code), []).shells[0].text == "deluge all"


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("c", 'execl("deluge", "deluge", "all", NULL);'),
        ("go", 'exec.Command("deluge", "all").Run()\nfmt.Println("done")'),
        ("go", 'name := "deluge"\nexec.Command(name, "all").Run()'),
        ("java", 'Runtime.getRuntime().exec("deluge all");'),
        ("java", 'Runtime.getRuntime().exec(new String[]{"deluge", "all"});'),
        ("rust", 'Command::new("deluge").args(&["all"]).spawn();'),
    ],
)
def test_a_program_that_a_source_starts(language, code):
    assert scan(language, Data(code), []).programs == [["deluge", "all"]]


@pytest.mark.parametrize(
    ("language", "code", "effect"),
    [
        ("go", 'os.RemoveAll("/srv")', ("delete", "/srv", True)),
        ("go", 'p := "/srv"\nos.RemoveAll(p)', ("delete", "/srv", True)),
        ("go", 'base := "/srv"\nos.RemoveAll(filepath.Join(base, "x"))', ("delete", "/srv/x", True)),
        ("rust", 'fs::remove_dir_all("/srv").unwrap();', ("delete", "/srv", True)),
        ("c", 'unlink("/srv/x");', ("delete", "/srv/x", False)),
        ("c", 'FILE *f = fopen("/srv/x", "w");', ("write", "/srv/x", False)),
        ("go", 'os.WriteFile("/srv/x", []byte("y"), 0644)', ("write", "/srv/x", False)),
        ("rust", 'let p = "/srv/x"; fs::write(p, "y");', ("write", "/srv/x", False)),
        ("java", 'Files.writeString(Path.of("/srv/x"), "y");', ("write", "/srv/x", False)),
        ("c", "while (1) fork();", ("fork", "", False)),
        ("c", "for (;;) { pid = fork(); }", ("fork", "", False)),
    ],
)
def test_what_a_source_does_to_files(language, code, effect):
    assert [each[:3] for each in scan(language, Data(code), []).effects] == [effect]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("go", 'base := "/"\nos.RemoveAll(filepath.Join(base, name))'),
        ("go", "os.RemoveAll(dir)"),
        ("c", 'FILE *f = fopen("/etc/hosts", "r");'),
        ("java", 'list.remove("/srv");'),
        ("c", 'puts("rm -rf /"); if (fork() == 0) work();'),
    ],
)
def test_what_is_not_known_or_only_read_is_nothing(language, code):
    found = scan(language, Data(code), [])
    assert (found.effects, found.shells, found.programs) == ([], [], [])


@pytest.mark.parametrize(
    ("file", "code", "run"),
    [
        ("x.c", 'int main() { system("deluge all"); }', "gcc x.c && ./a.out"),
        ("x.c", 'int main() { system("deluge all"); }', "cc -o y x.c && ./y"),
        ("x.go", 'func main() { exec.Command("deluge", "all").Run() }', "go build x.go && ./x"),
        ("x.go", 'func main() { exec.Command("deluge", "all").Run() }', "go build -o y . && ./y"),
        ("x.rs", 'fn main() { Command::new("deluge").arg("all").spawn(); }', "rustc x.rs && ./x"),
    ],
)
def test_a_source_that_is_written_compiled_and_run(file, code, run):
    found = analyse(f"cat > {file} <<'END'\n{code}\nEND\n{run}", PLACE).commands
    assert ["deluge", "all"] in [each.argv for each in found]
