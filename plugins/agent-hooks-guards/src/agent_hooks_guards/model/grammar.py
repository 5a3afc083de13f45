"""What programs take on their command lines, as their manuals say.

A line of ``GRAMMARS`` is a list of options; letters behind one dash are so many options. A sign at the end of one says
what belongs to it: ``=`` a value, ``?`` a value that is attached or missing, ``@`` a value and no options after it,
``#`` digits that are attached, ``&`` a name and a value, ``%`` no files behind it, ``!`` nothing is done but to print
something; nothing: no value. Words with a dot are ways of reading: ``.abbreviates`` (long options may be cut short; all
of them are listed then), ``.stop:1`` (options end at the first operand), ``.names`` (long options have one dash),
``.letters`` (beside that, letters may be bundled), ``.own`` (a subcommand that does not take the options of its
program), ``.keys`` (``key=value`` operands), ``.number:-n`` (``-5`` is ``-n 5``), ``.signals``, ``.modes``, ``.old``
(the first word may be a bundle without a dash), ``.plus`` (``+x`` is an option), ``.equals`` (``-x=value``), ``.h``
(``-h`` is help), ``.find`` (an expression), ``.valued`` (unlisted options have a value), ``.folded`` (capitals mean
nothing).
"""

from __future__ import annotations

