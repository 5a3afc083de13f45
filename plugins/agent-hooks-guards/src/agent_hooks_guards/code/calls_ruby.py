"""Ruby: what its methods do that reach out of the script."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import values as v
from .calls import (
    _ENVIRONMENT,
    _change,
    _change_folder,
    _copy,
    _decode,
    _delete_all,
    _delete_tree,
    _environment,
    _file_handle,
    _file_object,
    _files_below,
    _first,
    _fold,
    _fork,
    _get,
    _glob,
    _home,
    _inflated,
    _integer,
    _kill,
    _link,
    _mode_first,
    _move,
    _open_file,
    _path_join,
    _pipeline,
    _print,
    _program_named,
    _ruby_read,
    _run_file,
    _sent,
    _shell,
    _socket,
    _spawned,
    _sprintf,
    _stdin,
    _stdin_line,
    _stdin_lines,
    _table,
    _truncate,
    _with_method,
    _words_or_shell,
    _write,
)
from .values import Closure, Reference, Value, join, known, unknown, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .script_state import State


def _ruby_send(state: State, arguments: list[Value], function: Reference) -> Value:
    name = known(_first(arguments))
    owner = function.name.rpartition(".")[0]
    if name is None:
        if owner in ("", "Kernel", "Object", "self", "Process", "IO", "File", "FileUtils"):
            state.doubt("something that is not known is called")
        return unknown(*arguments)
    return state.outside(
        Reference(f"{owner}.{name}" if owner else name, function.labels, function.value), arguments[1:]
    )


def _ruby_method(_state: State, arguments: list[Value], function: Reference) -> Value:
    name = known(_first(arguments))
    owner = function.name.rpartition(".")[0]
    if name is None:
        return Reference(UNKNOWN)
    return Reference(f"{owner}.{name}" if owner else name)


def _called(state: State, arguments: list[Value], function: Reference) -> Value:
    return state.outside(Reference(function.name.rpartition(".")[0], function.labels, function.value), arguments)


def _ruby_constant(_state: State, arguments: list[Value], _function: Reference) -> Value:
    name = known(_first(arguments))
    return Reference(name.replace("::", ".") if name else UNKNOWN)


def _ruby_eval_method(state: State, arguments: list[Value], function: Reference) -> Value:
    del function
    first = _first(arguments)
    if isinstance(first, Closure):
        return state.apply(first, [])
    return state.code(first) if arguments else unknown()


def _ruby_variable(state: State, _arguments: list[Value], function: Reference) -> Value:
    name = function.name
    if name in ("$stdout", "$stderr", "$stdin"):
        return Reference(name[1:].upper())
    if name == "$0":
        return Data(state.script) if state.script else unknown()
    return unknown()


def _ruby_argument(state: State, arguments: list[Value], _function: Reference) -> Value:
    at = whole(_first(arguments))
    return state.arguments[at] if at is not None and 0 <= at < len(state.arguments) else unknown()


def _on_line(state: State, arguments: list[Value], function: Reference) -> Value:
    """What changes the line that was read last."""
    made = state.method(state.variables.get("$_", unknown()), function.name, arguments)
    state.variables["$_"] = made
    return made


def _shell_words(_state: State, arguments: list[Value]) -> Value:
    import shlex

    text = known(_first(arguments))
    if text is None:
        return unknown(*arguments)
    try:
        return [Data(word) for word in shlex.split(text)]
    except ValueError:
        return unknown(*arguments)


RUBY = _table(
    [
        (
            (
                "system exec spawn Process.spawn Process.exec PTY.spawn IO.popen Open3.capture2 "
                "Open3.capture2e Open3.capture3 Open3.popen3 Open3.popen2 Open3.popen2e POSIX.Spawn.spawn "
                "posix_spawn sh"
            ),
            _words_or_shell,
        ),
        ("` %x", _shell),
        ("Open3.pipeline Open3.pipeline_r Open3.pipeline_rw Open3.pipeline_start Open3.pipeline_w", _pipeline),
        (
            (
                "process().write process().puts process().print process().<< process().printf process().read "
                "process().gets"
            ),
            _spawned,
        ),
        (
            (
                "socket().write socket().puts socket().print socket().<< socket().send socket().gets "
                "socket().read socket().recv socket().readline socket().readpartial socket().each_line"
            ),
            _sent,
        ),
        (
            (
                "file().write file().puts file().print file().<< file().read file().gets file().delete "
                "file().unlink file().each_line file().readlines"
            ),
            _file_handle,
        ),
        (
            "file().rmtree",
            lambda state, _arguments, function: state.effect(
                "delete", function.value[0] if isinstance(function.value, list) else unknown(), recursive=True
            ),
        ),
        (
            (
                "FileUtils.rm_rf FileUtils.rm_r FileUtils.rmtree FileUtils.remove_dir FileUtils.remove_entry "
                "FileUtils.remove_entry_secure FileUtils.remove_entry_secure rm_rf rm_r "
                "FileUtils.Verbose.rm_rf"
            ),
            _delete_tree,
        ),
        (
            (
                "FileUtils.rm FileUtils.rm_f FileUtils.safe_unlink FileUtils.rmdir FileUtils.remove "
                "FileUtils.remove_file File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink"
            ),
            _delete_all,
        ),
        ("FileUtils.mv FileUtils.move File.rename FileUtils.Verbose.mv", _move),
        (("FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.copy_file IO.copy_stream FileUtils.install"), _copy),
        ("Dir.chdir FileUtils.cd FileUtils.chdir", _change_folder),
        ("Find.find", _files_below),
        ("FileUtils.touch", _change),
        ("FileUtils.chmod", _mode_first("chmod", 0)),
        ("FileUtils.chmod_R", _mode_first("chmod", 0)),
        ("File.chmod", _mode_first("chmod", 0)),
        ("FileUtils.chown FileUtils.chown_R File.chown", _program_named("chown")),
        ("FileUtils.ln_s FileUtils.ln_sf FileUtils.ln File.symlink File.link", _link),
        ("File.truncate", _truncate),
        ("File.write IO.write File.binwrite IO.binwrite", _write),
        (("File.read IO.read File.binread IO.binread File.readlines IO.readlines File.foreach IO.foreach"), _ruby_read),
        ("File.open File.new open Kernel.open IO.open IO.sysopen", _open_file),
        (
            (
                "URI.open OpenURI.open_uri Net.HTTP.get Net.HTTP.get_response Net.HTTP.get_print URI.read "
                "HTTParty.get RestClient.get Faraday.get Excon.get HTTP.get Net.HTTP.request_get"
            ),
            _get,
        ),
        (
            (
                "Net.HTTP.post Net.HTTP.post_form HTTParty.post RestClient.post Faraday.post Excon.post "
                "HTTP.post RestClient.put"
            ),
            _with_method("POST"),
        ),
        ("Net.HTTP.delete HTTParty.delete RestClient.delete", _with_method("DELETE")),
        ("Net.HTTP.start", _get),
        (("TCPSocket.new TCPSocket.open Socket.tcp UDPSocket.new TCPSocket.tcp UNIXSocket.new Socket.new"), _socket),
        ("Process.kill", _kill),
        ("fork Process.fork Process.daemon", _fork),
        (
            (
                "eval instance_eval class_eval module_eval Object.instance_eval Object.class_eval "
                "RubyVM.InstructionSequence.compile TOPLEVEL_BINDING.eval binding.eval ERB.new "
                "self.instance_eval RubyVM.InstructionSequence.new"
            ),
            _ruby_eval_method,
        ),
        ("*.instance_eval *.class_eval *.module_eval *.instance_exec", _ruby_eval_method),
        ("load require_relative.", _run_file),
        ("require", _fold(lambda _state, _arguments: True)),
        ("syscall", lambda state, _arguments, _function: state.doubt("a system call by its number")),
        (
            (
                "send public_send __send__ Kernel.send Kernel.public_send Object.send self.send "
                "Kernel.__send__ *.send *.public_send *.__send__"
            ),
            _ruby_send,
        ),
        ("method Kernel.method *.method *.instance_method *.public_method", _ruby_method),
        ("*.call", _called),
        ("Object.const_get Kernel.const_get const_get Module.const_get", _ruby_constant),
        ("Base64.decode64 Base64.strict_decode64 Base64.urlsafe_decode64", _decode(v.base64)),
        ("Base64.encode64 Base64.strict_encode64", _decode(v._to_base64)),
        ("CGI.unescape URI.decode_www_form_component URI.decode", _decode(v.url)),
        ("Zlib.inflate Zlib.Inflate.inflate Zlib.gunzip", _inflated(47)),
        (
            (
                "URI URI.parse Pathname.to_s String Array URI.encode_www_form_component Shellwords.escape "
                "Shellwords.shellescape CGI.escape URI.join"
            ),
            _fold(lambda _state, arguments: _first(arguments)),
        ),
        ("Shellwords.split Shellwords.shellsplit", _fold(_shell_words)),
        ("Pathname Pathname.new", _file_object),
        ("File.join", _fold(_path_join)),
        ("File.expand_path File.realpath File.absolute_path", _fold(lambda _state, arguments: _first(arguments))),
        ("Dir.home", _fold(_home)),
        ("Dir.glob Dir.[]", _fold(_glob)),
        ("Integer", _fold(_integer)),
        ("format sprintf", _fold(_sprintf)),
        ("puts print p printf STDOUT.puts STDOUT.print STDOUT.write STDOUT.printf STDOUT.<<", _print),
        (
            "STDIN.each_line ARGF.each_line STDIN.readlines readlines ARGF.readlines",
            _fold(_stdin_lines),
        ),
        ("gsub sub chomp chop tr", _on_line),
        ("STDIN.read ARGF.read", _fold(_stdin)),
        ("gets STDIN.gets ARGF.gets", _fold(_stdin_line)),
        ("ENV.[] ENV.fetch", _fold(_environment)),
        (
            (
                "ENV.to_a ENV.to_h ENV.inspect ENV.to_hash ENV.map ENV.each ENV.to_json ENV.values ENV.to_s "
                "ENV.collect JSON.generate.ENV"
            ),
            _fold(lambda _state, _arguments: Data(UNKNOWN, _ENVIRONMENT)),
        ),
        ("ARGV.[] $*.[]", _ruby_argument),
        ("ARGV.first ARGV.shift", lambda state, _arguments, _function: _ruby_argument(state, [0], _function)),
        (
            "ARGV.join",
            _fold(
                lambda state, arguments: (
                    join(state.arguments, known(_first(arguments)) or "") if state.arguments else unknown()
                )
            ),
        ),
        ("$", _ruby_variable),
    ],
)
