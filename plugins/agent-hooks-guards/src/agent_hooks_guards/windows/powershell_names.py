"""The names of PowerShell: aliases of cmdlets, their parameters."""

from __future__ import annotations

ALIASES = {
    alias: name
    for name, aliases in (
        ("add-content", "ac"),
        ("clear-content", "clc"),
        ("clear-host", "clear cls"),
        ("clear-item", "cli"),
        ("copy-item", "cpi cp copy"),
        ("export-alias", "epal"),
        ("foreach-object", "% foreach"),
        ("format-list", "fl"),
        ("format-table", "ft"),
        ("get-alias", "gal"),
        ("get-childitem", "gci ls dir"),
        ("get-command", "gcm"),
        ("get-content", "gc cat type"),
        ("get-item", "gi"),
        ("get-itemproperty", "gp"),
        ("get-process", "ps"),
        ("get-variable", "gv"),
        ("get-wmiobject", "gwmi"),
        ("import-module", "ipmo"),
        ("invoke-command", "icm"),
        ("invoke-expression", "iex"),
        ("invoke-item", "ii"),
        ("invoke-restmethod", "irm"),
        ("invoke-webrequest", "iwr curl wget"),
        ("invoke-wmimethod", "iwmi"),
        ("measure-object", "measure"),
        ("move-item", "mi mv move"),
        ("new-alias", "nal"),
        ("new-item", "ni md mkdir"),
        ("pop-location", "popd"),
        ("push-location", "pushd"),
        ("remove-item", "rm del ri rd rmdir erase"),
        ("remove-itemproperty", "rp"),
        ("remove-job", "rjb"),
        ("remove-wmiobject", "rwmi"),
        ("rename-item", "rni ren"),
        ("select-object", "select"),
        ("set-alias", "sal"),
        ("set-content", "sc"),
        ("set-itemproperty", "sp"),
        ("set-location", "sl cd chdir"),
        ("set-variable", "sv"),
        ("set-wmiinstance", "swmi"),
        ("sort-object", "sort"),
        ("start-bitstransfer", "bits"),
        ("start-job", "sajb"),
        ("start-process", "saps start"),
        ("start-service", "sasv"),
        ("start-sleep", "sleep"),
        ("stop-process", "kill spps"),
        ("stop-service", "spsv"),
        ("tee-object", "tee"),
        ("where-object", "? where"),
        ("write-output", "echo write"),
    )
    for alias in aliases.split()
}
# On systems that are not Windows these names are programs: words with two letters behind one dash tell it.
ALSO_PROGRAMS = frozenset("rm rmdir cp mv cat ls curl wget kill ps sleep sort tee mkdir man mount echo diff".split())
PARAMETERS = {
    "remove-item": (
        "path literalpath filter include exclude recurse force confirm whatif stream credential verbose erroraction"
    ),
    "clear-content": "path literalpath filter include exclude force whatif confirm erroraction",
    "set-content": (
        "path value literalpath filter include exclude passthru force encoding nonewline whatif confirm "
        "stream asbytestream"
    ),
    "add-content": "path value literalpath filter include exclude passthru force encoding nonewline whatif confirm",
    "out-file": "filepath literalpath append encoding force inputobject noclobber nonewline width whatif",
    "tee-object": "filepath literalpath append inputobject variable",
    "get-content": (
        "path literalpath raw tail totalcount encoding wait readcount delimiter force asbytestream "
        "erroraction first head last"
    ),
    "copy-item": (
        "path destination recurse force literalpath container filter include exclude passthru whatif "
        "confirm erroraction tosession"
    ),
    "move-item": "path destination force literalpath filter include exclude passthru whatif confirm erroraction",
    "rename-item": "path newname force literalpath passthru whatif confirm",
    "new-item": "path name itemtype value force target whatif confirm erroraction",
    "get-childitem": (
        "path recurse force filter include exclude depth directory file hidden name literalpath "
        "erroraction readonly system attributes"
    ),
    "invoke-webrequest": (
        "uri method body headers outfile infile usebasicparsing useragent contenttype credential proxy "
        "timeoutsec sessionvariable websession passthru maximumredirection skipcertificatecheck form "
        "erroraction"
    ),
    "invoke-restmethod": (
        "uri method body headers outfile infile usebasicparsing useragent contenttype credential proxy "
        "timeoutsec sessionvariable websession form skipcertificatecheck authentication token erroraction"
    ),
    "start-process": (
        "filepath argumentlist verb windowstyle wait nonewwindow passthru workingdirectory "
        "redirectstandardoutput credential erroraction"
    ),
    "start-bitstransfer": "source destination displayname asynchronous priority transfertype",
    "invoke-expression": "command",
    "invoke-command": "scriptblock computername argumentlist filepath session credential hostname username asjob",
    "start-job": "scriptblock argumentlist name filepath initializationscript",
    "set-location": "path literalpath passthru",
    "foreach-object": "process begin end membername parallel throttlelimit inputobject",
    "where-object": "filterscript property value eq ne like match",
    "set-itemproperty": "path name value type force literalpath",
    "remove-itemproperty": "path name force literalpath",
    "clear-item": "path force literalpath recurse",
    "set-alias": "name value force scope option",
    "new-alias": "name value force scope option",
    "set-variable": "name value scope force option",
    "invoke-item": "path literalpath",
    "send-mailmessage": "to from subject body attachments smtpserver port usessl credential",
    "format-volume": (
        "driveletter filesystem newfilesystemlabel full force confirm path partition inputobject filesystemlabel"
    ),
    "clear-disk": "number removedata removeoem confirm friendlyname uniqueid path inputobject",
    "stop-process": "id name force passthru inputobject whatif confirm",
    "select-object": "property first last skip expandproperty unique index",
}
# Parameters that take no value.
SWITCHES = frozenset(
    "recurse force confirm whatif verbose passthru append nonewline raw wait usebasicparsing directory "
    "file hidden name"
    "noclobber asbytestream container skipcertificatecheck nonewwindow unique full removedata removeoem asjob usessl "
    "asynchronous readonly system full debug".split()
)
# Cmdlets that pass on what they are given, or list it.
LISTING = frozenset(("get-childitem", "get-item", "where-object", "sort-object", "select-object"))