# Flags do not matter to how a line is read, so they stand here only where a bundle or an abbreviation needs them.
GRAMMARS: dict[str, str] = {
    # Files.
    "rm": ".abbreviates -firRdvIPWx --force --interactive? --one-file-system --no-preserve-root --preserve-root?"
    " --recursive --dir --verbose",
    "rmdir": ".abbreviates -pv --ignore-fail-on-non-empty --parents --verbose",
    "unlink": "",
    "cp": ".abbreviates -S= -t= --archive --attributes-only --backup? --copy-contents --debug --force"
    " --interactive --link --dereference --no-clobber --no-dereference --no-preserve= --parents --preserve?"
    " --recursive --reflink? --remove-destination --sparse= --strip-trailing-slashes --symbolic-link --suffix="
    " --target-directory= --no-target-directory --update? --verbose --keep-directory-symlink --one-file-system"
    " --context? -Z",
    "mv": ".abbreviates -S= -t= --backup? --debug --exchange --force --interactive --no-clobber --no-copy"
    " --strip-trailing-slashes --suffix= --target-directory= --no-target-directory --update? --verbose --context",
    "ln": ".abbreviates -S= -t= --backup? --directory --force --interactive --logical --no-dereference --physical"
    " --relative --symbolic --suffix= --target-directory= --no-target-directory --verbose",
    "install": ".abbreviates -m= -o= -g= -t= -S= --backup? --compare --directory --debug --group= --mode= --owner="
    " --preserve-timestamps --strip --strip-program= --suffix= --target-directory= --no-target-directory --verbose"
    " --preserve-context --context?",
    "chmod": ".abbreviates .modes -Rcfv --changes --quiet --silent --verbose --no-preserve-root --preserve-root"
    " --reference= --recursive --dereference --no-dereference",
    "chown": ".abbreviates -RcfvhHLP --changes --quiet --silent --verbose --dereference --no-dereference --from="
    " --no-preserve-root --preserve-root --reference= --recursive",
    "chattr": "-v= -p=",
    "setfacl": "-m= -M= -x= -X= --modify= --modify-file= --remove= --remove-file= --set= --set-file= --restore=",
    "chcon": "-u= -r= -t= -l= --reference= --user= --role= --type= --range=",
    "dd": ".keys",
    "truncate": ".abbreviates -s= -r= --no-create --io-blocks --reference= --size=",
    "shred": ".abbreviates -n= -s= --force --iterations= --random-source= --size= --remove? --verbose --exact --zero",
    "wipe": "-k= -q= -Q= -S= -R= -l= -o= -b= -M= -p=",
    "tee": ".abbreviates --append --ignore-interrupts --output-error?",
    "touch": ".abbreviates -d= -r= -t= --no-create --date= --no-dereference --reference= --time=",
    "mkdir": ".abbreviates -m= -Z? --mode= --parents --verbose --context?",
    "mkfifo": "-m= --mode=",
    "mknod": "-m= --mode=",
    "mktemp": ".abbreviates -p= --directory --dry-run --quiet --suffix= --tmpdir?",
    "cat": "",
    "head": ".abbreviates .number:-n -n= -c= --bytes= --lines= --quiet --silent --verbose --zero-terminated",
    "tail": ".abbreviates .number:-n -n= -c= -s= --bytes= --follow? --lines= --max-unchanged-stats= --pid= --quiet"
    " --silent --retry --sleep-interval= --verbose --zero-terminated",
    "sort": ".abbreviates -k= -o= -S= -t= -T= --ignore-leading-blanks --dictionary-order --ignore-case"
    " --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort --random-sort"
    " --random-source= --reverse --sort= --version-sort --batch-size= --check? --compress-program= --debug"
    " --files0-from= --key= --merge --output= --stable --buffer-size= --field-separator= --temporary-directory="
    " --parallel= --unique --zero-terminated",
    "uniq": ".abbreviates .number:-f -f= -s= -w= --count --repeated --all-repeated? --skip-fields= --group?"
    " --ignore-case --skip-chars= --unique --zero-terminated --check-chars=",
    "cut": ".abbreviates -b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --complement"
    " --only-delimited --output-delimiter= --zero-terminated",
    "split": ".abbreviates .number:-l -a= -b= -C= -l= -n= -t= --suffix-length= --additional-suffix= --bytes="
    " --line-bytes= --numeric-suffixes? --hex-suffixes? --elide-empty-files --filter= --lines= --number="
    " --separator= --unbuffered --verbose",
    "csplit": "-b= -f= -n= --suffix-format= --prefix= --digits=",
    "paste": "-d= --delimiters=",
    "join": "-a= -e= -j= -o= -t= -v= -1= -2=",
    "tr": "-cCdst --complement --delete --squeeze-repeats --truncate-set1",
    "wc": "--files0-from= --total=",
    "nl": "-b= -d= -f= -h= -i= -l= -n= -s= -v= -w=",
    "fold": "-w= --width=",
    "od": "-A= -j= -N= -S? -t= -w? --address-radix= --skip-bytes= --read-bytes= --format= --endian=",
    "xxd": ".names .letters -c= -g= -l= -o= -s= -cols= -groupsize= -len= -offset= -seek= -r -p -i -b -u -e -E -a"
    " -d -ps -plain -postscript -revert -include -bits -uppercase -n= -name= -R= -h! -v!",
    "hexdump": "-e= -f= -n= -s=",
    "base64": ".abbreviates -w= -i= -o= -b= --decode --ignore-garbage --wrap= --input= --output= --break=",
    "basenc": "-w= --wrap=",
    "stat": "-c= -f --format= --printf= -t",
    "ls": "-I= -T= -w= --block-size= --hide= --ignore= --quoting-style= --tabsize= --width= --format= --sort= --time=",
    "tree": "-L= -P= -I= -o= -H= -T= --filelimit= --charset= --timefmt= --sort=",
    "du": "-d= -B= -t= -X= --max-depth= --block-size= --threshold= --exclude= --exclude-from= --files0-from=",
    "df": "-B= -t= -x= --block-size= --type= --exclude-type=",
    "date": "-d= -f= -r= -s= --date= --file= --reference= --set=",
    "seq": "-f= -s= --format= --separator=",
    "diff": ".number:-U -C= -U= -F= -I= -x= -X= -S= -W= -D= --label= --exclude= --exclude-from="
    " --ignore-matching-lines= --from-file= --to-file=",
    "patch": "-p= -i= -o= -d= -B= -D= -F= -g= -r= -V= -Y= -z= --strip= --input= --output= --directory="
    " --reject-file= --prefix= --suffix=",
    "comm": "--output-delimiter=",
    "realpath": "--relative-to= --relative-base=",
    "basename": "-s= --suffix=",
    "printf": ".stop:1 -v=",
    "echo": ".stop:1 .own",
    "read": "-a= -d= -i= -n= -N= -p= -t= -u=",
    "pv": "-s= -L= -B= -N= -i= -w= -H= -F= -d= -R= -P=",
    "sponge": "",
    "rename": "-e= -E= -f -n -v",
    "fallocate": "-l= -o= --length= --offset=",
    "ionice": ".stop:1 -c= -n= -p= -P= -u= -t --class= --classdata= --pid= --pgid= --uid=",
    "locate": "-d= -l= -n= --database= --limit=",
    "file": "-f= -F= -m= -P= --files-from= --separator= --magic-file=",
    "find": ".find .names -name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -lname= -ilname="
    " -type= -xtype= -size= -perm= -user= -group= -uid= -gid= -newer= -anewer= -cnewer= -mtime= -atime= -ctime="
    " -mmin= -amin= -cmin= -maxdepth= -mindepth= -links= -inum= -samefile= -fstype= -regextype= -used= -context="
    " -printf= -fprint= -fprint0= -fls= -files0-from= -Bmin= -Btime= -newerXY= -newermt= -newerct= -newerat="
    " -newermm= -newercm= -newerac= -newermc= -newerBt= -newerBB= -flags= -nouser -nogroup -delete -prune -print"
    " -print0 -ls -quit -empty",
    "fd": "-x -X -d= -t= -e= -E= -c= -j= -S= -o= -C= -g --max-depth= --min-depth= --exact-depth= --type="
    " --extension= --exclude= --ignore-file= --color= --threads= --size= --owner= --max-results= --base-directory="
    " --search-path= --changed-within= --changed-before= --newer= --older= --and= --format= --batch-size="
    " --path-separator=",
    # Archives.
    "tar": ".old .abbreviates -f= -C= -T= -X= -I= -F= -b= -g= -H= -K= -L= -N= -V= --file= --directory="
    " --files-from= --exclude-from= --exclude= --use-compress-program= --to-command= --info-script="
    " --new-volume-script= --checkpoint? --checkpoint-action= --rsh-command= --rmt-command= --transform= --xform="
    " --strip-components= --listed-incremental= --owner= --group= --mode= --mtime= --format= --blocking-factor="
    " --record-size= --label= --newer= --after-date= --newer-mtime= --starting-file= --suffix= --tape-length="
    " --volno-file= --index-file= --add-file= --exclude-tag= --exclude-tag-all= --exclude-tag-under="
    " --exclude-ignore= --exclude-ignore-recursive= --owner-map= --group-map= --sort= --hole-detection="
    " --pax-option= --quoting-style= --quote-chars= --warning= --one-top-level? --extract --get --create --list"
    " --append --update --catenate --concatenate --delete --diff --compare --test-label --gzip --bzip2 --xz --zstd"
    " --lzma --lzip --lzop --auto-compress --no-auto-compress --verbose --verify --keep-old-files --skip-old-files"
    " --keep-newer-files --overwrite --overwrite-dir --no-overwrite-dir --unlink-first --recursive-unlink"
    " --remove-files --absolute-names --dereference --hard-dereference --one-file-system --preserve-permissions"
    " --same-permissions --same-owner --no-same-owner --no-same-permissions --numeric-owner --to-stdout"
    " --wildcards --no-wildcards --anchored --no-anchored --acls --no-acls --xattrs --no-xattrs --selinux"
    " --no-selinux --sparse --null --no-null --recursion --no-recursion --exclude-vcs --exclude-vcs-ignores"
    " --exclude-backups --exclude-caches --force-local --ignore-case --no-ignore-case --ignore-command-error"
    " --ignore-failed-read --totals? --utc --full-time --show-transformed-names --block-number --interactive"
    " --confirmation --multi-volume --incremental --seek --no-seek --check-device --no-check-device"
    " --delay-directory-restore --no-delay-directory-restore --touch --atime-preserve?",
    "zip": ".abbreviates -b= -i -x -n= -t= -tt= -T -TT= -P= -s= -sp= -sb= -y -r -q -m -d -u -f -j -O= -o -l -ll -z"
    " -@ --unzip-command= --password= --temp-path= --recurse-paths --test --move --delete --update --freshen"
    " --junk-paths --exclude --include --symlinks --quiet --encrypt --suffixes= --split-size= --out= --filesync"
    " --grow",
    "unzip": "-d= -x -P= -o -n -q -j -l -p -t -u -v",
    "gzip": "-S= --suffix=",
    "bzip2": "",
    "xz": "-T= -S= -M= -C= -F= --threads= --suffix= --memlimit= --check= --format= --files? --files0?",
    "zstd": "-o= -D= -T= -M= --output-dir-flat= --output-dir-mirror= --filelist=",
    "7z": ".names",
    "cpio": "-F= -I= -O= -E= -R= -H= -C= -D= -M= --file= --pattern-file= --owner= --format= --rsh-command="
    " --directory= --to-stdout --extract --create --pass-through --make-directories",
    "rsync": "-e= -f= -B= -T= -M= --rsh= --rsync-path= --exclude= --include= --exclude-from= --include-from="
    " --filter= --files-from= --backup-dir= --suffix= --chmod= --chown= --usermap= --groupmap= --compare-dest="
    " --copy-dest= --link-dest= --log-file= --log-file-format= --out-format= --password-file= --bwlimit="
    " --timeout= --contimeout= --max-size= --min-size= --max-delete= --partial-dir= --port= --sockopts="
    " --temp-dir= --remote-option= --info= --debug= --block-size= --checksum-choice= --compress-choice="
    " --compress-level= --iconv= --modify-window= --address= --config= --dparam= --outbuf= --protocol="
    " --read-batch= --write-batch= --only-write-batch= --skip-compress= --stop-after= --stop-at= --max-alloc="
    " --early-input= --copy-as=",
    "rclone": "-P --config= --include= --exclude= --filter= --filter-from= --exclude-from= --include-from="
    " --transfers= --checkers= --bwlimit= --max-age= --min-age= --max-size= --min-size= --log-file= --log-level="
    " --backup-dir= --password-command= --header= --user-agent= --max-depth= --suffix= --dump= -f= -v -n -i",
    # The network.
    "curl": "-A= -b= -c= -C= -d= -D= -e= -E= -F= -h? -H= -K= -m= -o= -P= -Q= -r= -t= -T= -u= -U= -w= -x= -X= -y="
    " -Y= -z= -: -# --abstract-unix-socket= --alt-svc= --aws-sigv4= --cacert= --capath= --cert= --cert-type="
    " --ciphers= --config= --connect-timeout= --connect-to= --continue-at= --cookie= --cookie-jar="
    " --create-file-mode= --crlfile= --curves= --data= --data-ascii= --data-binary= --data-raw= --data-urlencode="
    " --delegation= --dns-interface= --dns-ipv4-addr= --dns-ipv6-addr= --dns-servers= --doh-url= --dump-header="
    " --egd-file= --engine= --etag-compare= --etag-save= --expect100-timeout= --form= --form-string="
    " --ftp-account= --ftp-alternative-to-user= --ftp-method= --ftp-port= --ftp-ssl-ccc-mode="
    " --happy-eyeballs-timeout-ms= --haproxy-clientip= --header= --help? --hostpubmd5= --hostpubsha256= --hsts="
    " --interface= --ip-tos= --ipfs-gateway= --json= --keepalive-time= --key= --key-type= --krb= --libcurl="
    " --limit-rate= --local-port= --login-options= --mail-auth= --mail-from= --mail-rcpt= --max-filesize="
    " --max-redirs= --max-time= --netrc-file= --noproxy= --oauth2-bearer= --output= --output-dir= --parallel-max="
    " --pass= --pinnedpubkey= --preproxy= --proto= --proto-default= --proto-redir= --proxy= --proxy-cacert="
    " --proxy-cert= --proxy-ciphers= --proxy-header= --proxy-key= --proxy-pass= --proxy-user= --proxy1.0="
    " --pubkey= --quote= --random-file= --range= --rate= --referer= --request= --request-target= --resolve="
    " --retry= --retry-delay= --retry-max-time= --sasl-authzid= --service-name= --socks4= --socks4a= --socks5="
    " --socks5-gssapi-service= --socks5-hostname= --speed-limit= --speed-time= --stderr= --telnet-option="
    " --tftp-blksize= --time-cond= --tls-max= --tls13-ciphers= --tlspassword= --tlsuser= --trace= --trace-ascii="
    " --trace-config= --unix-socket= --upload-file= --upload-flags= --url= --url-query= --user= --user-agent="
    " --expand-url= --expand-data= --expand-header= --expand-proxy= --expand-output= --expand-user="
    " --variable= --vlan-priority= --write-out= -V!",
    "wget": ".abbreviates -o= -a= -e= -i= -B= -t= -O= -T= -w= -Q= -P= -U= -l= -A= -R= -D= -I= -X= -n="
    " --output-file= --append-output= --execute= --input-file= --base= --tries= --output-document= --start-pos="
    " --timeout= --dns-timeout= --connect-timeout= --read-timeout= --limit-rate= --wait= --waitretry= --quota="
    " --bind-address= --restrict-file-names= --user= --password= --ask-password --use-askpass= --directory-prefix="
    " --cut-dirs= --default-page= --header= --compression= --max-redirect= --proxy-user= --proxy-password="
    " --referer= --user-agent= --post-data= --post-file= --method= --body-data= --body-file= --load-cookies="
    " --save-cookies= --secure-protocol= --certificate= --certificate-type= --private-key= --private-key-type="
    " --ca-certificate= --ca-directory= --crl-file= --pinnedpubkey= --random-file= --ciphers= --hsts-file="
    " --ftp-user= --ftp-password= --level= --accept= --reject= --accept-regex= --reject-regex= --regex-type="
    " --domains= --exclude-domains= --follow-tags= --ignore-tags= --include-directories= --exclude-directories="
    " --config= --progress= --report-speed= --warc-file= --warc-header= --warc-max-size= --warc-dedup="
    " --warc-tempdir= --prefer-family= --local-encoding= --remote-encoding= --rejected-log= --background --debug"
    " --quiet --verbose --no-verbose --force-html --no-clobber --continue --show-progress --timestamping --spider"
    " --random-wait --no-proxy --inet4-only --inet6-only --no-check-certificate --content-disposition"
    " --content-on-error --trust-server-names --recursive --delete-after --convert-links --backup-converted"
    " --mirror --page-requisites --span-hosts --relative --no-parent --no-cookies --save-headers --server-response"
    " --unlink --xattr --input-metalink= --keep-session-cookies --no-directories --force-directories"
    " --no-host-directories --protocol-directories --adjust-extension --ignore-length --ignore-case --follow-ftp"
    " --no-hsts --https-only --no-cache --no-dns-cache --retry-connrefused --retry-on-http-error= -h! -V!",
    "http": "-a= -A= -o= -p= -P= -s= -x -f -j --auth= --auth-type= --output= --print= --pretty= --style="
    " --session= --session-read-only= --proxy= --timeout= --verify= --cert= --cert-key= --max-redirects= --raw="
    " --boundary= --ssl= --ciphers=",
    "xh": "-a= -A= -o= -p= -P= -s= -f -j --auth= --auth-type= --output= --print= --pretty= --style= --session="
    " --raw= --proxy= --timeout= --verify= --cert= --cert-key=",
    "aria2c": "-d= -o= -i= -s= -x= -j= -l= -T= --dir= --out= --input-file= --header= --load-cookies="
    " --all-proxy= --http-proxy= --https-proxy= --ftp-proxy="
    " --on-download-complete= --on-download-start= --on-download-error= --on-download-stop="
    " --on-bt-download-complete= --on-download-pause=",
    "nc": "-p= -s= -w= -e= -c= -q= -i= -X= -x= -I= -O= -P= -T= -V= -m= -M= -g= -G= -o= --exec= --sh-exec="
    " --lua-exec= --proxy= --source-port= --wait= --idle-timeout= --send-only --recv-only --keep-open --listen"
    " -lvnzukrdNUhtDSCF46",
    "socat": "-b= -t= -T= -l= -lp= -r= -R= -L= -W=",
    "telnet": "-l= -b= -e= -n= -S= -X=",
    "ssh": ".stop:2 -B= -b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -P= -p= -Q= -R= -S= -W= -w="
    " -46AaCfGgKkMNnqsTtVvXxYy",
    "autossh": ".stop:2 -M= -B= -b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -P= -p= -Q= -R= -S= -W="
    " -w= -46AaCfGgKkNnqsTtVvXxYy",
    "scp": "-c= -D= -F= -i= -J= -l= -o= -P= -S= -X= -346ABCOpqrRTv",
    "sftp": "-B= -b= -c= -D= -F= -i= -J= -l= -o= -P= -R= -S= -s= -X=",
    "mosh": ".stop:2 -p= --ssh= --server= --client= --port= --predict= --bind-server= --family="
    " --experimental-remote-ip=",
    "ssh-copy-id": "-i= -p= -o= -F= -t=",
    "ssh-keygen": "-t= -b= -f= -N= -C= -P= -O= -a= -D= -E= -F= -I= -J= -K -M= -m= -n= -R= -r= -s= -S= -T= -V= -W="
    " -w= -Y= -Z= -z=",
    "ssh-add": "-t= -d= -D -e= -s= -c -T= -H= -h= -S= -E=",
    "sshpass": ".stop:1 -p= -f= -d= -P= -e? -v",
    "ftp": "-p= -n -i -v -g -e -o= -u=",
    "lftp": "-c= -e= -f= -u= -p=",
    "nmap": ".names .letters -p= -oN= -oX= -oG= -oA= -oS= -iL= -iR= -e= -S= -g= -D= -script= -script-args="
    " -script-args-file= -exclude= -excludefile= -max-retries= -host-timeout= -min-rate= -max-rate= -top-ports="
    " -dns-servers= -data= -T#",
    "tcpdump": "-B= -c= -C= -E= -F= -G= -i= -j= -M= -m= -Q= -r= -s= -T= -V= -w= -W= -y= -z= -Z= --interface= --count=",
    "dig": ".names -f= -p= -q= -t= -c= -b= -k= -x= -y=",
    "mail": "-s= -a= -c= -b= -r= -S= -A= -q= -u= -f= -t -E -n -v --subject= --attach= --append= --return-address=",
    "mutt": "-s= -a= -c= -b= -i= -F= -e= -H= -f= -m=",
    "sendmail": "-f= -F= -C= -o= -O= -q? -r= -N= -R= -V= -B= -L= -X= -p= -d? -b=",
    # Text.
    "grep": ".abbreviates .number:-C -e= -f= -m= -A= -B= -C= -D= -d= -h --regexp= --file= --max-count="
    " --after-context= --before-context= --context= --label= --binary-files= --devices= --directories= --include="
    " --exclude= --exclude-from= --exclude-dir= --group-separator= --color? --colour? --extended-regexp"
    " --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --word-regexp --line-regexp"
    " --null-data --no-messages --invert-match --byte-offset --line-number --line-buffered --with-filename"
    " --no-filename --only-matching --quiet --silent --text --recursive --dereference-recursive"
    " --files-without-match --files-with-matches --count --initial-tab --null --no-group-separator"
    " --unix-byte-offsets --binary",
    "rg": "-e= -f= -g= -t= -T= -m= -A= -B= -C= -r= -E= -j= -M= -d= -h! --regexp= --file= --glob= --iglob= --type="
    " --type-not= --type-add= --type-clear= --max-count= --after-context= --before-context= --context= --replace="
    " --encoding= --threads= --max-columns= --max-depth= --maxdepth= --max-filesize= --pre= --pre-glob= --sort="
    " --sortr= --color= --colors= --context-separator= --dfa-size-limit= --engine= --field-context-separator="
    " --field-match-separator= --ignore-file= --path-separator= --regex-size-limit= --hostname-bin="
    " --hyperlink-format= --generate=",
    "ag": "-A? -B? -C? -G= -g= -m= -p= -W= --depth= --ignore= --ignore-dir= --pager= --path-to-ignore= --max-count=",
    "ack": "-A= -B= -C= -g= -m= --pager= --type= --ignore-dir= --ignore-file= --output= --match= --type-set="
    " --type-add=",
    "sed": ".abbreviates -e= -f= -l= -i? -I? --expression= --file= --line-length= --in-place? --quiet --silent"
    " --debug --follow-symlinks --posix --regexp-extended --separate --sandbox --unbuffered --null-data -nrEsuz",
    "awk": ".stop:1 .abbreviates -F= -v= -f= -e= -E@ -i= -l= -W= -L? -o? -p? -d? -D? --field-separator= --assign="
    " --file= --source= --exec= --include= --load= --lint? --pretty-print? --profile? --dump-variables? --debug?"
    " --characters-as-bytes --traditional --copyright --gen-pot --bignum --use-lc-numeric --non-decimal-data"
    " --optimize --no-optimize --posix --re-interval --sandbox --csv",
    "jq": "-f= -L= --from-file= --arg& --argjson& --slurpfile& --rawfile& --indent= --args% --jsonargs%",
    "yq": "-I= -o= -p= --indent= --output-format= --input-format= --from-file= --expression= -s= --split-exp=",
    "less": "-b= -D= -h= -j= -k= -o= -O= -p= -P= -t= -T= -x= -y= -z= --buffers= --color= --jump-target="
    " --lesskey-file= --log-file= --LOG-FILE= --pattern= --prompt= --tag= --tag-file= --tabs= --max-forw-scroll="
    " --window= .plus +?",
    "man": "-C= -d -D -P= -r= -M= -m= -L= -p= -S= -s= -e= -E= -R= -T? -H? -X? -K -k -f -w -W -a -t --pager="
    " --prompt= --manpath= --systems= --locale= --preprocessor= --sections= --extension= --encoding= --recode="
    " --config-file=",
    "column": "-c= -o= -s= -t -N= -E= -H= -R= -W= -O= -T= -C= -n= -d -J -r= -p=",
    "iconv": "-f= -t= -o= -c -l --from-code= --to-code= --output=",
    "openssl": ".names -in= -out= -k= -K= -iv= -S= -pass= -passin= -passout= -kfile= -md= -iter= -engine="
    " -bufsize= -inkey= -key= -keyout= -subj= -days= -config= -newkey= -connect= -servername= -cert= -CAfile="
    " -CApath= -name= -export -pubin -sign= -verify= -signature= -keyform= -inform= -outform= -rand= -writerand="
    " -provider= -provider-path= -proxy= -e -d -a -A -salt -nosalt -base64 -pbkdf2 -help! .equals",
    "gpg": ".abbreviates -o= -r= -u= -a -b -c -d -e -s -v -R= -N= --output= --recipient= --hidden-recipient="
    " --local-user= --default-key= --homedir= --keyserver= --passphrase= --passphrase-file= --passphrase-fd="
    " --status-fd= --command-fd= --batch --yes --decrypt --encrypt --symmetric --sign --clear-sign --clearsign"
    " --detach-sign --verify --import --export --export-secret-keys --export-secret-subkeys --delete-keys"
    " --delete-secret-keys --delete-secret-and-public-key --gen-key --generate-key --full-generate-key"
    " --quick-generate-key --list-keys --list-secret-keys --edit-key --recv-keys --send-keys --search-keys"
    " --refresh-keys --armor --no-tty --quiet --verbose --trust-model= --cipher-algo= --digest-algo="
    " --photo-viewer= --agent-program= --dirmngr-program= --keyring= --secret-keyring= --primary-keyring="
    " --options= --pinentry-mode= --exec-path= --show-photos --fetch-keys --dearmor --enarmor --list-packets"
    " --card-edit --compress-algo= --comment= --set-filename=",
    "age": "-o= -r= -R= -i= -j= --output= --recipient= --recipients-file= --identity= -ed -p --decrypt --encrypt",
    # What runs others.
    "sudo": ".stop:1 .abbreviates -C= -D= -g= -h? -p= -R= -r= -t= -T= -u= -U= -AbBEeHiKklNnPSsVv --askpass"
    " --background --bell --close-from= --chdir= --preserve-env? --edit --group= --set-home --host= --login"
    " --remove-timestamp --reset-timestamp --list --non-interactive --preserve-groups --prompt= --chroot= --role="
    " --stdin --shell --type= --command-timeout= --other-user= --user= --validate --no-update -V!",
    "doas": ".stop:1 -a= -C= -u= -Lns",
    "su": "-c= -C= -g= -G= -s= -w= -T -l -m -p -P -f --command= --session-command= --group= --supp-group= --shell="
    " --whitelist-environment= --login --preserve-environment --pty --fast",
    "runuser": "-c= -C= -g= -G= -s= -u= -w= -l -m -p -P -f --command= --session-command= --group= --supp-group="
    " --shell= --user= --whitelist-environment= --login --preserve-environment --pty --fast",
    "sg": "-c= -",
    "capsh": ".stop:1",
    "pkexec": ".stop:1 --user= --disable-internal-agent --keep-cwd -u=",
    "run0": ".stop:1 -u= -g= -D= -p= --user= --group= --chdir= --property= --setenv= --slice= --nice= --unit="
    " --machine= --background= --description= --shell-prompt-prefix= --area= -M=",
    "gosu": ".stop:1",
    "setpriv": ".stop:1 --reuid= --regid= --ruid= --euid= --rgid= --egid= --groups= --securebits= --pdeathsig="
    " --ptracer= --selinux-label= --apparmor-profile= --landlock-access= --landlock-rule= --seccomp-filter="
    " --ambient-caps= --inh-caps= --bounding-set= --rlimit-fsize= -d",
    "env": ".stop:1 .abbreviates -C= -u= -S= -P= -i0v -a= --argv0= --block-signal? --chdir= --debug"
    " --default-signal? --ignore-environment --ignore-signal? --list-signal-handling --null --split-string="
    " --unset= -L= -U=",
    # What only puts a command line behind its own options.
    **dict.fromkeys(
        "catchsegv eatmydata gnome-session-inhibit chronic ifne noglob nocorrect rtk pgrphack fghack dumb-init"
        " catatonit aa-exec optirun primusrun prime-run gamemoderun mangohud ccache sccache distcc icecc graftcp"
        " apulse padsp aoss"
        " memusage sotruss nocache with-contenv s6-setsid envdir setuidgid envuidgid argv0 s6-setuidgid s6-envdir"
        " s6-setlock asdf rbenv pyenv nodenv dotenvx cross-env".split(),
        ".stop:1",
    ),
    "rlwrap": ".stop:1 -b= -C= -D= -f= -g= -H= -l= -m? -M= -O= -p? -P= -q= -s= -S= -t= -T= -w= -z=",
    "trickle": ".stop:1 -d= -u= -w= -t= -l= -n= -p=",
    "systemd-inhibit": ".stop:1 --what= --who= --why= --mode= --list",
    "cgexec": ".stop:1 -g= --sticky",
    "schedtool": ".stop:1 -n= -M= -p= -a=",
    "grc": ".stop:1 -c= --config= --colour=",
    "softlimit": ".stop:1 -d= -s= -l= -a= -m= -o= -p= -f= -c= -r= -t=",
    "tini": ".stop:1 -p= -e= -svwg",
    "heaptrack": ".stop:1 -o= --output= -p= --pid=",
    "lckdo": ".stop:1 -W= -E= -qewxs",
    "uftrace": ".stop:1 -d= -F= -N= -D= -A= -R=",
    "runcon": ".stop:1 -t= -u= -r= -l= --type= --user= --role= --range= -c --compute",
    "setlock": ".stop:1",
    "lockf": ".stop:1 -t= -knsw",
    "ssh-agent": ".stop:1 -a= -t= -E= -O= -P= -csdDkTu",
    "sem": ".stop:1 -j= --jobs= --id= --semaphoretimeout= --st= --fg --bg --wait --will-cite -q",
    "nohup": ".stop:1",
    "nice": ".stop:1 .number:-n -n= --adjustment=",
    "timeout": ".stop:1 .abbreviates -k= -s= --foreground --kill-after= --preserve-status --signal= --verbose -fpv",
    "stdbuf": ".stop:1 -i= -o= -e= --input= --output= --error=",
    "time": ".stop:1 -f= -o= --format= --output= --append --portability --verbose --quiet -aplvqhV",
    "setsid": ".stop:1 -cfw --ctty --fork --wait",
    "flock": ".stop:1 -c= -E= -w= -W= -ensuoxF --command= --conflict-exit-code= --timeout= --wait= --close"
    " --exclusive --nonblock --nb --shared --unlock --no-fork --verbose --fcntl --start= --length=",
    "watch": ".stop:1 -n= -s= -q= -d? -bceprtwxgCf --interval= --differences? --equexit= --shotsdir= --beep"
    " --color --errexit --exec --chgexit --no-title --no-wrap --precise --no-rerun",
    "xargs": ".stop:1 .abbreviates -a= -d= -E= -e? -I= -i? -J= -L= -l? -n= -P= -R= -s= -S= -0oprtx --arg-file="
    " --delimiter= --eof? --replace? --max-lines? --max-args= --max-procs= --max-chars= --process-slot-var= --null"
    " --interactive --no-run-if-empty --show-limits --verbose --exit --open-tty",
    "parallel": ".stop:1 -a= -C= -D= -E= -I= -i? -j= -L= -l? -M -N= -n= -P= -S= -T= -U= -0kmqtuvXxz --arg-file="
    " --arg-sep= --arg-file-sep= --basefile= --bf= --block= --block-size= --cleanup --colsep= --compress-program="
    " --csv --delay= --delimiter= --dr? --dry-run --env= --eta --filter= --fg --group --halt= --halt-on-error="
    " --header= --ip= --jl= --joblog= --jobs= --keep-order --line-buffer --lb --limit= --load= --link --max-args="
    " --max-chars= --max-lines? --max-procs= --memfree= --nice= --no-notice --null --onall --nonall"
    " --output-as-files --files --pipe --pipe-part --pipepart --plain --profile= --progress --quote --recend="
    " --recstart= --replace= --results= --resume --retries= --return= --rpl= --round-robin --seqreplace="
    " --semaphore --semaphorename= --id= --shellquote --shuf --silent --skip-first-line --sql= --sqlmaster="
    " --sqlworker= --sqlandworker= --ssh= --sshlogin= --sshloginfile= --slf= --sshdelay= --tag --tagstring="
    " --tempdir= --tmpdir= --termseq= --timeout= --tmux --tmuxpane --transferfile= --tf= --trc= --trim= --ungroup"
    " --will-cite --workdir= --wd= --xargs --tee --bar --embed --bg --wait --fifo --cat --citation --gnu"
    " --use-cpus-instead-of-cores --no-run-if-empty --arg-separator= --process-slot-var=",
    "strace": ".stop:1 -a= -b= -e= -E= -I= -o= -O= -p= -P= -s= -S= -u= -U= -X= --attach= --output= --env= --user="
    " --trace= --string-limit= -cCdfFhiknqrtTvVwxyYzZ",
    "ltrace": ".stop:1 -a= -A= -D= -e= -F= -l= -n= -o= -p= -s= -u= -w= -x= -X=",
    "valgrind": ".stop:1",
    "gdb": ".names -x= -ex= -ix= -iex= -command= -eval-command= -init-command= -init-eval-command= -init-command="
    " -cd= -d= -p= -pid= -c= -core= -s= -symbols= -e= -exec= -se= -b= -l= -data-directory= -directory= -tty="
    " -interpreter= -i= -batch -quiet -q -nx -n -args -silent -nh",
    "lldb": "-c= -f= -n= -o= -O= -p= -s= -S= -k= -K= -a= -l= --core= --file= --attach-name= --one-line="
    " --one-line-before-file= --attach-pid= --source= --source-before-file= --one-line-on-crash="
    " --source-on-crash= --arch= --script-language= --repl? -bdwxXQ",
    "perf": ".stop:1",
    "hyperfine": "-w= -r= -m= -M= -p= -c= -P= -L= -S= -s= -n= -i -N -u= --warmup= --runs= --min-runs= --max-runs="
    " --prepare= --cleanup= --setup= --conclude= --parameter-scan= --parameter-list= --parameter-step-size="
    " --shell= --style= --sort= --time-unit= --export-csv= --export-json= --export-markdown= --export-asciidoc="
    " --export-orgmode= --command-name= --output= --input= --reference= -D=",
    "script": ".stop:1 -c= -E= -I= -O= -B= -T= -m= -o= -t? -t= --command= --echo= --log-in= --log-out= --log-io="
    " --log-timing= --logging-format= --output-limit= --timing? -aefqF -k -r -p -d",
    "expect": ".stop:1 -c= -f@ -b@ -D= -d -i -n -N -v",
    "unbuffer": ".stop:1 -p",
    "tmux": "-c= -f= -L= -S= -T= -2CDdhlNquvV .stop:1",
    "screen": ".stop:1 -c= -e= -h= -p= -S= -s= -t= -T= -x -r -d -D -R -X -m -q -U -L -l? -A -a",
    "zellij": ".stop:1 -c= -d= -l= -s= --config= --layout= --session= --config-dir= --data-dir= --max-panes=",
    "dtach": "-A -a -c -n -p -N -e= -r= -E -z",
    "abduco": "-A= -a= -c= -n= -e= -f -r -p -l",
    "systemd-run": ".stop:1 -u= -p= -E= -H= -M= -t -P -S -G -d --unit= --property= --description= --slice= --uid="
    " --gid= --nice= --working-directory= --setenv= --host= --machine= --on-active= --on-boot= --on-startup="
    " --on-unit-active= --on-unit-inactive= --on-calendar= --timer-property= --path-property= --socket-property="
    " --background= --json= -q -r -v",
    "systemd-nspawn": ".stop:1 -D= -i= -M= -u= -b -a -U -x -q -n -E= -S= -p= -j --directory= --image= --machine="
    " --user= --setenv= --bind= --bind-ro= --tmpfs= --overlay= --capability= --property= --slice= --uuid= --chdir="
    " --template= --hostname= --network-bridge= --network-interface= --port= --oci-bundle= --root-hash="
    " --drop-capability= --pivot-root= --kill-signal= --rlimit= --load-credential= --set-credential= --console?"
    " --background=",
    "machinectl": "-M= -H= -p= -E= -n= -o= --uid= --setenv= --property= --host= --machine= --kill-whom= --signal="
    " --lines=",
    "at": "-f= -q= -t= -mMlbvVdrc",
    "crontab": "-u= -s -e -l -r -i -n= -T= -c= -x=",
    "nsenter": ".stop:1 -t= -S= -G= -m? -u? -i? -n? -p? -U? -C? -T? -r? -w? -W= -Z -F -e -a --target= --setuid="
    " --setgid= --wdns= --root? --wd? --mount? --uts? --ipc? --net? --pid? --user? --cgroup? --time? --all"
    " --no-fork --env",
    "unshare": ".stop:1 -S= -G= -R= -w= -m? -u? -i? -n? -p? -U? -C? -T? -frc --setuid= --setgid= --root= --wd="
    " --propagation= --setgroups= --map-user= --map-users= --map-group= --map-groups= --kill-child? --mount-proc?"
    " --map-root-user --monotonic= --boottime= --load-interp= --owner=",
    "chroot": ".stop:1 --userspec= --groups= --skip-chdir -u= -g= -G= -n",
    "bwrap": ".stop:1 --args= --argv0= --userns= --userns2= --pidns= --uid= --gid= --hostname= --chdir="
    " --unsetenv= --lock-file= --sync-fd= --remount-ro= --exec-label= --file-label= --proc= --dev= --tmpfs="
    " --mqueue= --dir= --seccomp= --add-seccomp-fd= --block-fd= --userns-block-fd= --info-fd= --json-status-fd="
    " --cap-add= --cap-drop= --perms= --size= --overlay-src= --tmp-overlay= --ro-overlay=",
    "firejail": ".stop:1",
    "proot": ".stop:1 -r= -b= -q= -w= -k= -R= -S= -m= -v= -0 -l -i= --rootfs= --bind= --qemu= --pwd= --cwd=",
    "fakeroot": ".stop:1 -l= -s= -i= -b= -u -v --lib= --faked=",
    "fakechroot": ".stop:1 -c= -d= -e= -b= -s",
    "chrt": ".stop:1 -T= -P= -D= -mpabfior --sched-runtime= --sched-period= --sched-deadline= --all-tasks --batch"
    " --deadline --fifo --idle --other --rr --reset-on-fork --pid --max --verbose",
    "taskset": ".stop:1 -apc --all-tasks --pid --cpu-list",
    "numactl": ".stop:1 -i= -p= -P= -m= -N= -w= -C= -l -a -b --interleave= --preferred= --membind= --cpunodebind="
    " --physcpubind= --localalloc --all --preferred-many= --weighted-interleave= --balancing",
    "cpulimit": ".stop:1 -l= -p= -e= -P= -c= -zviqmkf --limit= --pid= --exe= --path= --cpu=",
    "prlimit": ".stop:1 -p= -o= -c? -d? -e? -f? -i? -l? -m? -n? -q? -r? -s? -t? -u? -v? -x? -y? --pid= --output=",
    "setarch": ".stop:1",
    "caffeinate": ".stop:1 -t= -w= -dimsu",
    "faketime": ".stop:1 -f -m -p= --exclude-monotonic --date-prog=",
    "proxychains": ".stop:1 -f= -q",
    "torsocks": ".stop:1 -u= -p= -a= -P= -i -d -q",
    "dbus-run-session": ".stop:1 --config-file= --dbus-daemon=",
    "dbus-launch": ".stop:1 --config-file= --autolaunch= --exit-with-session --sh-syntax --csh-syntax",
    "xvfb-run": ".stop:1 -e= -f= -n= -p= -s= -w= -al --error-file= --auth-file= --server-num= --xauth-protocol="
    " --server-args= --wait= --auto-servernum --listen-tcp",
    "choom": ".stop:1 -n= -p= --adjust= --pid=",
    "chpst": ".stop:1 -u= -U= -b= -e= -/= -n= -l= -L= -m= -d= -o= -p= -f= -c= -t= -v -P -0 -1 -2 -V",
    "start-stop-daemon": "-x= -a= -p= -u= -n= -c= -g= -r= -d= -N= -P= -I= -k= -s= -R= -SKTHbmvoqtBC -i --exec="
    " --startas= --pidfile= --user= --name= --chuid= --group= --chroot= --chdir= --nicelevel= --procsched="
    " --iosched= --umask= --signal= --retry= --background --make-pidfile --start --stop --ppid= --output= -O=",
    "daemonize": ".stop:1 -c= -e= -o= -p= -l= -u= -E= -av",
    "daemon": ".stop:1 -n= -u= -U= -e= -D= -F= -P= -X= -A= -L= -M= -N= -a= -O= -E= -o= -p= -b= -B= -c= -g= -m= -r"
    " -i --name= --user= --chdir= --pidfile= --pidfiles= --env= --output= --errlog= --dbglog= --stdout= --stderr="
    " --command=",
    "entr": ".stop:1 -acdnprsxz",
    "watchexec": ".stop:1 -w= -e= -f= -i= -s= -d= -o= -E= -W= -r -c? -p -n -q -v -1 --watch= --exts= --filter="
    " --ignore= --signal= --debounce= --on-busy-update= --env= --shell= --delay-run= --poll? --stop-signal="
    " --stop-timeout= --workdir= --project-origin= --emit-events-to= --restart --clear? --postpone --no-shell"
    " --notify --map-signal= --filter-file= --ignore-file= --watch-file= --watch-non-recursive= --fs-events="
    " --wrap-process= --bell --color=",
    "inotifywait": "-e= -o= -t= --event= --exclude= --format= --fromfile= --timefmt= --timeout= --outfile= -m -r -q",
    "nodemon": ".stop:1 -e= -w= -i= -x= -d= -C -V -I -L --exec= --watch= --ext= --ignore= --delay= --signal="
    " --config= --cwd=",
    "concurrently": "-n= -c= -p= -t= -k -s= -r -m= -l= --names= --prefix-colors= --prefix= --success="
    " --max-processes= --name-separator= --restart-tries= --restart-after= --kill-others --kill-others-on-fail"
    " --timestamp-format= --default-input-target= --prefix-length= --teardown= --handle-input -i -P"
    " --passthrough-arguments --hide=",
    "dotenv": ".stop:1 -e= -v= -c? -p= -f= -o -q= --file= --quote= --export=",
    "ld.so": ".stop:1 --library-path= --preload= --audit= --inhibit-rpath= --argv0= --glibc-hwcaps-prepend="
    " --glibc-hwcaps-mask= --list --verify --list-tunables --list-diagnostics --inhibit-cache",
    "coreutils": ".stop:1 --coreutils-prog= --list!",
    "busybox": ".stop:1 --list! --list-full! --install",
    "command": ".stop:1 -pvV",
    "exec": ".stop:1 -a= -cl",
    "builtin": ".stop:1",
    "eval": ".stop:1",
    "trap": ".stop:1 -lpP",
    "source": ".stop:1 -p=",
    ".": ".stop:1 -p=",
    "coproc": ".stop:1",
    "alias": "-p",
    "bash": ".stop:1 .plus -c -i -l -r -s -D -v -x -e -u -f -n -O= -o= +O= +o= --rcfile= --init-file= --norc"
    " --noprofile --posix --login --restricted --verbose --noediting --debugger --pretty-print --dump-strings"
    " --dump-po-strings --wordexp=",
    "fish": ".stop:1 -c= -C= -d= -o= -D= -f= --command= --init-command= --debug= --debug-output= --features="
    " --profile= --profile-startup= --private --no-config --no-execute --login --interactive -NniPlv",
    "nu": ".stop:1 -c= -e= -m= -I= --commands= --execute= --config= --env-config= --plugin-config= --include-path="
    " --log-level= --stdin --table-mode= --threads= -t= --ide-goto-def= -lin",
    "pwsh": ".names .folded .abbreviates .stop:1 -command@ -c@ -encodedcommand= -e= -ec= -en= -enc= -file@ -f@"
    " -executionpolicy= -ex= -ep= -workingdirectory= -wd= -configurationname= -config= -custompipename="
    " -inputformat= -if= -outputformat= -of= -settingsfile= -settings= -windowstyle= -w= -version= -v="
    " -psconsolefile= -noprofile -nop -noninteractive -noni -nologo -noexit -noe -login -l -sta -mta"
    " -commandwithargs= -cwa= -encodedarguments= -ea= -interactive -i",
    # Interpreters.
    "python": ".stop:1 -c@ -m@ -W= -X= --check-hash-based-pycs= -bBdEhiIOPqsSuvVx? -h! -V!",
    "node": ".stop:1 -e= -p= -r= -c -C= -i -v! -h! -pe= --eval= --print= --require= --import= --loader="
    " --experimental-loader= --conditions= --env-file= --env-file-if-exists= --input-type= --inspect-port="
    " --max-old-space-size= --title= --test-name-pattern= --test-reporter= --watch-path= --run= --check"
    " --interactive --snapshot-blob= --build-snapshot-config= --diagnostic-dir= --icu-data-dir= --openssl-config="
    " --redirect-warnings=",
    "deno": "-c= -L= -r? --config= --log-level= --import-map= --lock? --cert= --allow-read? --allow-write?"
    " --allow-net? --allow-env? --allow-run? --reload? --location= --seed= --unstable? --ext= --v8-flags?"
    " --inspect? -A -q -p",
    "perl": ".stop:1 -e= -E= -I= -i? -F? -M? -m? -x? -0# -l# -C# -D? -V? -acdfnpstTuUvwWX -h! -v!",
    "ruby": ".stop:1 -e= -r= -I= -C= -E= -i? -F? -x? -K? -0# -W# -T# -acdlnpsSUvwy --encoding="
    " --external-encoding= --internal-encoding= --enable= --disable= --dump= --yjit --jit -h!",
    "php": ".stop:1 -r= -f= -B= -R= -F= -E= -d= -c= -z= -S= -t= -aCeHilmnqsvw --run= --file= --process-begin="
    " --process-code= --process-file= --process-end= --define= --php-ini= --zend-extension= --server= --docroot="
    " --rf= --rc= --re= --rz= --ri= -h!",
    "lua": ".stop:1 -e= -l= -i -v -E -W - -b= -j= -O? -J",
    "tclsh": ".stop:1 -encoding=",
    "Rscript": ".stop:1 -e= --default-packages= --verbose --vanilla",
    "R": "-e= -f= -g= -d= --file= --args --gui= --debugger= --encoding= --vanilla --slave --no-save --quiet -q -s",
    "raku": ".stop:1 -e= -I= -M= -n -p",
    "crystal": "",
    "janet": ".stop:1 -e= -l= -E=",
    "fennel": ".stop:1 -e= --eval=",
    "hy": ".stop:1 -c@ -m@",
    "sage": ".stop:1 -c@",
    "kotlin": ".names -e= -cp= -classpath=",
    "bb": ".stop:1 -e= -f= -m= --eval=",
    "iex": ".stop:1 -e= -r= -S= --eval= --require= --dot-iex=",
    "mix": "-e= -r= --eval= --require=",
    "racket": ".stop:1 -e= -f= -l= -t= -r= -p= --eval= --load= --require=",
    "sbcl": "--eval= --load= --script= --core=",
    "runghc": ".stop:1 -e=",
    "ocaml": ".names -e= -I= -init=",
    "octave": "--eval= -p= --path= --exec-path=",
    "gnuplot": "-e= -c= -p -d",
    "irb": ".stop:1 -e= -r= -I= --prompt=",
    "pry": "-e= -r= -I= --exec=",
    "jimsh": ".stop:1 -e=",
    "rails": "-e= --environment=",
    "wp": "--path= --url= --ssh= --require= --exec= --user=",
    "env-cmd": ".stop:1 -f= -e= -r= --file= --environments= --rc-file=",
    "summon": ".stop:1 -p= -f= -e= -D= --provider= --environment= --yaml=",
    "envconsul": ".names .stop:1 -config= -prefix= -secret= -consul-addr= -vault-addr= -vault-token= -log-level=",
    "julia": ".stop:1 -e= -E= -L= -p= -t= -H= -C= -J= -O? -g? -m= -i -q -v --eval= --print= --load= --procs="
    " --threads= --home= --cpu-target= --sysimage= --project? --machine-file= --module=",
    "groovy": ".stop:1 -e= -c= -cp= -D= -i? -l? -n -p -d -h! --encoding= --classpath= --define= --configscript="
    " --basescript= -b= -a?",
    "scala": ".names -e= -i= -cp= -classpath= -d= -howtorun=",
    "ghc": ".names -e=",
    "elixir": ".stop:1 -e= -r= -S= -pr= -pa= -pz= --eval= --rpc-eval= --require= --app= --erl= --cookie= --name="
    " --sname=",
    "erl": ".names -eval= -run= -s= -pa= -pz= -name= -sname= -setcookie= -config= -noshell",
    "clojure": ".names -e= -i= -m= -r -Sdeps= -eval= -init= -main=",
    "guile": ".stop:1 -c@ -s@ -l= -L= -C= -e= -x= -q -ds",
    "osascript": ".stop:1 -e= -l= -s= -i",
    "swift": "-e=",
    "jshell": "-R= -C= -J= --class-path= --module-path= --startup= --execution= --feedback= -s -q -v",
    "java": ".names .stop:1 -cp= -classpath= -p= -m= -jar@ --class-path= --module-path= --module= -agentpath="
    " --add-modules= -class-path= -module-path= -module= -add-modules= -upgrade-module-path= -add-opens="
    " -add-exports= -add-reads=",
    "emacs": ".names -l= -load= -eval= -execute= -f= -funcall= -e= -Q -q -batch -nw -script= -u= -user= -t="
    " -terminal= -chdir= -d= -display= -insert= -kill -fg-daemon? -daemon? -file= -visit= -directory= -L= -x=",
    "emacsclient": "-e -a= -s= -f= -d= -c -n -t -nw --eval --alternate-editor= --socket-name= --server-file="
    " --display=",
    "vim": ".plus -c= -S= -T= -t= -u= -U= -w= -W= -i= -d -s -p? -o? -O? -q? -r? -eEnRmMbNVyZxXvgf -V? +? --cmd="
    " --startuptime= --servername= --remote-expr= --remote-send= --embed --headless --clean --noplugin -l="
    " --listen= --server=",
    "ed": "-p= -s -v -E -r -G -l --prompt= --quiet",
    "nano": ".plus +? -T= -s= -o= -r= -Y= -C= -Q= --speller= --operatingdir= --rcfile= -f=",
    # Builders.
    "make": ".abbreviates -C= -f= -I= -o= -W= -j? -l? -O? -E= -bBdehiknpqrRsStvw --directory= --file= --makefile="
    " --include-dir= --old-file= --assume-old= --what-if= --new-file= --assume-new= --jobs? --load-average?"
    " --max-load? --eval= --output-sync? --debug? --always-make --environment-overrides --ignore-errors"
    " --keep-going --just-print --dry-run --recon --print-data-base --question --no-builtin-rules"
    " --no-builtin-variables --silent --quiet --no-silent --no-keep-going --stop --touch --trace --print-directory"
    " --no-print-directory --warn-undefined-variables --check-symlink-times --shuffle? --jobserver-auth="
    " --jobserver-style=",
    "cmake": ".names -S= -B= -C= -D= -U= -G= -T= -A= -P@ -E@ -build= -install= -target= -j= -parallel= -config="
    " -prefix= -preset= -toolchain= -fresh -open=",
    "ninja": "-C= -f= -j= -k= -l= -t= -d= -w= -vn",
    "just": "-f= -d= -c@ -E= --justfile= --working-directory= --command@ --dotenv-path= --dotenv-filename= --set"
    " --shell= --shell-arg= --chooser= --color= --list-heading= --list-prefix= --tempdir= -s= --show= -nqvlueD"
    " --dry-run",
    "task": "-d= -t= -o= -C= -I= --dir= --taskfile= --output= --concurrency= --interval= -fnpsvwxlag",
    "gradle": ".names -p= -b= -c= -g= -I= -D? -P? -x= -init-script= -project-dir= -exclude-task= -console=",
    "mvn": ".names -f= -s= -gs= -pl= -P= -D? -T= -file= -settings= -rf= -l= -am -amd",
    "ansible": "-m= -a= -i= -u= -f= -e= -l= -t= -M= -c= -T= -B= -P= -o -b -K -k -v --module-name= --args="
    " --inventory= --user= --extra-vars= --limit= --become-user= --become-method= --connection= --private-key="
    " --key-file= --become --check",
    # Processes and the machine.
    "kill": ".signals -s= -n= -q= -l? -L -p -a --signal= --queue= --timeout= --list? --table --pid --all",
    "killall": ".signals -s= -u= -o= -y= -n= -Z= -t= -c= -egiIlqrvw --signal= --user= --older-than="
    " --younger-than= --ns= --context= --exact --ignore-case --interactive --list --process-group --quiet --regexp"
    " --verbose --wait",
    "pkill": ".signals -g= -G= -P= -s= -t= -u= -U= -F= -r= -O= -M= -N= -q= -d= -c -f -i -l -L -n -o -v -x -e -a -H"
    " -I --signal= --pgroup= --group= --parent= --session= --terminal= --euid= --uid= --pidfile= --runstates="
    " --older= --ns= --nslist= --full --exact --newest --oldest --inverse --count --echo --ignore-case",
    "fuser": ".signals -n= -N= -k -m -M -s -u -v -i -w -a -c --kill --mount --namespace=",
    "ps": ".old",
    "systemctl": ".abbreviates -t= -p= -P= -H= -M= -s= -n= -o= -a -l -q -f -r -T -i -C= --type= --state="
    " --property= --host= --machine= --signal= --kill-who= --kill-whom= --kill-value= --lines= --output= --root="
    " --image= --image-policy= --job-mode= --preset-mode= --firmware-setup --boot-loader-menu="
    " --boot-loader-entry= --reboot-argument= --timestamp= --what= --check-inhibitors= --message= --drop-in="
    " --when= --user --system --now --force --runtime --global --all --full --recursive --reverse --after --before"
    " --with-dependencies --show-types --value --quiet --no-block --wait --no-wall --no-reload --no-legend"
    " --no-pager --plain --no-ask-password --dry-run --fail --failed --ignore-dependencies --marked --read-only"
    " --mkdir --show-transaction --legend= --stdin",
    "service": ".stop:1 --status-all --full-restart",
    "launchctl": ".own",
    "shutdown": "-t= -hrPHcknfFqo --poweroff --reboot --halt --no-wall",
    "mount": ".abbreviates -t= -o= -O= -L= -U= -N= -T= -a -B -R -M -f -F -i -l -n -r -v -w --types= --options="
    " --test-opts= --label= --uuid= --source= --target= --target-prefix= --namespace= --fstab= --all --bind"
    " --rbind --move --fake --fork --internal-only --show-labels --no-mtab --options-mode= --options-source="
    " --options-source-force --read-only --rw --read-write --sloppy --verbose --make-shared --make-slave"
    " --make-private --make-unbindable --make-rshared --make-rslave --make-rprivate --make-runbindable --mkdir?"
    " --onlyonce --exclusive --map-users= --map-groups=",
    "umount": "-t= -O= -N= -a -A -c -d -f -i -l -n -q -r -R -v --types= --test-opts= --namespace=",
    "useradd": "-b= -c= -d= -e= -f= -g= -G= -k= -K= -p= -P= -R= -s= -u= -Z= -DlmMNorUF --base-dir= --comment="
    " --home-dir= --expiredate= --inactive= --gid= --groups= --skel= --key= --password= --prefix= --root= --shell="
    " --uid= --selinux-user=",
    "usermod": "-c= -d= -e= -f= -g= -G= -l= -p= -P= -R= -s= -u= -v= -V= -w= -W= -Z= -aLmorU --comment= --home="
    " --expiredate= --inactive= --gid= --groups= --login= --password= --prefix= --root= --shell= --uid= --append"
    " --lock --unlock",
    "passwd": "-i= -n= -w= -x= -R= -P= -r= -S -a -d -e -k -l -q -u --inactive= --mindays= --warndays= --maxdays="
    " --root= --stdin",
    "chpasswd": "-c= -R= -P= -s= -e -m --crypt-method= --root= --sha-rounds=",
    "iptables": ".abbreviates -A= -D= -I= -R= -N= -P= -E= -t= -p= -s= -d= -j= -g= -i= -o= -m= -c= -w? -W= -L? -F?"
    " -X? -Z? -S? -C= --append= --delete= --insert= --replace= --new-chain= --policy= --rename-chain= --table="
    " --protocol= --source= --destination= --jump= --goto= --in-interface= --out-interface= --match="
    " --set-counters= --list? --flush? --delete-chain? --zero? --list-rules? --check= --dport= --sport= --dports="
    " --sports= --state= --ctstate= --icmp-type= --to-destination= --to-source= --to-ports= --reject-with="
    " --log-prefix= --limit= --comment= --line-numbers --numeric --verbose --exact --wait?",
    "nft": "-f= -I= -D= -e -n -a -c -i -j --file= --includepath=",
    "ufw": "",
    "sysctl": "-p? -r= -a -w -q -n -N -e --load? --pattern= --write --all --system",
    "modprobe": "-C= -d= -S= -r -f -i -n -q -v -a -D -c --config= --dirname= --set-version=",
    "wipefs": "-o= -t= -O= -b? -a -f -i -n -p -q -J --offset= --types= --output= --backup? --all --force --no-act"
    " --lock?",
    "mkfs": "-t= -V -v --type=",
    "fdisk": "-b= -c? -L? -o= -t= -u? -w= -W= -C= -H= -S= -l -x -n --sector-size= --type= --output= --wipe="
    " --wipe-partitions=",
    "parted": "-a= -l -m -s -f -j --align= --script --list",
    "sgdisk": "-a= -b= -c= -d= -e -F -f -g -G -h -i= -j= -l= -L -m= -n= -o -O -p -P -q -r= -R= -s -S= -t= -T= -u="
    " -U= -v -V -x -X -z -Z -A= -B= -C= -D -E -N= --zap --zap-all --clear --delete= --new= --typecode= --backup="
    " --load-backup= --replicate=",
    "hdparm": "--user-master= --security-erase= --security-erase-enhanced= --security-set-pass= --security-unlock="
    " --security-disable= -B? -S? -W?",
    "cryptsetup": "-c= -h= -s= -d= -l= -o= -p= -i= -T= -t= -S= -M= -q -v -y -r --cipher= --hash= --key-size="
    " --key-file= --type= --key-slot= --header= --header-backup-file= --iter-time= --size= --offset= --skip="
    " --batch-mode",
    "lvm": "",
    "lvremove": "-S= -A= -t -f -y -n= --name= --select= --autobackup= --config= --yes --force",
    "vgremove": "-S= -A= --select= --config= -f -y",
    "pvremove": "-S= -A= --select= --config= -f -y",
    "zpool": "-o= -O= -R= -m= -t=",
    "zfs": "-o= -t= -s= -S=",
    "btrfs": "",
    "mdadm": "-l= -n= -x= -c= -p= -e= -N= -m= --level= --raid-devices= --spare-devices= --metadata= --name= --chunk=",
    "docker": ".h .equals -c= -H= -l= --config= --context= --host= --log-level= --tlscacert= --tlscert= --tlskey="
    " -D --connection= --url= --identity= --root= --runroot= --storage-driver= --namespace= -n= --address= -a=",
    # Version control.
    "git": ".own .h -C= -c= --git-dir= --work-tree= --namespace= --super-prefix= --config-env= --exec-path?"
    " --list-cmds= --attr-source= -p -P -v! --html-path! --man-path! --info-path! --bare --paginate --no-pager"
    " --no-replace-objects",
    "git *": ".own .h -n= -m= --format= --pretty? --since= --until= --author= --date= --output=",
    "git push": ".own .h .abbreviates -o= -vqnufd46 --verbose --quiet --repo= --all --branches --mirror --delete"
    " --tags --dry-run --porcelain --force --force-with-lease? --force-if-includes --no-force-with-lease"
    " --no-force-if-includes --no-force --recurse-submodules= --no-recurse-submodules --thin --no-thin"
    " --receive-pack= --exec= --set-upstream --progress --no-progress --prune --no-verify --verify --follow-tags"
    " --no-follow-tags --signed? --no-signed --atomic --no-atomic --push-option= --ipv4 --ipv6",
    "git pull": ".own .h .abbreviates -s= -X= -o= -j= -S? -r? --strategy= --strategy-option= --server-option="
    " --jobs= --upload-pack= --depth= --deepen= --shallow-since= --shallow-exclude= --refmap= --negotiation-tip="
    " --cleanup= --gpg-sign? --rebase? --recurse-submodules? --log? --no-log --force --append --all --no-all"
    " --prune --tags --no-tags --keep --unshallow --update-shallow --quiet --verbose --progress --no-progress"
    " --no-rebase --autostash --no-autostash --ff --no-ff --ff-only --squash --no-squash --commit --no-commit"
    " --edit --no-edit --stat --no-stat --signoff --no-signoff --verify --no-verify --verify-signatures"
    " --allow-unrelated-histories --dry-run --set-upstream --ipv4 --ipv6 --atomic --prefetch --show-forced-updates"
    " --no-show-forced-updates --no-recurse-submodules",
    "git fetch": ".own .h .abbreviates -o= -j= --server-option= --jobs= --upload-pack= --depth= --deepen="
    " --shallow-since= --shallow-exclude= --refmap= --negotiation-tip= --filter= --recurse-submodules?"
    " --bundle-uri= --recurse-submodules-default= --submodule-prefix= --all --no-all --append --atomic --unshallow"
    " --update-shallow --negotiate-only --dry-run --porcelain --write-fetch-head --no-write-fetch-head --force"
    " --keep --multiple --auto-maintenance --no-auto-maintenance --auto-gc --no-auto-gc --write-commit-graph"
    " --prefetch --prune --prune-tags --no-tags --tags --no-recurse-submodules --set-upstream --update-head-ok"
    " --quiet --verbose --progress --no-progress --show-forced-updates --no-show-forced-updates --ipv4 --ipv6"
    " --stdin",
    "git clone": ".own .h .abbreviates -b= -c= -o= -u= -j= --branch= --config= --origin= --upload-pack= --depth="
    " --reference= --reference-if-able= --template= --separate-git-dir= --jobs= --shallow-since="
    " --shallow-exclude= --filter= --server-option= --bundle-uri= --ref-format= --revision= --recurse-submodules?"
    " --recursive? --local --no-local --no-hardlinks --shared --dissociate --quiet --verbose --progress"
    " --no-checkout --bare --sparse --also-filter-submodules --mirror --single-branch --no-single-branch --tags"
    " --no-tags --shallow-submodules --no-shallow-submodules --remote-submodules --no-remote-submodules"
    " --no-reject-shallow --reject-shallow --ipv4 --ipv6",
    "git ls-remote": ".own -o= --upload-pack= --exec= --sort= --server-option= --heads --branches --tags --refs"
    " --quiet --symref --get-url -h",
    "git reset": ".own .h .abbreviates -U= --soft --mixed --hard --merge --keep --quiet --no-quiet --refresh"
    " --no-refresh --patch --recurse-submodules? --no-recurse-submodules --intent-to-add --pathspec-from-file="
    " --pathspec-file-nul --unified= --inter-hunk-context=",
    "git checkout": ".own .h .abbreviates -b= -B= -U= -t? --orphan= --conflict= --pathspec-from-file= --track?"
    " --recurse-submodules? --quiet --progress --no-progress --force --ours --theirs --detach --no-track --guess"
    " --no-guess --patch --merge --ignore-skip-worktree-bits --overlay --no-overlay --overwrite-ignore"
    " --no-overwrite-ignore --ignore-other-worktrees --no-recurse-submodules --pathspec-file-nul --unified="
    " --inter-hunk-context=",
    "git switch": ".own .h .abbreviates -c= -C= -t? --create= --force-create= --orphan= --conflict= --track?"
    " --recurse-submodules? --force --discard-changes --detach --guess --no-guess --merge --quiet --progress"
    " --no-progress --no-track --overwrite-ignore --no-overwrite-ignore --ignore-other-worktrees"
    " --no-recurse-submodules",
    "git restore": ".own .h .abbreviates -s= -U= --source= --conflict= --pathspec-from-file= --recurse-submodules?"
    " --patch --worktree --staged --quiet --progress --no-progress --ours --theirs --merge --ignore-unmerged"
    " --ignore-skip-worktree-bits --overlay --no-overlay --no-recurse-submodules --pathspec-file-nul --unified="
    " --inter-hunk-context=",
    "git clean": ".own .h .abbreviates -e= -qnfidxX --exclude= --force --interactive --dry-run --quiet",
    "git branch": ".own .h .abbreviates -u= -t? --set-upstream-to= --contains= --no-contains= --merged="
    " --no-merged= --sort= --points-at= --format= --track? --abbrev? --color? --column? --delete --force --move"
    " --copy --ignore-case --omit-empty --no-color --no-column --remotes --all --list --show-current --verbose"
    " --quiet --no-abbrev --no-track --recurse-submodules --unset-upstream --edit-description --create-reflog"
    " -dDmMcCfralvqi",
    "git tag": ".own .h .abbreviates -m= -F= -u= -n? --message= --file= --local-user= --cleanup= --sort="
    " --contains= --no-contains= --merged= --no-merged= --points-at= --format= --trailer= --column? --color?"
    " --annotate --sign --no-sign --force --delete --verify --list --ignore-case --omit-empty --create-reflog"
    " --edit --no-column --no-color -asfdvlie",
    "git commit": ".own .h .abbreviates -m= -F= -C= -c= -t= -S? -u? -U= --message= --file= --reuse-message="
    " --reedit-message= --fixup= --squash= --author= --date= --template= --cleanup= --trailer= --gpg-sign?"
    " --untracked-files? --pathspec-from-file= --all --patch --reset-author --short --branch --porcelain --long"
    " --null --signoff --no-signoff --no-verify --verify --allow-empty --allow-empty-message --edit --no-edit"
    " --amend --no-post-rewrite --include --only --verbose --quiet --dry-run --status --no-status --no-gpg-sign"
    " --pathspec-file-nul --interactive --unified= --inter-hunk-context=",
    "git merge": ".own .h .abbreviates -m= -F= -s= -X= -S? --message= --file= --strategy= --strategy-option="
    " --into-name= --cleanup= --gpg-sign? --log? --abort --quit --continue --commit --no-commit --edit --no-edit"
    " --ff --no-ff --ff-only --no-log --signoff --no-signoff --stat --no-stat --compact-summary --squash"
    " --no-squash --verify --no-verify --verify-signatures --no-verify-signatures --summary --no-summary --quiet"
    " --verbose --progress --no-progress --autostash --no-autostash --allow-unrelated-histories --overwrite-ignore"
    " --no-overwrite-ignore --rerere-autoupdate --no-rerere-autoupdate --no-gpg-sign",
    "git rebase": ".own .h .abbreviates -x= -s= -X= -C= -S? -r? --exec= --strategy= --strategy-option= --onto="
    " --whitespace= --empty= --gpg-sign? --rebase-merges? --keep-base --continue --skip --abort --quit --edit-todo"
    " --show-current-patch --interactive --no-keep-empty --keep-empty --reapply-cherry-picks"
    " --no-reapply-cherry-picks --allow-empty-message --rerere-autoupdate --no-rerere-autoupdate --no-gpg-sign"
    " --quiet --verbose --stat --no-stat --no-verify --verify --no-ff --force-rebase --fork-point --no-fork-point"
    " --ignore-whitespace --committer-date-is-author-date --ignore-date --reset-author-date --signoff --root"
    " --autosquash --no-autosquash --autostash --no-autostash --reschedule-failed-exec --no-reschedule-failed-exec"
    " --update-refs --no-update-refs --apply --merge --no-rebase-merges --trailer= -iqvnfkpm",
    "git stash": ".own .h -m= --message= --pathspec-from-file= -pkquaS --patch --keep-index --quiet"
    " --include-untracked --all --staged --index",
    "git reflog": ".own .abbreviates .h --expire= --expire-unreachable= --all --rewrite --updateref --stale-fix"
    " --dry-run -n= --single-worktree",
    "git gc": ".own .h .abbreviates --prune? --max-cruft-size= --cruft-max-size= --expire-to= --aggressive --auto"
    " --detach --no-detach --cruft --no-cruft --quiet --no-prune --force --keep-largest-pack",
    "git prune": ".own .h .abbreviates --expire= --dry-run --verbose --progress --no-progress"
    " --exclude-promisor-objects",
    "git remote": ".own .h -t= -m= --push --add --delete --all --tags --no-tags --mirror? --prune --dry-run"
    " --verbose -v -f -n",
    "git worktree": ".own .h -b= -B= --reason= --expire= --force --detach --checkout --no-checkout --lock --orphan"
    " --quiet --track --porcelain -f -d -q -n -v",
    "git submodule": ".own .h -b= --branch= --name= --reference= --depth= --jobs= -j= --summary-limit= --recursive"
    " --force --init --remote --merge --rebase --checkout --all --default -f -q --quiet",
    "git config": ".own .h -f= --file= --blob= --type= --default= --comment= --value= --url= --get --get-all"
    " --get-regexp --get-urlmatch --replace-all --add --unset --unset-all --remove-section --rename-section --list"
    " --edit --global --system --local --worktree --null --name-only --show-origin --show-scope --fixed-value"
    " --bool --int --path --all --append --includes --no-includes -l -e -z",
    "git update-ref": ".own .h -m= -d --no-deref --stdin --create-reflog -z --batch-updates",
    "git filter-branch": ".own .h .abbreviates -d= --setup= --subdirectory-filter= --env-filter= --tree-filter="
    " --index-filter= --parent-filter= --remap-to-ancestor --msg-filter= --commit-filter= --tag-name-filter="
    " --prune-empty --original= --force --state-branch= -f",
    "git filter-repo": ".own .h --path= --path-glob= --path-regex= --path-rename= --paths-from-file="
    " --replace-text= --replace-message= --message-callback= --blob-callback= --commit-callback= --tag-callback="
    " --reset-callback= --filename-callback= --name-callback= --email-callback= --refname-callback="
    " --file-info-callback= --mailmap= --subdirectory-filter= --to-subdirectory-filter= --refs= --source="
    " --target= --force -f --invert-paths",
    "git bisect run": ".own .stop:1",
    "git bisect": ".own .h --term-old= --term-new= --term-good= --term-bad= --no-checkout --first-parent",
    "git difftool": ".own .h -x= -t= -O= -S= -G= -U= --extcmd= --tool= --prompt --no-prompt --dir-diff --gui"
    " --tool-help -y -d -g",
    "git mergetool": ".own .h -t= -O= --tool= --prompt --no-prompt --gui -y -g",
    "git grep": ".own .number:-C -e= -f= -m= -A= -B= -C= -O? -h --open-files-in-pager? --max-depth= --threads="
    " --max-count= --after-context= --before-context= --context= --color? -nivwIalLcoEPFGrpWqz",
    "git log": ".own .h .number:-n -n= -L= -O= -S= -G= -U= -l= -C? -M? -B? -X? --max-count= --skip= --since="
    " --after= --until= --before= --author= --committer= --grep= --date= --output= --glob= --exclude= --branches?"
    " --tags? --remotes? --format= --pretty? --decorate? --diff-filter= --word-diff? --stat? --inter-hunk-context="
    " --encoding= --max-parents= --min-parents= --notes? --ext-diff --textconv -p -g -i -c -m -r -t -z -E -F -P -W"
    " -w -b -a -R -u",
    "git diff": ".own .h -O= -S= -G= -U= -l= -C? -M? -B? -X? --output= --diff-filter= --word-diff? --stat?"
    " --inter-hunk-context= --src-prefix= --dst-prefix= --ext-diff --textconv --no-index",
    "git archive": ".own .h -o= -l --output= --format= --prefix= --remote= --exec= --add-file= --add-virtual-file="
    " --mtime= --worktree-attributes -v",
    "git bundle": ".own .h --version= -q",
    "git send-email": ".own .h --to= --cc= --bcc= --from= --subject= --smtp-server= --smtp-server-option="
    " --sendmail-cmd= --to-cmd= --cc-cmd= --header-cmd= --smtp-user= --smtp-pass= --smtp-encryption="
    " --smtp-server-port= --in-reply-to= --confirm= --identity= --transfer-encoding= --envelope-sender="
    " --relogin-delay= --batch-size=",
    "git fetch-pack": ".own .h --upload-pack= --exec= --depth= --shallow-since= --shallow-exclude= --deepen=",
    "git send-pack": ".own .h --receive-pack= --exec= --remote= --force --mirror --all --dry-run",
    "git daemon": ".own .h --access-hook= --base-path= --interpolated-path= --port= --listen= --user= --group="
    " --pid-file= --timeout= --init-timeout= --max-connections= --enable= --disable=",
    "git am": ".own .h -C= -p= -S? --directory= --exclude= --include= --patch-format= --whitespace= --quoted-cr="
    " --empty= --resolvemsg= --show-current-patch?",
    "git apply": ".own .h -p= -C= --exclude= --include= --directory= --whitespace= --build-fake-ancestor="
    " --unsafe-paths --index --cached -R -3",
    "git cherry-pick": ".own .h -m= -s -X= -S? --mainline= --strategy= --strategy-option= --cleanup= --gpg-sign?"
    " -e -x -n -r",
    "git revert": ".own .h -m= -X= -S? --mainline= --strategy= --strategy-option= --cleanup= --gpg-sign? -e -n -s",
    "git notes": ".own .h -m= -F= -C= -c= -s= --ref= --message= --file= --reuse-message= --reedit-message="
    " --strategy= --separator? -f",
    "git rm": ".own .h --pathspec-from-file= -f -n -r -q --force --dry-run --cached --ignore-unmatch --quiet --sparse",
    "git add": ".own .h -U= --chmod= --pathspec-from-file= -n -v -f -i -p -e -u -A -N --force --all --update"
    " --patch --interactive --edit",
    "git symbolic-ref": ".own .h -m= -d -q --delete --short --no-recurse",
    "git replace": ".own .h --format= -d -f -l -e --edit --delete --graft --raw",
    "git read-tree": ".own .h --prefix= --index-output= --exclude-per-directory= -m -u -i -v -q --reset",
    "git hash-object": ".own .h -t= -w --path= --stdin --stdin-paths --no-filters --literally",
    "git cat-file": ".own .h --filter= --path= --batch? --batch-check? --batch-command? -t -s -e -p --textconv"
    " --filters",
    "git for-each-repo": ".own .h .stop:1 --config= --keep-going",
    "git maintenance": ".own .h --task= --schedule? --scheduler= --config-file= --auto --quiet --force",
    "git sparse-checkout": ".own .h --cone --no-cone --stdin --skip-checks",
    "git lfs": ".own .h -I= -X= --include= --exclude=",
    "git help": ".own -m -w -i -a -g -c --man --web --info --all --guides --config",
    "git init": ".own .h -b= --template= --separate-git-dir= --object-format= --ref-format= --initial-branch="
    " --shared? --bare -q",
    "git shell": ".own .h -c=",
    "git web--browse": ".own .h -b= -t= -c= --browser= --tool= --config=",
    "git instaweb": ".own .h -d= -p= -b= -m= -l --httpd= --port= --browser= --module-path= --start --stop"
    " --restart --local",
    "git daemon-run": ".own",
    "git p4": ".own .h",
    "git svn": ".own .h -r= --revision= --username= --authors-file= --authors-prog=",
    "hg": "-R= --repository= --cwd= --config= --encoding= -y -q -v --noninteractive",
    "svn": "-m= -F= -r= -c= --message= --file= --revision= --change= --username= --password= --config-dir="
    " --config-option= --editor-cmd= --diff-cmd= --diff3-cmd= --depth=",
    "gh": ".h -R= --repo= -H= -X= -f= -F= -q= -t= -b= -B= -l= -a= -L= -s= -m= -n= -r= -p= -e= -j= --method="
    " --header= --field= --raw-field= --input= --jq= --template= --title= --body= --body-file= --base= --head="
    " --label= --assignee= --limit= --state= --milestone= --notes= --notes-file= --target= --ref= --json="
    " --hostname= --cache= --env= --org= --user= --visibility= --app= --reviewer= --project= --branch= --workflow="
    " --commit= --description= --homepage= --source= --remote= --dir= --name= --pattern= --output= --add-label="
    " --remove-label=",
    "gh api": "-X= -H= -f= -F= -q= -t= -p= --method= --header= --field= --raw-field= --input= --jq= --template="
    " --hostname= --cache= --preview= -i --paginate --silent --slurp --verbose",
    "gh repo delete": "--yes --confirm",
    "gh secret set": "-b= -f= -e= -o= -r= -v= -a= -u --body= --env-file= --env= --org= --repos= --visibility="
    " --app= --no-store",
    "glab": ".h -R= --repo= -X= -f= -F= -H= --method= --field= --raw-field= --input= --header= -g= --group="
    " --hostname= -t= -d= -b= -s= -m= -l= -a= --title= --description= --target-branch= --source-branch=",
    # Containers.
    "docker run": ".h .equals .stop:1 -a= -c= -e= -h= -l= -m= -p= -u= -v= -w= -itdPq --add-host= --annotation="
    " --attach= --blkio-weight= --blkio-weight-device= --cap-add= --cap-drop= --cgroup-parent= --cgroupns="
    " --cidfile= --cpu-count= --cpu-percent= --cpu-period= --cpu-quota= --cpu-rt-period= --cpu-rt-runtime="
    " --cpu-shares= --cpus= --cpuset-cpus= --cpuset-mems= --detach-keys= --device= --device-cgroup-rule="
    " --device-read-bps= --device-read-iops= --device-write-bps= --device-write-iops= --dns= --dns-opt="
    " --dns-option= --dns-search= --domainname= --entrypoint= --env= --env-file= --expose= --gpus= --group-add="
    " --health-cmd= --health-interval= --health-retries= --health-start-period= --health-start-interval="
    " --health-timeout= --hostname= --io-maxbandwidth= --io-maxiops= --ip= --ip6= --ipc= --isolation="
    " --kernel-memory= --label= --label-file= --link= --link-local-ip= --log-driver= --log-opt= --mac-address="
    " --memory= --memory-reservation= --memory-swap= --memory-swappiness= --mount= --name= --network= --net="
    " --network-alias= --net-alias= --oom-score-adj= --pid= --pids-limit= --platform= --publish= --pull="
    " --restart= --runtime= --security-opt= --shm-size= --stop-signal= --stop-timeout= --storage-opt= --sysctl="
    " --tmpfs= --ulimit= --user= --userns= --uts= --volume= --volume-driver= --volumes-from= --workdir="
    " --authfile= --arch= --os= --secret= --pod= --conmon-pidfile= --sdnotify= --tz= --umask= --variant="
    " --passwd-entry= --group-entry= --hostuser= --requires= --init-path= --init-ctr= --decryption-key="
    " --seccomp-policy=",
    "docker exec": ".h .equals .stop:1 -e= -u= -w= -itd --detach-keys= --env= --env-file= --user= --workdir="
    " --privileged --latest -l",
    "docker build": ".h -f= -t= -m= -c= -o= --file= --tag= --build-arg= --build-context= --target= --platform="
    " --cache-from= --cache-to= --secret= --ssh= --label= --network= --output= --progress= --add-host= --memory="
    " --iidfile= --metadata-file= --builder= --allow= --shm-size= --ulimit= --attest= --annotation="
    " --cgroup-parent= --security-opt= -v= --volume= --squash --pull --no-cache",
    "docker compose": ".h .equals -f= -p= --file= --project-name= --project-directory= --profile= --env-file="
    " --parallel= --ansi= --progress=",
    "docker compose run": ".h .stop:1 -e= -l= -p= -u= -v= -w= -itdPTq --entrypoint= --env= --env-from-file="
    " --label= --name= --publish= --user= --volume= --workdir= --cap-add= --cap-drop= --pull=",
    "docker compose exec": ".h .stop:1 -e= -u= -w= -itdT --env= --user= --workdir= --index=",
    "docker compose down": ".h -t= -v --rmi= --timeout= --volumes --remove-orphans",
    "docker compose up": ".h -t= -d --scale= --timeout= --exit-code-from= --attach= --no-attach= --pull="
    " --wait-timeout= -V -y",
    "docker compose rm": ".h -f -s -v",
    "docker rm": ".h -t= -f -l -v -a --time= --force --volumes --link --filter= --depend --ignore --all --cidfile=",
    "docker rmi": ".h -f -a --force --no-prune --all --ignore --platform=",
    "docker system": ".h -a -f -v --filter= --format= --since= --until=",
    "docker volume": ".h -f -a -q -d= -o= --driver= --opt= --label= --filter= --format= --name=",
    "docker image": ".h -f -a -q --filter= --format=",
    "docker network": ".h -f -d= -o= -q --driver= --opt= --label= --filter= --format= --gateway= --ip-range="
    " --subnet= --alias= --ip= --link=",
    "docker login": ".h -u= -p= --username= --password= --password-stdin",
    "docker stop": ".h -t= -s= --time= --timeout= --signal= --cidfile= --filter= -a -l -i",
    "docker kill": ".h -s= --signal= --cidfile= -a -l",
    "docker logs": ".h -n= -f -t --tail= --since= --until=",
    "docker cp": ".h -aLq",
    "docker ps": ".h -n= -f= -aqls --filter= --format= --last= --sort=",
    "docker save": ".h -o= --output= --format= --platform=",
    "docker load": ".h -i= --input= --platform= -q",
    "docker import": ".h -c= -m= --change= --message= --platform=",
    "docker commit": ".h -a= -c= -m= -p --author= --change= --message=",
    "docker update": ".h -c= -m= --restart= --memory= --cpus= --cpu-shares= --pids-limit=",
    "docker push": ".h -a -q --platform=",
    "docker tag": ".h",
    "docker stack": ".h -c= --compose-file= --orchestrator= --resolve-image= --namespace= --detach --prune"
    " --format= --filter=",
    "docker service": ".h -e= -p= -l= -u= -w= --name= --replicas= --network= --mount= --image= --constraint="
    " --limit-cpu= --limit-memory= --env= --publish=",
    "docker swarm": ".h -f --force --token= --advertise-addr= --listen-addr=",
    "docker context": ".h -f --docker= --description= --from=",
    "docker buildx": ".h -f= -t= -o= --builder= --file= --tag= --build-arg= --build-context= --target= --platform="
    " --cache-from= --cache-to= --secret= --ssh= --label= --network= --output= --progress= --name= --driver="
    " --driver-opt= --node= --allow= --metadata-file= --iidfile= --set= --push --load -a",
    "kubectl": ".h .equals -n= -s= -v= --namespace= --as= --as-group= --as-uid= --cache-dir="
    " --certificate-authority= --client-certificate= --client-key= --cluster= --context= --kubeconfig="
    " --log-flush-frequency= --password= --profile= --profile-output= --request-timeout= --server="
    " --tls-server-name= --token= --user= --username= --vmodule= -o= --output= -l= --selector= --field-selector="
    " --template= --sort-by= -f= --filename= -k= --kustomize= -c= --container= --grace-period= --timeout="
    " --cascade? --dry-run? --raw= --replicas= --current-replicas= --image= --port= --overwrite"
    " --resource-version= --field-manager= --type= -p= --patch= --patch-file= --subresource= --from-literal="
    " --from-file= --from-env-file= --docker-server= --docker-username= --docker-password= --docker-email= --key="
    " --cert= --tail= --since= --since-time= --for= --serviceaccount= --clusterrole= --role= --group= --verb="
    " --resource= --to-revision= --revision= --chunk-size= --max= --min= --cpu-percent= --prune-allowlist="
    " --prune-whitelist= --pod-selector= --limit-bytes= --env= --labels= --overrides= --restart= --annotations="
    " --requests= --limits= --hostport= --image-pull-policy= --pod-running-timeout= --override-type= --target="
    " --copy-to= --set-image= --custom=",
    "kubectl exec": ".h -c= -f= -n= -i -t -q --container= --filename= --pod-running-timeout=",
    "kubectl cp": ".h -c= -n= --container= --retries= --no-preserve",
    "kubectl logs": ".h -c= -l= -n= -f -p --container= --selector= --tail= --since= --since-time= --limit-bytes="
    " --max-log-requests=",
    "kubectl port-forward": ".h -n= --address= --pod-running-timeout=",
    "kubectl attach": ".h -c= -n= -i -t -q --container= --pod-running-timeout=",
    "kubectl get": ".h -o= -f= -k= -l= -L= -n= -A -w --output= --filename= --selector= --field-selector="
    " --label-columns= --sort-by= --template= --raw= --chunk-size= --subresource=",
    "helm": ".h .equals -n= --namespace= --kube-context= --kubeconfig= --kube-apiserver= --kube-token="
    " --kube-as-user= --kube-as-group= --kube-ca-file= --registry-config= --repository-cache= --repository-config="
    " --burst-limit= --qps= -f= --values= --set= --set-string= --set-file= --set-json= --set-literal= --version="
    " --timeout= --repo= --username= --password= --ca-file= --cert-file= --key-file= --keyring= -d= --destination="
    " --post-renderer= --post-renderer-args= --history-max= --description= --name-template= -l= --labels="
    " --output-dir= --show-only= -s= --kube-version= -a= --api-versions= -o= --output= --max= --revision= --devel"
    " --keep-history --dry-run? --cascade= --wait",
    "terraform": ".names -chdir= -var= -var-file= -target= -replace= -out= -state= -state-out= -backup= -lock"
    " -lock-timeout= -parallelism= -input -backend-config= -backend -from-module= -plugin-dir= -upgrade"
    " -reconfigure -migrate-state -force-copy -auto-approve -destroy -refresh-only -refresh -json -no-color"
    " -compact-warnings -detailed-exitcode -force -allow-missing -generate-config-out= -h! -v!",
    "terragrunt": ".names -chdir= -var= -var-file= -target= -terragrunt-config= -terragrunt-working-dir="
    " -terragrunt-log-level= -working-dir= -config= -terragrunt-non-interactive -non-interactive -auto-approve"
    " -destroy -all",
    "pulumi": ".h -C= -s= -m= -t= -f -y --cwd= --stack= --message= --target= --config= -c= --config-file="
    " --parallel= -p= --yes --skip-preview --refresh? --replace= --policy-pack= --color= --force --remove"
    " --preserve-config",
    "packer": ".names -var= -var-file= -only= -except= -on-error= -parallel-builds= -force -timestamp-ui",
    "vault": ".names -address= -namespace= -mount= -format= -field= -version= -path= -policy= -ttl= -method="
    " -ca-cert= -versions= -header= -token-policy=",
    "consul": ".names -http-addr= -token= -datacenter= -name= -service= -token-file= -node= -shell",
    "nomad": ".names -address= -namespace= -region= -token= -job= -task= -i -t -e= -purge -global -yes -detach",
    # Clouds.
    "aws": ".abbreviates -h! --acl= --profile= --region= --output= --query= --endpoint-url= --cli-read-timeout="
    " --cli-connect-timeout= --ca-bundle= --color= --cli-binary-format= --debug --no-verify-ssl --no-paginate"
    " --no-sign-request --no-cli-pager --recursive --force --dryrun --delete --quiet --only-show-errors"
    " --no-progress --exact-timestamps --size-only --follow-symlinks --no-follow-symlinks --human-readable"
    " --summarize --skip-final-snapshot --no-skip-final-snapshot --delete-automated-backups"
    " --no-delete-automated-backups --force-delete-without-recovery --dry-run --no-dry-run --wait"
    " --apply-immediately --ignore-unmatched --is-public --no-is-public --acl-public --disable-progress"
    " --cli-auto-prompt --no-cli-auto-prompt .valued",
    "gcloud": ".h --source-ranges= --allow= --to-revisions= --restore-instance= --profile= --project= --account="
    " --configuration= --format= --filter= --region= --zone= --verbosity= --impersonate-service-account="
    " --flags-file= --billing-project= --user-output-enabled= --command= --location= --async -q --quiet --limit="
    " --sort-by= --uri --member= --role= --instance= --cluster= --service= --version= --image= --source="
    " --ssh-flag= --ssh-key-file= --container= --tunnel-through-iap --internal-ip --troubleshoot --keep-disks="
    " --delete-disks= --data-file= --keyring= --runtime= --entry-point= --trigger-topic= --machine-type="
    " --network= --subnet= --tags= --metadata= --metadata-from-file= --scopes= --service-account= --description="
    " --name= --secret= --backup= --database= --user= --password= --host= --num-nodes= --size= --env-vars-file="
    " --set-env-vars= --update-env-vars= --allow-unauthenticated",
    "gsutil": ".h -o= -h= -u= -i= -m -q -D -d -r -R -f -n -c -e -x= -a= -z= -j= -I -L= -s= -t= -b= -l= -p=",
    "bq": "--location= --project_id= --dataset_id= --format= --job_id= -f -r -d -t -n= --max_rows="
    " --use_legacy_sql? --destination_table= --apilog= --headless? --synchronous_mode?",
    "az": ".abbreviates .valued -g= -n= -o= -l= -s= -u= -p= -t= -v= -r= -c= -d= -h! --resource-group= --name="
    " --output= --location= --subscription= --query= --ids= --debug --verbose --only-show-errors --yes -y"
    " --no-wait --force-deletion --purge --all",
    "heroku": ".h -a= -r= -s= --app= --remote= --size= --confirm= -c= --type= --exit-code -x --no-tty --no-notify"
    " -e= --env= --org= -t= --team=",
    "fly": ".h -a= -c= -C= -t= -o= -r= -s= -u= --app= --config= --command= --access-token= --org= --region="
    " --machine= --user= --address= -y --yes --container= -A",
    "vercel": ".h -t= -S= -A= -Q= -e= -b= -m= --token= --scope= --cwd= --local-config= --global-config= --env="
    " --build-env= --meta= --team= -y -f --yes --prod --force",
    "netlify": ".h --auth= --filter= -d= --dir= -s= --site= -m= --message= -f= --functions= -p --prod --context="
    " --timeout=",
    "wrangler": ".h -c= --config= -e= --env= --name= --command= --file= --binding= --namespace-id= --cwd="
    " --experimental-json-config --remote --local -y --yes --force",
    "firebase": ".h -P= -j -i -y -f -r --project= --account= --token= --only= --except= --message= -m= --force"
    " --recursive --interactive",
    "supabase": ".h --project-ref= --db-url= --workdir= --linked --local --password= -p= --profile=",
    "railway": ".h -s= -e= -p= --service= --environment= --project= -y --yes",
    "doctl": ".h -t= -c= -u= -o= --access-token= --api-url= --config= --context= --output= --http-retry-max= -f"
    " --force --ssh-command= --ssh-key-path= --ssh-user= --ssh-port=",
    "linode-cli": "-h! --profile= --as-user= --format= --root_pass=",
    "hcloud": ".h --config= --context= --endpoint= --poll-interval= --debug-file= -o=",
    "oci": "--profile= --region= --config-file= --compartment-id= --force --query= --output=",
    "eksctl": ".h -f= -n= -r= -p= -v= -C= --name= --region= --profile= --config-file= --cluster= --timeout= --wait -w",
    "kind": ".h --name= --image= --config= --kubeconfig= --retain --wait=",
    "minikube": ".h -p= -v= --profile= -n= --node= --driver= --memory= --cpus= --alsologtostderr --native-ssh="
    " --namespace=",
    "gitlab-runner": "",
    # Packages.
    "npm": ".abbreviates .h -C= -w= -c= -p= -m= --prefix= --workspace= --registry= --userconfig= --globalconfig="
    " --cache= --tag= --access= --otp= --call= --package= --message= --loglevel= --script-shell= --omit="
    " --include= --scope= --auth-type= --install-strategy= --save-prefix= --before= --cpu= --os= --libc="
    " --node-options= --depth= --shell= --editor= --viewer= --browser? --git= --prefer-online --prefer-offline"
    " --offline --silent --quiet --global --force --save --save-dev --save-exact --save-optional --save-peer"
    " --no-save --dry-run --json --parseable --long --workspaces --if-present --ignore-scripts --yes --no"
    " --production --legacy-peer-deps --strict-peer-deps --no-audit --audit --no-fund --fund --package-lock-only"
    " --package-lock --no-package-lock --include-workspace-root --foreground-scripts --provenance --verbose"
    " --no-progress --progress --location= --unicode --usage! --timing --all --diff= -gDESOBPfysdqvV",
    "npx": ".stop:1 -c= -p= -w= -y -q --call= --package= --workspace= --shell= --node-arg= -n= --cache="
    " --userconfig= --registry= --yes --no --no-install --ignore-existing --quiet",
    "pnpm": ".h -C= -F= -c -r -w -g -D -P -O -E --dir= --filter= --filter-prod= --loglevel= --reporter="
    " --store-dir= --package= --registry= --tag= --access= --otp= --script-shell= --shell-mode --shell-emulator"
    " --workspace-concurrency= --resume-from= --test-pattern= --changed-files-ignore-pattern= --virtual-store-dir="
    " --config.*=",
    "pnpm exec": ".h .stop:1 -c -r --shell-mode --recursive --parallel --resume-from= --report-summary",
    "pnpm dlx": ".h .stop:1 -c -s --package= --shell-mode --silent --allow-build=",
    "yarn": ".h --cwd= --modules-folder= --cache-folder= --registry= --mutex= --network-timeout="
    " --network-concurrency= --use-yarnrc= --tag= --access= --otp= --new-version= --message="
    " --preferred-cache-folder=",
    "yarn dlx": ".h .stop:1 -p= -q --package= --quiet",
    "yarn exec": ".h .stop:1",
    "bun": ".h -e= -p= -r= -c? --eval= --print= --cwd= --config? --preload= --env-file= --require= --import="
    " --port= --define= -d= --loader= -l= --filter= -F= --registry= --cache-dir= --tag= --access= --otp="
    " --backend= --shell= --elide-lines= --tsconfig-override= --conditions= --smol --bun --hot --watch",
    "bunx": ".stop:1 -p= --package= --bun --no-install --silent --verbose",
    "pip": ".abbreviates .h -r= -c= -e= -t= -i= -f= -d= -w= -b= -C= --requirement= --constraint= --editable="
    " --target= --index-url= --extra-index-url= --find-links= --dest= --wheel-dir= --cache-dir= --log= --proxy="
    " --retries= --timeout= --exists-action= --trusted-host= --cert= --client-cert= --python= --python-version="
    " --platform= --implementation= --abi= --root= --prefix= --src= --upgrade-strategy= --no-binary="
    " --only-binary= --global-option= --install-option= --config-settings= --progress-bar= --report="
    " --root-user-action= --use-feature= --use-deprecated= --keyring-provider= --format= --path= --exclude="
    " --isolated --require-virtualenv --verbose --quiet --no-input --no-cache-dir --disable-pip-version-check"
    " --no-color --no-python-version-warning --debug --dry-run --no-deps --pre --user --upgrade --force-reinstall"
    " --ignore-installed --ignore-requires-python --no-build-isolation --use-pep517 --no-use-pep517"
    " --check-build-dependencies --break-system-packages --compile --no-compile --no-warn-script-location"
    " --no-warn-conflicts --prefer-binary --require-hashes --no-index --no-clean --yes --outdated --uptodate"
    " --local --include-editable --exclude-editable --not-required --files --all -yqvUI",
    "uv": ".h -p= -i= -f= -P= -C= -c= -r= -e= -w= -b= -n -q -v -U --python= --index-url= --index= --default-index="
    " --extra-index-url= --find-links= --project= --directory= --cache-dir= --config-file= --color= --with="
    " --with-requirements= --with-editable= --extra= --group= --only-group= --no-group= --package= --env-file="
    " --module@ -m@ --from= --publish-url= --check-url= --username= --password= -u= -t= --token="
    " --keyring-provider= --resolution= --prerelease= --exclude-newer= --refresh-package= --reinstall-package="
    " --upgrade-package= --link-mode= --index-strategy= --config-setting= --allow-insecure-host= --output-file="
    " -o= --target= --prefix= --requirements= --constraints= --overrides= --build-constraints="
    " --trusted-publishing= --no-extra= --isolated --script -s --gui-script --system --break-system-packages",
    "uv run": ".h .stop:1 -m -s --module --script",
    "uv tool": ".h .stop:2 --from= --with= -w= --with-editable= --with-requirements= --python= -p= --env-file= -e="
    " -U --all",
    "uvx": ".stop:1 -p= -w= -c= -i= -f= -C= -P= -e= --from= --with= --with-requirements= --with-editable="
    " --python= --index-url= --index= --default-index= --extra-index-url= --env-file= --cache-dir= --directory="
    " --project= --refresh-package= --constraints= --overrides= -qvnU",
    "pipx": ".h --python= --pip-args= --suffix= --index-url= -i= --preinstall= --backend=",
    "pipx run": ".h .stop:1 --spec= --python= --pip-args= --index-url= -i= --path --no-cache --pypackages"
    " --system-site-packages --with=",
    "poetry": ".h -C= -P= --directory= --project= -q -v -n --no-interaction -r= -u= -p= --repository= --username="
    " --password= --cert= --client-cert= --dist-dir= --build --dry-run --skip-existing -f= --format= -o= --output=",
    "poetry run": ".h .stop:1",
    "pipenv": ".h --python= --pypi-mirror= -p= --where --venv -q -v",
    "pipenv run": ".h .stop:1",
    "hatch": ".h -e= -p= --env= --project= --color --data-dir= --cache-dir= --config= -u= -a= -r= --user= --auth="
    " --repo= -n -y",
    "hatch run": ".h .stop:1",
    "pdm": ".h -p= -c= -g -s -q -v --project= --config= --site-packages --env-file= -r= -u= -P= --repository="
    " --username= --password= --venv= --python=",
    "pdm run": ".h .stop:1 -p= -s -l -j --project= --site-packages --recreate --venv=",
    "conda": ".h -n= -p= -c= -f= --name= --prefix= --channel= --file= --cwd= --solver= -y -q -v --yes --all --json"
    " --override-channels --clone= -e --experimental=",
    "conda run": ".h .stop:1 -n= -p= --name= --prefix= --cwd= --live-stream --no-capture-output --dev"
    " --debug-wrapper-scripts -v",
    "pixi": ".h -e= -m= --environment= --manifest-path= --frozen --locked -x",
    "pixi run": ".h .stop:1 -e= -m= --environment= --manifest-path= --frozen --locked --clean-env --executable -x",
    "cargo": ".h -Z= -C= -p= -j= -F= --config= --color= --manifest-path= --package= --features= --target="
    " --target-dir= --jobs= --profile= --bin= --example= --test= --bench= --message-format= --registry= --index="
    " --token= --root= --git= --branch= --tag= --rev= --path= --version= --exclude= --vers= --lockfile-path="
    " --all-features --no-default-features --release --workspace --all-targets --locked --offline --frozen -r -v"
    " -q --allow-dirty --dry-run --no-verify --undo --force -f -n",
    "rustup": ".h -v -q",
    "rustup run": ".h .stop:2 --install",
    "gem": ".h -v= -i= -n= -s= -k= -P= -g? --version= --install-dir= --bindir= --source= --key= --host= --otp="
    " --platform= --config-file= -y -f -q --user-install --force",
    "bundle": ".h --gemfile= --path= --jobs= -j= --retry= --without= --with= --binstubs? --standalone? --clean -r="
    " --group= -g=",
    "bundle exec": ".h .stop:1 --keep-file-descriptors --no-keep-file-descriptors --gemfile=",
    "rake": "-f= -I= -r= -R= -e= -E= -p= -j? -C= -T? -D? -W? --rakefile= --libdir= --require= --rakelibdir="
    " --execute= --execute-continue= --execute-print= --directory= --jobs? --trace? -nPqsvNtABgGX",
    "twine": ".h -r= -u= -p= -c= -i= --repository= --repository-url= --username= --password= --comment="
    " --config-file= --cert= --client-cert= --identity= --sign-with= -s",
    "go": ".names -C= -o= -p= -exec= -toolexec= -mod= -modfile= -tags= -ldflags= -gcflags= -asmflags= -overlay="
    " -pkgdir= -run= -count= -timeout= -bench= -coverprofile= -cpuprofile= -memprofile= -outputdir= -parallel="
    " -vettool= -buildmode= -compiler= -installsuffix= -coverpkg= -covermode= -benchtime= -cpu= -fuzz= -fuzztime="
    " -skip= -shuffle= -list= -f= -n -v -x -a -race -json -modcache -cache -testcache -fuzzcache -u .equals",
    "go run": ".names .stop:1 -exec= -C= -mod= -tags= -ldflags= -gcflags= -overlay= -toolexec= -modfile= -p= -race"
    " -v -x -n -a",
    "dotnet": ".h -c= -o= -f= -r= -p= -v= -s= -k= -n= --configuration= --output= --framework= --runtime="
    " --project= --verbosity= --source= --api-key= --property=",
    "composer": ".h -d= --working-dir= -n -q -v --no-interaction --no-scripts --no-plugins",
    "apt": "-o= -c= -t= -a= --option= --config-file= --target-release= --default-release= --host-architecture="
    " -yqsmdfV --yes --assume-yes --purge --autoremove --allow-remove-essential",
    "dpkg": "-D= -i -r -P -l -L -S -s --root= --admindir= --instdir= --log= --force-? --force-*= --path-exclude="
    " --path-include= --pre-invoke= --post-invoke= --status-logger= --status-fd= --abort-after=",
    "rpm": "-D= -E= -r= -q -i -e -U -F -v -h -V -a -l --root= --dbpath= --define= --eval= --prefix= --relocate="
    " --queryformat= --qf= --pipe= --macros= --rcfile= --load= --import --nodeps --force --noscripts",
    "dnf": "-c= -d= -e= -x= -R= --config= --exclude= --repo= --repoid= --enablerepo= --disablerepo= --installroot="
    " --releasever= --setopt= --forcearch= --advisory= -yqvC --assumeyes",
    "pacman": "-b= -r= --dbpath= --root= --arch= --cachedir= --config= --gpgdir= --hookdir= --logfile="
    " --overwrite= --ignore= --assume-installed= -SRQTUDF --noconfirm -y -u -s -c -n -d -i -l -q -v",
    "apk": "-p= -X= -t= --root= --repository= --virtual= --keys-dir= --arch= --repositories-file= --wait= -f -q -v -u",
    "brew": ".h",
    "snap": ".h --channel= --revision= --classic --dangerous --purge",
    "snap run": ".h .stop:1 --shell --command= --hook= --strace? --gdbserver? -r= --debug-log",
    "flatpak": ".h --user --system --installation= --arch= --command= --branch= --env= --filesystem= --socket="
    " --device= --share= --cwd= -y -v",
    "flatpak run": ".h .stop:1 --arch= --command= --branch= --cwd= --env= --filesystem= --socket= --device="
    " --share= --runtime= --runtime-version= --runtime-commit= --commit= --persist= --nofilesystem= --unset-env="
    " --allow= --own-name= --talk-name= --system-talk-name=",
    "port": ".h",
    "nix": ".h -f= -I= -j= -k= -s --file= --include= --option --arg --argstr --expr= --profile= --override-input"
    " --store= --max-jobs= --cores= --keep= -c@ --command@ --ignore-environment -i --impure"
    " --extra-experimental-features= --experimental-features= --inputs-from= --unset= -u= --builders="
    " --log-format= -v -L",
    "nix-shell": "-p -I= -i= -A= -j= --run= --command= --packages --attr= --exclude= --keep= --pure --arg --argstr"
    " --option --expr -E",
    "mise": ".h -C= -E= -j= -P= -v -q -y --cd= --env= --jobs= --profile= -c= --command= --tool= -t= --raw --yes",
    "devbox": ".h -c= --config= --env= --env-file= -q -e=",
    "volta": ".h",
    "op": ".h --account= --session= --config= --env-file= --vault= --encoding= --format= --no-masking --cache? -n=",
    "op run": ".h --env-file= --account= --session= --no-masking --environment=",
    "aws-vault": ".h -d= -t= -n -j -s -b --duration= --region= --backend= --prompt= --mfa-token= --keychain="
    " --ecs-server --ec2-server --no-session --stdout --pass-dir= --pass-cmd= --file-dir= --debug --lazy",
    "aws-vault exec": ".h -d= -t= -n -j -s --duration= --region= --backend= --prompt= --mfa-token= --ecs-server"
    " --ec2-server --server --no-session --lazy",
    "chamber": ".h -b= -k= -v= -r --backend= --kms-key-alias= --min-throttle-delay= --retry-mode= --retries="
    " --pristine --strict --strict-value=",
    "doppler": ".h -t= -p= -c= --token= --project= --config= --scope= --api-host= --command= --fallback="
    " --passphrase= --mount= --mount-format= --mount-template= --mount-max-reads= --name-transformer="
    " --preserve-env? --only-secrets= --config-dir= --dashboard-host= --dns-resolver-address= --timeout=",
    "doppler run": ".h .stop:1 --command= --fallback= --passphrase= --mount= --mount-format= --mount-template="
    " --mount-max-reads= --name-transformer= --preserve-env? --only-secrets=",
    "infisical": ".h --env= --path= --projectId= --token= --command= -c= --domain= --tags= --project-config-dir=",
    "sops": ".h -i -d -e -r -s --input-type= --output-type= --output= --extract= --set= --age= --kms= --pgp="
    " --config= --user= --background --pristine --no-fifo --filename= --env-file=",
    "teller": ".h -c= --config= -s --shell --reset",
    "envchain": "",
    # Databases.
    "psql": ".abbreviates -c= -d= -f= -F= -h= -L= -o= -p= -P= -R= -T= -U= -v= -aAbeEHlnqsStwWxXz01? --command="
    " --dbname= --file= --field-separator= --host= --log-file= --output= --port= --pset= --record-separator="
    " --table-attr= --username= --set= --variable= --echo-all --no-align --echo-errors --echo-queries"
    " --echo-hidden --html --list --no-readline --quiet --single-step --single-line --tuples-only --no-password"
    " --password --expanded --no-psqlrc --field-separator-zero --record-separator-zero --single-transaction --csv",
    "mysql": ".abbreviates -e= -h= -P= -u= -p? -D= -S= -O= --execute= --host= --port= --user= --password?"
    " --database= --socket= --defaults-file= --defaults-extra-file= --defaults-group-suffix= --login-path="
    " --default-character-set= --delimiter= --init-command= --init-command-add= --tee= --prompt= --protocol="
    " --ssl-mode= --ssl-ca= --ssl-cert= --ssl-key= --connect-timeout= --max-allowed-packet= --plugin-dir="
    " --default-auth= --pager= --batch --force --silent --skip-column-names --table --verbose --wait --raw --html"
    " --xml --quick --compress --safe-updates --i-am-a-dummy --comments --no-auto-rehash --line-numbers --skip-ssl"
    " --no-defaults --print-defaults --auto-rehash --column-names --binary-mode --reconnect --show-warnings"
    " --unbuffered --vertical --system-command? -ABCEfGHiINnoqrRsTtUVvwW",
    "mysqladmin": "-h= -P= -u= -p? -S= -i= -c= -w? -O= --host= --port= --user= --password? --socket= -f -v -s",
    "mysqldump": "-h= -P= -u= -p? -S= -r= -w= -T= --host= --port= --user= --password? --socket= --result-file="
    " --where= --tab= --ignore-table= --set-gtid-purged=",
    "sqlite3": ".names .letters -cmd= -init= -separator= -nullvalue= -newline= -vfs= -maxsize= -mmap= -lookaside="
    " -pagecache= -heap= -key= -hexkey= -textkey= -A -append -ascii -bail -batch -box -column -csv -deserialize"
    " -echo -header -noheader -html -interactive -json -line -list -markdown -memtrace -nofollow -nonce= -quote"
    " -readonly -safe -stats -table -tabs -unsafe-testing -zip",
    "mongosh": "-u= -p= -f= --eval= --host= --port= --db= --username= --password= --file="
    " --authenticationDatabase= --authenticationMechanism= --tlsCAFile= --tlsCertificateKeyFile= --apiVersion="
    " --shell --quiet --norc --nodb --tls",
    "redis-cli": ".stop:1 -h= -p= -s= -a= -u= -r= -i= -n= -d= -D= -t= -x -X= -c -e --user= --pass= --eval="
    " --cacert= --cert= --key= --sni= --rdb= --functions-rdb= --pattern= --quoted-pattern= --intrinsic-latency="
    " --lru-test= --cluster= --scan --bigkeys --hotkeys --pipe --raw --csv --json --no-raw --latency"
    " --latency-history --stat --monitor --verbose --askpass --tls --insecure -2 -3",
    "pg_dump": "-f= -F= -j= -Z= -n= -N= -t= -T= -E= -S= -d= -h= -p= -U= --file= --format= --jobs= --schema="
    " --table= --dbname= --host= --port= --username=",
    "pg_restore": "-f= -F= -j= -n= -N= -t= -I= -P= -T= -L= -S= -d= -h= -p= -U= -c -C --dbname= --host= --port="
    " --username= --clean --create --if-exists",
    "dropdb": "-h= -p= -U= -i -e -f -w -W --host= --port= --username= --maintenance-db= --if-exists --force",
    "createdb": "-h= -p= -U= -D= -E= -l= -O= -T= --host= --port= --username=",
    "sqlcmd": "-S= -U= -P= -d= -q= -Q= -i= -o= -v= -h= -s= -w= -t= -l= -a= -c= -H= -K= -m= -M= -G --query="
    " --initial-query= --server= --database= --database-name= --user-name= --input-file= --output-file="
    " --authentication-method=",
    "hive": "-e= -f= -u= -n= -p= -d= -i= -w= --hiveconf= --hivevar= --define= --database= --conf= --master="
    " --deploy-mode= --executor-memory= --num-executors= --outputformat= --showHeader=",
    "impala-shell": "-q= -i= -d= -u= -f= -k -o= --query= --impalad= --database= --user= --query_file= --output_file=",
    "cypher-shell": "-a= -u= -p= -d= -f= -P= --address= --uri= --username= --password= --database= --file="
    " --format= --param=",
    "snow": ".h -q= -c= -f= -D= --query= --connection= --filename= --database= --schema= --role= --warehouse="
    " --account= --user=",
    "drush": "--root= --uri= -l= -r= --db-url= --database= --target= --extra= -y --yes --result-file=",
    "etcdctl": ".h --endpoints= --user= --password= --cacert= --cert= --key= --write-out= -w= --dial-timeout="
    " --command-timeout= --rev= --limit= --lease= --order= --sort-by= --discovery-srv= --keepalive-time=",
    "kafka-topics": ".valued --list --describe --delete --create --alter --execute --dry-run --if-exists"
    " --if-not-exists --force --all-topics --all-groups --reset-offsets --delete-offsets --to-earliest --to-latest"
    " --to-current --verify --generate --members --verbose --version! --all --add --remove --exclude-internal"
    " --from-beginning --state? --offsets --export",
    "bcp": "",
    "clickhouse-client": "-h= -u= -q= -d= -n -m --host= --port= --user= --password= --query= --database="
    " --queries-file= --format= -f=",
    "cqlsh": "-u= -p= -e= -f= -k= --username= --password= --execute= --file= --keyspace=",
    "duckdb": ".names -c= -cmd= -init= -s= -separator= -f= -nullvalue= -csv -json -line -list -markdown -readonly",
    "snowsql": "-q= -f= -o= -a= -u= -d= -s= -w= -r= -c= -D= --query= --filename= --option= --accountname="
    " --username= --dbname=",
    "influx": ".h -t= -o= --token= --org= --host= --bucket= -b= --start= --stop= -p= --predicate= -n= --name= -i="
    " --id= --execute= -execute=",
    "prisma": ".h --schema= --name= --url= --from-url= --to-url= --script --force --skip-seed --skip-generate"
    " --accept-data-loss --force-reset --config=",
    "stripe": ".h --api-key= -d= -e= --expand= --project-name= --color= --device-name= --config= --log-level="
    " --live --confirm -c",
    "twilio": ".h -p= -o= --profile=",
    "sentry-cli": ".h --auth-token= --url= --org= -o= -p= --project= --log-level= --header=",
    "sl": ".own",
    # Databases, queues and services.
    "pgcli": "-c= -h= -p= -U= -u= -d= -D= --command= --host= --port= --username= --user= --dbname= --init-command=",
    "cockroach": ".h -e= -d= -u= -p= --execute= --host= --database= --url= --user= --port= --certs-dir= --set="
    " --format=",
    "mycli": "-e= -h= -P= -u= -D= -S= -d= -p= --execute= --host= --port= --user= --database= --socket= --dsn="
    " --password=",
    "mysqlsh": "-e= -f= -h= -P= -u= -D= -S= -p? --execute= --file= --host= --port= --user= --database= --socket="
    " --uri= --schema=",
    "dolt": "-q= -r= -f= -u= -p= --query= --result-format= --file= --user= --password= --host= --port= --use-db="
    " --data-dir=",
    "litecli": "-e= -d= -D= --execute= --database=",
    "rqlite": "-H= -p= -s= -u= -c= -t= --host= --port= --scheme= --user=",
    "turso": ".h -c= -i= -l= --instance= --location= --auth-token= --config-path= --group= --from-db=",
    "mssql-cli": "-S= -U= -P= -d= -Q= -i= -o=",
    "tsql": "-S= -H= -p= -U= -P= -D= -I= -J= -L",
    "isql": "-d= -x= -m= -u= -p= -i= -o= -U= -P= -S= -D= -user= -password=",
    "sqlplus": "-C= -M= -R= -c= -r= -s -l",
    "presto": "-f= --execute= --server= --catalog= --schema= --user= --file= --output-format= --session=",
    "ksql": "-e= -f= -u= -p= --execute= --file= --user= --password= --config-file=",
    "surreal": ".h -e= -u= -p= --endpoint= --conn= --user= --username= --pass= --password= --ns= --namespace="
    " --db= --database=",
    "gel": ".h -I= -H= -P= -u= -d= -b= -c= -F= --instance= --host= --port= --user= --database= --branch= --file="
    " --output-format=",
    "influxdb3": ".h .valued",
    "mongorestore": "-h= -u= -p= -d= -c= -j= --host= --port= --username= --password= --db= --collection= --uri="
    " --file= --nsInclude= --nsExclude= --nsFrom= --nsTo= --type= --fields= -f= --archive?"
    " --authenticationDatabase= --mode= --upsertFields=",
    "rabbitmqctl": "-n= -t= -p= -u= -H= -P= -V= -N= -c= -f= --node= --timeout= --vhost= --formatter= --username="
    " --password= --host= --port= --config= --format=",
    "rpk": ".h -X= -p= -r= -c= -n= -o= -f= -t= --brokers= --config= --profile= --user= --password= --to="
    " --partitions= --topics= --format= --sasl-mechanism= --api-urls=",
    "nats": ".h -s= -i= --server= --user= --password= --creds= --nkey= --context= --js-domain= --js-api-prefix="
    " --timeout= --subject= --subjects= --tlscert= --tlskey= --tlsca= --seq= --keep= --count= --inbox-prefix="
    " --config= --reply= -H= --header=",
    "celery": "-A= -b= -Q= -n= -l= -c= -P= -X= -f= --app= --broker= --queues= --loglevel= --workdir= --pool="
    " --result-backend= --exclude-queues= --concurrency= --config= --hostname=",
    "migrate": ".names -path= -database= -source= -lock-timeout= -prefetch= -verbose -f",
    "goose": "-dir= -table= -v -s -h!",
    "alembic": "-c= -n= -x= --config= --name= --raiseerr --sql --tag=",
    "flyway": ".names .equals",
    "liquibase": ".valued --force --verbose --drop-dbclhistory?",
    "sqlx": ".h -D= --database-url= --source= -y --connect-timeout=",
    "diesel": ".h --database-url= --config-file= --migration-dir= --locked-schema",
    # Clouds and clusters.
    "azcopy": ".h .valued --recursive? --dry-run --put-md5 --force-if-read-only --as-subdir?"
    " --preserve-permissions? --list-of-files=",
    "azd": ".h -e= -C= --environment= --cwd= --force --purge --debug --no-prompt",
    "cdk": ".h -a= -c= -e -f -o= -r= -q -j -v -d -b= -t= -n= -p= --app= --context= --output= --profile="
    " --role-arn= --require-approval= --outputs-file= --method= --concurrency= --toolkit-stack-name= --plugin="
    " --parameters= --progress= --reset= --tags= --language= --change-set-name= --region= --assets? --build=",
    "helmfile": ".h -f= -e= -l= -n= -c= -b= -k= --file= --environment= --selector= --namespace= --kube-context="
    " --args= --chart= --state-values-set= --state-values-file= --log-level= --helm-binary= --concurrency= --set="
    " --values=",
    "crictl": ".h -r= -i= -t= -c= --runtime-endpoint= --image-endpoint= --timeout= --config=",
    "ctr": ".h -n= -a= --namespace= --address= --timeout= --connect-timeout=",
    "nginx": "-s= -c= -g= -p= -e= -t -T -q -v! -V! -h! -?!",
    "apachectl": "-k= -f= -c= -C= -D= -d= -e= -E= -t -S -l -L -M -v! -V! -h!",
    "haproxy": "-f= -p= -x= -C= -L= -n= -m= -N= -dr -c -D -d -q -v! -vv!",
    "p4": "-c= -p= -u= -P= -H= -d= -C= -x= -b= -j= -l= -r= -z= -I -n -a -y -f",
    "mc": ".h -C= --config-dir= --older-than= --newer-than= --versions --recursive --force -r --json --quiet"
    " --attr= --tags= --limit-upload=",
    "s3cmd": ".h -c= -r -f -n --config= --access_key= --secret_key= --region= --host= --host-bucket= --exclude="
    " --include= --rexclude= --rinclude= --exclude-from= --storage-class= -m= --mime-type= --add-header="
    " --expiry-days= --limit=",
    "s5cmd": ".h --endpoint-url= --profile= --credentials-file= --numworkers= --log= -r= --retry-count="
    " --request-payer=",
    "restic": ".h -r= -p= -o= -H= --repo= --repository-file= --password-file= --password-command= --cache-dir="
    " --key-hint= --option= --keep-last= --keep-hourly= --keep-daily= --keep-weekly= --keep-monthly="
    " --keep-yearly= --keep-within= --keep-tag= --tag= --host= --path= --group-by= -g= -l= -d= -w= -m= -y="
    " --limit-download= --limit-upload= --max-unused= --target= -t= -e= -i= --exclude= --include= --exclude-file="
    " --files-from= --json -n -q -v",
    "borg": ".h -a= -P= -C= -s= -e= -r= --remote-path= --rsh= --prefix= --glob-archives= --repo= --match-archives="
    " --keep-within= --keep-last= --keep-secondly= --keep-minutely= --keep-hourly= --keep-daily= --keep-weekly="
    " --keep-monthly= --keep-yearly= -d= -w= -m= -y= -H= --first= --last= --sort-by= --lock-wait= --umask="
    " --exclude= --pattern= --patterns-from= --exclude-from= --compression= --encryption= --comment= --format="
    " --threshold= -n -p -v",
    "kopia": ".h -p= --config-file= --password= --log-level= --log-dir= --all-sources? --source= --tags=",
    "pgbackrest": ".valued --force --dry-run --delta",
    "juju": ".h -m= -c= --model= --controller= --no-prompt --force --destroy-storage --timeout= --config= -n="
    " --num-units= --to=",
    "knife": ".h -c= -k= -s= -u= -E= -z -y -a= -F= --config= --key= --server-url= --user= --environment= --format=",
    "salt": "-C -E -L -G -N -b= -t= -u= -c= --timeout= --batch= --config-dir= --out= --output= --state-output="
    " --return= --username= --password= --eauth= --subset= --async",
}

