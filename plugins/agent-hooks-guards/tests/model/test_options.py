"""The words of a command, read as its program reads them."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.names import base_name
from agent_hooks_guards.model.options import parse
from agent_hooks_guards.model.values import UNKNOWN
from tables import tables

TABLES = tables(__file__)


def read(text):
    argv = shlex.split(text.replace("…", UNKNOWN))
    return argv, parse(argv[0], argv)


def shown(text):
    """Subcommand ``/`` options ``/`` operands."""
    argv, options = read(text)
    given = [name if value is None else f"{name}={value}" for name, value in options.given]
    operands = [argv[at] for at in options.operands]
    parts = [*options.subcommand, "/", *given, "/", *operands]
    return " ".join(parts).replace(UNKNOWN, "…")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Bundles, values attached and apart.
        ("rm -rf x", "/ -r -f / x"),
        ("rm x -rf", "/ -r -f / x"),
        ("head -n5 f", "/ -n=5 / f"),
        ("head -n 5 f", "/ -n=5 / f"),
        ("head --lines=5 f", "/ --lines=5 / f"),
        ("head --lines 5 f", "/ --lines=5 / f"),
        ("head -5 f", "/ -n=5 / f"),
        ("cp -rt d x", "/ -r -t=d / x"),
        ("sort -uo out in", "/ -u -o=out / in"),
        ("curl -sSLXPOST -d@f u -oout", "/ -s -S -L -X=POST -d=@f -o=out / u"),
        ("sed -i.bak -e s/a/b/ f", "/ -i=.bak -e=s/a/b/ / f"),
        ("sed -i -e s/a/b/ f", "/ -i -e=s/a/b/ / f"),
        ("ls --color=auto x", "/ --color=auto / x"),
        # Abbreviations, where a program takes them and only one is meant.
        ("rm --rec --forc x", "/ --recursive --force / x"),
        ("rm --no-pres x", "/ --no-preserve-root / x"),
        ("rm --pre=all x", "/ --preserve-root=all / x"),
        ("git reset --h", "reset / --hard /"),
        ("git push --for-with x", "push / --for-with / x"),
        ("git push --force-w=x origin", "push / --force-with-lease=x / origin"),
        ("git push --forc origin", "push / --forc / origin"),
        ("git push --force origin", "push / --force / origin"),
        ("git push --mir", "push / --mirror /"),
        ("git reflog expire --expire=now", "reflog expire / --expire=now /"),
        ("chmod --recurs 777 x", "/ --recursive / 777 x"),
        ("wget --post-f=x u", "/ --post-file=x / u"),
        ("kubectl delete --al pod", "delete / --al / pod"),
        # Values that look like options, and the end of options.
        ("git push --repo --help x", "push / --repo=--help / x"),
        ("chmod --reference --help x", "/ --reference=--help / x"),
        ("rm -- -rf x", "/ / -rf x"),
        ("rm -r -- -f", "/ -r / -f"),
        ("grep -e --help f", "/ -e=--help / f"),
        ("rm -", "/ / -"),
        # Options that end at the first operand.
        ("sudo -u root rm -rf x", "/ -u=root / rm -rf x"),
        ("sudo -nEu root -- rm -r", "/ -n -E -u=root / rm -r"),
        ("timeout -k 5 10 rm -r x", "/ -k=5 / 10 rm -r x"),
        ("env -i A=b rm -r", "/ -i / A=b rm -r"),
        ("xargs -0n1 rm -rf", "/ -0 -n=1 / rm -rf"),
        ("ssh -p 22 host -t ls -la", "/ -p=22 -t / host ls -la"),
        ("docker run -it --rm -v /:/h img ls -la", "run / -i -t --rm -v=/:/h / img ls -la"),
        ("docker exec -u root c ls -la", "exec / -u=root / c ls -la"),
        ("python -uc code -x", "/ -u -c=code / -x"),
        ("python -m mod -x", "/ -m=mod / -x"),
        ("perl -0777ne code f", "/ -0=777 -n -e=code / f"),
        ("perl -pi.bak -e code f", "/ -p -i=.bak -e=code / f"),
        ("perl -lane code f", "/ -l= -a -n -e=code / f"),
        ("node -pe code", "/ -pe=code /"),
        # Modes, signals, keys.
        ("chmod -x f", "/ / -x f"),
        ("chmod -R -w d", "/ -R / -w d"),
        ("chmod -Rf 777 d", "/ -R -f / 777 d"),
        ("kill -9 1", "/ -s=9 / 1"),
        ("kill -KILL 1", "/ -s=KILL / 1"),
        ("pkill -9 -f x", "/ -s=9 -f / x"),
        ("dd if=/dev/zero of=/dev/sda bs=1M", "/ if=/dev/zero of=/dev/sda bs=1M /"),
        # Bundles without a dash.
        ("tar czf a.tgz x", "/ -c -z -f=a.tgz / x"),
        ("tar czfC a.tgz d x", "/ -c -z -f=a.tgz -C=d / x"),
        ("tar -xzf a.tgz -C d", "/ -x -z -f=a.tgz -C=d /"),
        ("tar xf a --to-comm=x", "/ -x -f=a --to-command=x /"),
        # Expressions.
        ("find -L a b -name x -delete", "/ -L -name=x -delete / a b"),
        ("find . -exec rm -rf {} ; -print", "/ -exec=rm -print / ."),
        ("find . -exec rm {} + -delete", "/ -exec=rm -delete / ."),
        ("find -delete", "/ -delete /"),
        ("find . ( -name x -o -type d ) -delete", "/ ( -name=x -o -type=d ) -delete / ."),
        # Long options with one dash.
        ("terraform destroy --auto-approve -target x", "destroy / -auto-approve -target=x /"),
        ("terraform -chdir=d apply -destroy", "apply / -chdir=d -destroy /"),
        ("openssl enc -d -aes-256-cbc -in f", "enc / -d -aes-256-cbc -in=f /"),
        ("java -cp a -jar b.jar -x", "/ -cp=a -jar=b.jar / -x"),
        ("pwsh -NoP -EnCoDed x", "/ -nop -encodedcommand=x /"),
        # Subcommands, with options of their programs before and behind.
        ("git -C d push -f", "push / -C=d -f /"),
        ("git stash -u", "stash / -u /"),
        ("git stash push -m x f", "stash push / -m=x / f"),
        ("git reflog HEAD", "reflog / / HEAD"),
        ("git remote -v add n u", "remote add / -v / n u"),
        ("git -c a.b=c config --global x y", "config / -c=a.b=c --global / x y"),
        ("docker --context c system prune -af", "system prune / --context=c -a -f /"),
        ("docker compose -f a.yml down -v", "compose down / -f=a.yml -v /"),
        ("docker-compose -f a.yml down -v", "compose down / -f=a.yml -v /"),
        ("podman container rm -f x", "container rm / -f / x"),
        ("kubectl -n p delete pod x", "delete / -n=p / pod x"),
        ("kubectl delete pod x -n p --force", "delete / -n=p --force / pod x"),
        ("kubectl config delete-context x", "config delete-context / / x"),
        ("aws --profile p s3 rb s3://b --force", "s3 rb / --profile=p --force / s3://b"),
        ("aws ec2 terminate-instances --instance-ids i", "ec2 terminate-instances / --instance-ids=i /"),
        ("gcloud compute instances delete vm --zone z -q", "compute instances delete / --zone=z -q / vm"),
        ("gcloud projects delete p", "projects delete / / p"),
        ("az group delete -n g --yes", "group delete / -n=g --yes /"),
        ("gh repo delete o/r --yes", "repo delete / --yes / o/r"),
        ("gh api -X DELETE repos/o/r", "api / -X=DELETE / repos/o/r"),
        ("helm -n x uninstall r", "uninstall / -n=x / r"),
        ("npm publish --access public", "publish / --access=public /"),
        ("npm run build -- -x", "run / / build -x"),
        ("doctl compute droplet delete 1 -f", "compute droplet delete / -f / 1"),
        ("systemctl --user stop x", "stop / --user / x"),
        # Programs that nothing is known of.
        ("foo -abc --x=y z -- -w", "/ -a -b -c --x=y / z -w"),
        ("foo --x y", "/ --x / y"),
        # What is not known.
        ("rm … x", "/ / … x"),
        ("rm -… x", "/ -… / x"),
        ("rm -r… x", "/ -r -… / x"),
        ("git … x", "… / / x"),
        ("git push …", "push / / …"),
    ],
)
def test_words_are_options_values_operands_and_a_subcommand(text, expected):
    assert shown(text) == expected


@pytest.mark.parametrize("text", TABLES["a_command_that_only_prints_help_is_known_as_one"])
def test_a_command_that_only_prints_help_is_known_as_one(text):
    assert read(text)[1].is_help


@pytest.mark.parametrize("text", TABLES["a_command_that_does_something_is_not_help"])
def test_a_command_that_does_something_is_not_help(text):
    assert not read(text)[1].is_help


def test_names_can_be_alternatives_and_prefixes():
    options = read("curl -d a --data-raw=b --data-binary c u")[1]
    assert options.has("-d|--data")
    assert options.has("--data-*")
    assert not options.has("--json|-T")
    assert options.value("-d|--data-raw") == "b"
    assert options.values("-d|--data*") == [("a", 2), ("b", 3), ("c", 5)]
    assert options.value("-X") is None
    assert read("ssh -vvv h")[1].given == [("-v", None)] * 3


def test_the_place_of_a_value_is_its_word():
    argv, options = read("curl -o out -Hx:y --data=z u")
    for value, place in options.values("-o|-H|--data"):
        assert value in argv[place]
    argv, options = read("tar czfC a.tgz d x")
    assert options.values("-f|-C") == [("a.tgz", 2), ("d", 3)]
    assert read("dd of=/dev/sda")[1].values("of") == [("/dev/sda", 1)]


def test_programs_with_one_dash_take_two():
    options = read("terraform apply -auto-approve --var=a=b")[1]
    assert options.has("--auto-approve")
    assert options.has("-auto-approve")
    assert options.value("-var") == "a=b"


@pytest.mark.parametrize(("name", "expected"), TABLES["one_name_for_one_tool"])
def test_one_name_for_one_tool(name, expected):
    assert base_name(name) == expected


def test_an_unknown_name_stays_as_it_is():
    assert base_name(f"r{UNKNOWN}") == f"r{UNKNOWN}"


def test_a_bundle_of_a_million_letters_is_its_letters():
    options = parse("rm", ["rm", "-" + "r" * 1_000_000 + "f", "x"])
    assert {name for name, _ in options.given} == {"-r", "-f"}
    assert len(options.given) < 100


def test_a_long_value_behind_a_letter_is_the_value_as_it_stands():
    code = "import os; os.system('uname -a'); print('a long line of code, longer than any bundle')"
    assert parse("python3", ["python3", f"-c{code}"]).given == [("-c", code)]


@settings(max_examples=300)
@given(
    st.sampled_from(sorted({path.split(" ")[0] for path in declarations().entries} | {"foo"})),
    st.lists(
        st.one_of(
            st.text(max_size=6), st.sampled_from(["-", "--", "-x", "--x=y", "add", "delete", "-exec", ";", "a=b"])
        )
    ),
)
def test_every_word_is_read_once(program, words):
    argv = [program, *words]
    options = parse(program, argv)
    assert len(options.given) == len(options.places)
    assert len(set(options.operands)) == len(options.operands)
    assert all(0 < at < len(argv) for at in options.operands)
    assert not {
        place for (_, value), place in zip(options.given, options.places, strict=True) if value == argv[place]
    } & set(options.operands)


def test_names_and_values_of_jq_are_no_files():
    options = parse("jq", ["jq", "-n", "--arg", "a", "~/.ssh/id_rsa", "--rawfile", "k", "key", ".", "x.json"])
    assert options.value("--arg") == "~/.ssh/id_rsa"
    assert options.value("--rawfile") == "key"
    assert options.operands == [8, 9]


def test_words_behind_args_of_jq_are_texts():
    assert parse("jq", ["jq", ".", "--args", "a", "b"]).operands == [1]