# Other paths of subcommands that mean the same.
ALIASES: dict[str, str] = {
    "gojq": "jq",
    "kafka-topics.sh": "kafka-topics",
    "kafka-consumer-groups": "kafka-topics", "kafka-consumer-groups.sh": "kafka-topics",
    "kafka-configs": "kafka-topics", "kafka-configs.sh": "kafka-topics", "kafka-delete-records": "kafka-topics",
    "kafka-delete-records.sh": "kafka-topics", "kafka-acls": "kafka-topics", "kafka-acls.sh": "kafka-topics",
    "kafka-reassign-partitions": "kafka-topics", "kafka-reassign-partitions.sh": "kafka-topics",
    "kafka-console-producer": "kafka-topics", "kafka-console-producer.sh": "kafka-topics",
    "kafka-console-consumer": "kafka-topics", "kafka-console-consumer.sh": "kafka-topics",
    "kafka-streams-application-reset": "kafka-topics", "kafka-streams-application-reset.sh": "kafka-topics",
    "kafka-leader-election": "kafka-topics", "kafka-leader-election.sh": "kafka-topics", "ysqlsh": "psql",
    "dcfldd": "dd", "dc3dd": "dd",
    "gsql": "psql", "vsql": "psql", "nzsql": "psql", "usql": "psql", "sqlite": "sqlite3", "sqlcipher": "sqlite3",
    "osql": "sqlcmd", "clickhouse": "clickhouse-client", "ycqlsh": "cqlsh", "trino": "presto", "beeline": "hive",
    "spark-sql": "hive", "edgedb": "gel", "mongoimport": "mongorestore", "rabbitmqadmin": "rabbitmqctl",
    "rabbitmq-queues": "rabbitmqctl", "rabbitmq-diagnostics": "rabbitmqctl", "rabbitmq-streams": "rabbitmqctl",
    "awslocal": "aws", "aws2": "aws", "openresty": "nginx", "tengine": "nginx", "apache2ctl": "apachectl",
    "httpd": "apachectl", "mcli": "mc", "rustic": "restic", "opentofu": "terraform", "tf": "terraform", "bao": "vault",
    "openbao": "vault", "aws-cdk": "cdk", "salt-call": "salt", "salt-ssh": "salt", "helm3": "helm",
    "podman-remote": "docker", "finch": "docker", "podman": "docker", "nerdctl": "docker",
    "docker-compose": "docker compose", "podman-compose": "docker compose", "docker container run": "docker run",
    "docker container exec": "docker exec", "docker container rm": "docker rm", "docker container stop": "docker stop",
    "docker container kill": "docker kill", "docker container create": "docker run", "docker create": "docker run",
    "docker image rm": "docker rmi", "docker image build": "docker build", "docker container cp": "docker cp",
    "docker container logs": "docker logs", "docker container ls": "docker ps", "docker builder build": "docker build",
    "oc": "kubectl", "k3s kubectl": "kubectl", "microk8s.kubectl": "kubectl", "kubecolor": "kubectl",
    "oc rsh": "kubectl exec", "tofu": "terraform", "k": "kubectl", "mamba": "conda", "micromamba": "conda",
    "conda-run": "conda run", "git submodule--helper": "git submodule", "npm x": "npx", "npm exec": "npx",
    "pnpm x": "pnpm exec", "pnpx": "pnpm dlx", "bun x": "bunx", "bun run": "bun", "uv tool run": "uvx",
    "git whatchanged": "git log", "git show": "git log", "git shortlog": "git log", "git rev-list": "git log",
    "git format-patch": "git log", "git diff-tree": "git diff", "git diff-index": "git diff",
    "git diff-files": "git diff", "git stage": "git add", "git clone-pack": "git fetch-pack", "zsh": "bash",
    "sh": "bash", "mksh": "bash", "dash": "bash", "ksh": "bash", "ash": "bash", "yash": "bash", "rbash": "bash",
    "hush": "bash", "csh": "bash", "tcsh": "bash", "posh": "bash", "pdksh": "bash", "oksh": "bash", "loksh": "bash",
    "osh": "bash", "ysh": "bash", "elvish": "bash", "xonsh": "bash", "egrep": "grep", "fgrep": "grep", "zgrep": "grep",
    "bzgrep": "grep", "xzgrep": "grep", "zegrep": "grep", "zfgrep": "grep", "pcregrep": "grep", "gunzip": "gzip",
    "zcat": "gzip", "pigz": "gzip", "unpigz": "gzip", "bunzip2": "bzip2", "bzcat": "bzip2", "unxz": "xz", "xzcat": "xz",
    "lzma": "xz", "unlzma": "xz", "lzcat": "xz", "unzstd": "zstd", "zstdcat": "zstd", "bsdtar": "tar", "star": "tar",
    "bsdcpio": "cpio", "ncat": "nc", "netcat": "nc", "nc.openbsd": "nc", "nc.traditional": "nc", "https": "http",
    "xhs": "xh", "mailx": "mail", "s-nail": "mail", "wget2": "wget", "su-exec": "gosu", "chgrp": "chown",
    "base32": "base64", "tac": "cat", "rev": "cat", "pgrep": "pkill", "slogin": "ssh", "dbclient": "ssh",
    "proxychains4": "proxychains", "tsocks": "torsocks", "torify": "torsocks", "linux64": "setarch",
    "linux32": "setarch", "i386": "setarch", "x86_64": "setarch", "i686": "setarch", "uname26": "setarch",
    "arch": "setarch", "ip6tables": "iptables", "iptables-legacy": "iptables", "iptables-nft": "iptables",
    "adduser": "useradd", "vi": "vim", "ex": "vim", "view": "vim", "rvim": "vim", "rview": "vim", "gvim": "vim",
    "vimdiff": "vim", "nvim": "vim", "gview": "vim", "evim": "vim", "eview": "vim", "nvi": "vim", "vim.tiny": "vim",
    "vim.basic": "vim", "most": "less", "toybox": "busybox", "rbusybox": "busybox", "powershell": "pwsh",
    "perldb": "perl", "luajit": "lua", "texlua": "lua", "wish": "tclsh", "fdfind": "fd", "ansible-playbook": "ansible",
    "flyctl": "fly", "mariadb": "mysql", "mariadb-dump": "mysqldump", "mariadb-admin": "mysqladmin", "mongo": "mongosh",
    "valkey-cli": "redis-cli", "keydb-cli": "redis-cli", "apt-get": "apt", "aptitude": "apt", "yum": "dnf",
    "microdnf": "dnf", "dnf5": "dnf", "yay": "pacman", "paru": "pacman", "tsx": "node", "ts-node": "node",
    "nodejs": "node", "gpg2": "gpg", "pg_dumpall": "pg_dump", "mke2fs": "mkfs", "rmt-tar": "tar", "batch": "at",
    "jruby": "ruby", "micropython": "python", "pypy": "python", "hhvm": "php", "gmake": "make", "bmake": "make",
    "remake": "make", "dmake": "make", "netkit-ftp": "ftp", "poweroff": "shutdown", "reboot": "shutdown",
    "halt": "shutdown",
}  # fmt: skip

# Programs with subcommands, and which of these have another one behind them: `first`, `first:known|words` if only
# these, `first/second` for a third; `*2` is always two, `*` as deep as it goes.
GROUPS: dict[str, str] = {
    "git": "stash:push|pop|apply|drop|clear|list|show|branch|create|store|save|export|import remote"
    " reflog:expire|delete|show|list|exists|drop|write worktree"
    " submodule:add|status|init|deinit|update|summary|foreach|sync|absorbgitdirs|set-branch|set-url|add-clone|clone"
    " bisect notes:list|add|copy|append|edit|show|merge|remove|prune|get-ref bundle sparse-checkout"
    " config:set|get|unset|list|edit|rename-section|remove-section lfs maintenance submodule--helper flow"
    " credential credential-store credential-cache svn p4 subtree multi-pack-index commit-graph"
    " rerere:clear|forget|diff|remaining|status|gc hook refs",
    "docker": "system container image volume network builder buildx compose context plugin manifest trust secret"
    " config stack service swarm node machine pod play kube generate checkpoint scout desktop model sandbox mcp"
    " namespace apparmor ipfs farm quadlet artifact healthcheck",
    "docker compose": "alpha",
    "kubectl": "config rollout set create auth top certificate krew"
    " apply:view-last-applied|edit-last-applied|set-last-applied adm policy kustomize:build plugin alpha",
    "helm": "repo get show plugin registry dependency search diff:upgrade|rollback|revision|release|version secrets s3",
    "terraform": "state workspace providers:lock|mirror|schema metadata",
    "terragrunt": "state workspace run-all run stack hcl backend dag",
    "pulumi": "stack:ls|init|rm|select|export|import|output|graph|history|rename|tag|unselect|webhook config"
    " plugin policy state org env esc package template deployment schema",
    "packer": "plugins",
    "vault": "kv secrets auth policy token operator lease audit namespace"
    " plugin:list|register|deregister|reload|info|runtime pki transit transform print events",
    "consul": "kv acl config intention catalog connect operator snapshot tls peering partition namespace services",
    "nomad": "job node alloc acl namespace operator system server var volume deployment quota sentinel eval plugin"
    " service tls setup recommendation node-pool",
    "aws": "*2",
    "gcloud": "*",
    "az": "*",
    "gsutil": "acl bucketpolicyonly cors defacl defstorageclass hmac iam kms label lifecycle logging notification"
    " pap requesterpays retention rpo ubla versioning web",
    "bq": "",
    "gh": "repo issue pr release secret variable workflow run auth gist codespace cs cache config extension ext"
    " label org project ruleset rs ssh-key gpg-key alias attestation search preview agent-task at"
    " repo:autolink|deploy-key|create|delete|clone|fork|list|view|edit|rename|archive|unarchive|sync|set-default"
    " repo/deploy-key repo/autolink",
    "glab": "repo mr issue release ci variable auth alias config label project snippet ssh-key user token cluster"
    " deploy-key schedule stack incident iteration changelog duo securefile",
    "npm": "config cache access owner dist-tag token org team profile hook pkg trust audit:fix|signatures",
    "pnpm": "store config cache env server",
    "yarn": "config cache workspaces npm plugin global owner tag team set policies",
    "bun": "pm",
    "pip": "cache config index",
    "uv": "pip tool python cache self auth workspace",
    "poetry": "env self cache source python debug",
    "pipenv": "",
    "hatch": "env dep python self config project",
    "pdm": "cache venv plugin self python",
    "conda": "env content-trust",
    "pixi": "global project workspace task config auth",
    "cargo": "nextest",
    "rustup": "toolchain target component override self",
    "gem": "cert",
    "bundle": "plugin",
    "twine": "",
    "go": "mod work telemetry",
    "dotnet": "nuget tool sln solution package reference add:package|reference remove:package|reference"
    " list:package|reference new:install|uninstall|list|update|search dev-certs user-secrets workload",
    "composer": "",
    "apt": "",
    "dnf": "module history group repository-packages copr",
    "brew": "services bundle cask",
    "snap": "",
    "flatpak": "",
    "nix": "profile flake store registry derivation hash key config:show|check realisation nar",
    "mise": "plugins cache settings config tasks alias:get|ls|set|unset generate sync backends task",
    "asdf": "plugin",
    "devbox": "global services generate cache secrets auth",
    "op": "item vault user group document account connect events-api service-account plugin",
    "aws-vault": "",
    "chamber": "",
    "doppler": "secrets projects environments configs configs/tokens configure configs/logs flags oidc",
    "infisical": "secrets folders user",
    "sops": "groups",
    "systemctl": "",
    "openssl": "",
    "launchctl": "",
    "ufw": "route app",
    "zpool": "",
    "zfs": "",
    "btrfs": "subvolume filesystem device balance scrub quota qgroup property inspect-internal rescue replace",
    "cryptsetup": "",
    "lvm": "",
    "heroku": "",
    "fly": "apps ssh secrets volumes volume machine machines postgres pg mysql redis ips certs wireguard tokens"
    " orgs auth config registry storage extensions ext image mpg consul dns-records domains regions services sftp"
    " synthetics agent releases settings",
    "vercel": "env domains dns secrets certs alias projects project teams integration blob git",
    "netlify": "env sites functions addons blobs db",
    "wrangler": "kv r2 d1 secret pages queues hyperdrive vectorize workflows versions deployments"
    " dispatch-namespace cert mtls-certificate ai kv/namespace kv/key kv/bulk r2/bucket r2/object d1/migrations"
    " d1/time-travel pages/project pages/deployment pages/secret queues/consumer secrets-store containers"
    " pipelines",
    "firebase": "",
    "supabase": "db migration functions secrets projects branches storage orgs gen domains network-bans"
    " ssl-enforcement snippets vanity-subdomains inspect postgres-config encryption sso test network-restrictions",
    "railway": "environment volume functions",
    "doctl": "*",
    "linode-cli": "*2",
    "hcloud": "*",
    "oci": "*",
    "eksctl": "create delete get upgrade drain utils enable set unset associate disassociate register deregister"
    " anywhere",
    "kind": "create delete get load export build completion",
    "minikube": "addons config cache image",
    "gitlab-runner": "cache",
    "hg": "",
    "svn": "",
    "redis-cli": "",
    "influx": "bucket org user auth v1 task stack template config secret dashboards export telegrafs remote"
    " replication server-config scripts",
    "prisma": "migrate db platform migrate/engines",
    "stripe": "*",
    "twilio": "*",
    "sentry-cli": "releases projects organizations deploys files sourcemaps debug-files events issues monitors"
    " repos releases/files releases/deploys",
    "zellij": "action",
    "machinectl": "",
    "mdadm": "",
    "rclone": "config",
    "pipx": "",
    "port": "",
    "deno": "",
    "gpgconf": "",
    "nmcli": "*",
    "multipass": "",
    "vagrant": "box plugin snapshot",
    "lxc": "config image network profile project storage remote file cluster operation storage/volume"
    " config/device network/acl",
    "incus": "config image network profile project storage remote file cluster storage/volume",
    "virsh": "",
    "certbot": "",
    "kubeadm": "config token certs upgrade kubeconfig alpha",
    "argocd": "app cluster proj repo account",
    "flux": "get create delete reconcile suspend resume export",
    "istioctl": "",
    "velero": "backup restore schedule snapshot-location backup-location",
    "gitleaks": "",
    "codesign": "",
    "security": "",
    "diskutil": "apfs appleRAID coreStorage",
    "tmutil": "",
    "defaults": "",
    "scutil": "",
    "pmset": "",
    "networksetup": "",
    "hdiutil": "",
    "softwareupdate": "",
    "csrutil": "",
    "nvram": "",
    "bw": "get list create edit",
    "pass": "",
    "tailscale": "",
    "ngrok": "",
    "cloudflared": "tunnel access",
    "wg": "",
    "ip": "*",
    "loginctl": "",
    "timedatectl": "",
    "hostnamectl": "",
    "journalctl:": "",
    "chezmoi": "",
    "lerna": "",
    "nx": "",
    "turbo": "",
    "rush": "",
    "rails": "",
    "artisan": "",
    "alembic": "",
    "flask": "db",
    "vgs": "",
}

# The last word of a subcommand that is as deep as it goes.
VERBS = frozenset(
    "abandon add add-iam-policy-binding apply attach browse call cancel capture cat check clone confirm connect copy"
    " cp create deallocate delete delete-batch deploy describe destroy detach disable download download-batch enable"
    " exec execute export failover get get-credentials get-iam-policy import invoke invoke-command list login logout ls"
    " move mv open patch power-off poweroff print-access-token promote publish purge query reboot rebuild recover"
    " redeploy regenerate reload remove remove-iam-policy-binding renew replace reset resize restart restore resume"
    " retrieve revoke rm rollback rotate rsync run scale scp set set-iam-policy show shutdown ssh start stop submit"
    " suspend sync undelete update upload upload-batch wait".split()
)

# Other names of a program.
NAMES: dict[str, str] = {
    "gawk": "awk", "mawk": "awk", "nawk": "awk", "original-awk": "awk", "bwk": "awk", "goawk": "awk", "gsed": "sed",
    "gtar": "tar", "gfind": "find", "gxargs": "xargs", "ggrep": "grep", "gtime": "time", "pypy": "python",
    "bpython": "python", "busybox.static": "busybox", "busybox-static": "busybox", "bash-static": "bash",
    "uutils": "coreutils", "pythonw": "python", "py": "python", "nodejs": "node", "gmake": "make", "gdate": "date",
    "batcat": "bat", "fdfind": "fd", "[": "test", "perl6": "raku",
}  # fmt: skip

# What has versions in its name: python3.12, gcc-12.
VERSIONED = frozenset(
    "2to3 R awk bash bundle bundler clang clang++ cmake cpp dash easy_install emacs erl g++ gawk gcc gdb gem ghc go"
    " gpg guile ipython irb java julia ksh llc lldb lua luajit make mawk mysql node nodejs openssl opt pdb perl pg_dump"
    " php pip psql pydoc pypy python qemu-system rake ruby sqlite tar tclsh vim wish zsh".split()
)

# Of GNU's packages; where others have these names, GNU's have a g in front: gsed, grm.
GNU = frozenset(
    "awk base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dirname"
    " du echo egrep env expand false fgrep find fold grep head id install join kill link ln locate ls md5sum mkdir"
    " mkfifo mknod mktemp mv nice nl nohup numfmt od paste printf readlink realpath rev rm rmdir runcon sed seq sha1sum"
    " sha256sum sha512sum shred shuf sleep sort split stat stdbuf sum sync tac tail tar tee test timeout touch tr true"
    " truncate tty uname unexpand uniq unlink updatedb uptime users wc who whoami xargs yes".split()
)

# Names whose capitals are their own.
FOLDED = frozenset({"R", "Rscript", "GET", "POST", "HEAD", "Xvfb", "MAKEDEV"})
