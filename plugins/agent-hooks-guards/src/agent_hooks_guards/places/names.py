"""The names by which places are known: where keys lie, what runs by itself, who may log in.

One word for each, in lower case: ``name`` or ``folder/name`` wherever it lies; from ``/`` in the root; from ``~/`` in
any home. With ``/`` at its end it is a folder, with all that is in it. ``%`` is a space. Where these are documented:
the manuals of the programs themselves, the Filesystem Hierarchy Standard, the XDG base directories, systemd.unit(5),
crontab(5), bash(1), zsh(1), sudoers(5).
"""

from __future__ import annotations

_NAMES = {
    "secret": """
        .ssh/ .gnupg/ .aws .aws/credentials .aws/sso/ .aws/cli/ .azure/ .kube .kube/config .docker/config.json
        .dockercfg .config/gcloud/ roaming/gcloud/ .config/gh/hosts.yml glab-cli/config.yml .config/hub .config/op/
        .op/ .password-store/ .git-credentials .config/git/credentials .netrc _netrc .npmrc .pypirc .pgpass
        pgpass.conf .my.cnf .mylogin.cnf .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config
        .terraform.d/credentials.tfrc.json credentials.tfrc.json .terraformrc terraform.rc .vault-token .vault_pass
        .vault_pass.txt .vault-password .htpasswd .boto .s3cfg .passwd-s3fs .oci/ .aliyun/config.json
        .bluemix/config.json .databrickscfg .snowsql/config doctl/config.yaml hcloud/cli.toml .fly/config.yml
        netlify/config.json com.vercel.cli/auth.json .vercel/auth.json .wrangler/config/
        configstore/firebase-tools.json ngrok/ngrok.yml .ngrok2/ngrok.yml .pulumi/credentials.json linode-cli
        heroku/credentials .config/stripe/config.toml rclone/rclone.conf .rclone.conf containers/auth.json
        .m2/settings.xml .m2/settings-security.xml ~/.gradle/gradle.properties nuget/nuget.config composer/auth.json
        .composer/auth.json sops/age/keys.txt .age/ .huggingface/token huggingface/token .kaggle/kaggle.json
        .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json github-copilot/hosts.json
        github-copilot/apps.json opencode/auth.json .local/share/keyrings/ .gnome2/keyrings/ .local/share/kwalletd/
        library/keychains/ library/cookies/ .config/google-chrome/ .config/chromium/ .config/bravesoftware/
        .config/microsoft-edge/ .config/vivaldi/ .config/opera/ .mozilla/ .thunderbird/ ~/snap/firefox/
        ~/snap/chromium/ application%support/google/chrome/ application%support/firefox/
        application%support/bravesoftware/ application%support/microsoft%edge/ application%support/arc/
        application%support/1password/ application%support/bitcoin/ application%support/exodus/
        application%support/electrum/ google/chrome/user%data/ microsoft/edge/user%data/ mozilla/firefox/profiles/
        .config/bitwarden/ .config/bitwarden%cli/ .config/1password/ .config/keepassxc/ .bitcoin/ .ethereum/
        .electrum/ .config/solana/ .exodus/ .monero/ wallet.dat .config/signal/ .config/slack/ .config/discord/
        telegramdesktop/tdata/ .purple/accounts.xml filezilla/sitemanager.xml filezilla/recentservers.xml
        .config/remmina/ .local/share/remmina/ .fetchmailrc .msmtprc .config/msmtp/config .mutt/ .config/anthropic/
        .config/openai/ .anthropic/ .openai/ .config/atuin/key .local/share/atuin/key .ipython/security/
        .jupyter/jupyter_server_config.json .config/scw/config.yaml .circleci/cli.yml .hex/hex.config .config/doctl/
        .config/helm/registry/ .mc/config.json .rediscli_auth .influxdbv2/configs .dbeaver/ .config/dbt/
        .dbt/profiles.yml .astro/config.yaml microsoft/credentials/ microsoft/protect/ microsoft/vault/
        system32/config/sam system32/config/system system32/config/security ntds.dit login%data
        login%data%for%account web%data key3.db key4.db logins.json cookies.sqlite signons.sqlite login.keychain
        login.keychain-db access_tokens.db accesstokens.json msal_token_cache.json msal_token_cache.bin
        application_default_credentials.json credentials.json secrets.yaml secrets.yml secrets.json secrets.toml
        .secrets .secrets.toml .secrets.yaml .secrets.json .credentials passwords.txt passwords.csv password.txt
        kubeconfig .kubeconfig /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/master.passwd
        /etc/security/opasswd /etc/krb5.keytab /etc/ssl/private/ pki/tls/private/ /etc/letsencrypt/live/
        /etc/letsencrypt/archive/ /etc/letsencrypt/accounts/ /etc/letsencrypt/keys/ /etc/wireguard/
        /etc/ipsec.secrets /etc/ipsec.d/private/ /etc/ppp/chap-secrets /etc/ppp/pap-secrets
        /etc/networkmanager/system-connections/ /etc/wpa_supplicant/ /etc/kubernetes/admin.conf
        /etc/kubernetes/kubelet.conf /etc/rancher/k3s/k3s.yaml /etc/rancher/rke2/rke2.yaml /etc/docker/key.json
        /run/secrets/ /var/run/secrets/ /var/lib/kubelet/pki/ /var/lib/secrets/ /var/lib/docker/swarm/
        /var/db/dslocal/ /var/lib/sss/secrets/ /proc/kcore /proc/keys
    """,
    "startup": """
        ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile ~/.zshrc ~/.zshenv
        ~/.zprofile ~/.zlogin ~/.zlogout ~/.kshrc ~/.mkshrc ~/.cshrc ~/.tcshrc ~/.login ~/.logout ~/.inputrc
        ~/.xinitrc ~/.xsession ~/.xsessionrc ~/.xprofile ~/.pam_environment ~/.config/fish/ ~/.config/nushell/
        ~/.config/autostart/ ~/.config/autostart-scripts/ ~/.config/systemd/ ~/.local/share/systemd/
        ~/.config/environment.d/ ~/.config/upstart/ ~/.config/plasma-workspace/env/ ~/.config/powershell/
        ~/.config/zsh/ ~/.zsh/ ~/.bashrc.d/ ~/.config/bash/ ~/.oh-my-zsh/ ~/library/launchagents/
        ~/library/launchdaemons/ .ssh/authorized_keys .ssh/authorized_keys2 .ssh/rc .ssh/environment .ssh/config
        .ssh/config.d/ ~/.forward ~/.procmailrc ~/.gdbinit ~/.lldbinit ~/.pythonrc ~/.pythonrc.py ~/.irbrc ~/.pryrc
        ~/.psqlrc ~/.sqliterc ~/.rprofile ~/.config/git/hooks/ ~/.git-templates/ ~/.config/cron/ ~/.crontab
        ~/.rhosts ~/.shosts .git/hooks/ site-packages/sitecustomize.py site-packages/usercustomize.py
        dist-packages/sitecustomize.py /etc/profile /etc/profile.d/ /etc/bash.bashrc /etc/bashrc
        /etc/bash.bash_logout /etc/zsh/ /etc/zshrc /etc/zshenv /etc/zprofile /etc/zlogin /etc/csh.cshrc
        /etc/csh.login /etc/fish/ /etc/environment /etc/rc.local /etc/rc.d/ /etc/rc.common /etc/rc0.d/ /etc/rc1.d/
        /etc/rc2.d/ /etc/rc3.d/ /etc/rc4.d/ /etc/rc5.d/ /etc/rc6.d/ /etc/rcs.d/ /etc/init.d/ /etc/init/ /etc/inittab
        /etc/crontab /etc/anacrontab /etc/cron.d/ /etc/cron.hourly/ /etc/cron.daily/ /etc/cron.weekly/
        /etc/cron.monthly/ /etc/cron.yearly/ /etc/cron.allow /etc/cron.deny /etc/at.allow /var/spool/cron/
        /var/spool/at/ /var/spool/anacron/ /var/at/tabs/ /usr/lib/cron/tabs/ /etc/systemd/ /lib/systemd/
        /usr/lib/systemd/ /usr/local/lib/systemd/ /run/systemd/system/ /run/systemd/transient/ /etc/xdg/autostart/
        /usr/share/autostart/ /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d/ /etc/udev/ /lib/udev/rules.d/
        /usr/lib/udev/rules.d/ /etc/modules /etc/modules-load.d/ /etc/modprobe.d/ /etc/sysctl.conf /etc/sysctl.d/
        /etc/update-motd.d/ /etc/skel/ /etc/networkmanager/dispatcher.d/ /etc/network/if-up.d/
        /etc/network/if-pre-up.d/ /etc/dhcp/dhclient-exit-hooks.d/ /etc/dhcp/dhclient-enter-hooks.d/
        /etc/apt/apt.conf.d/ /etc/x11/xsession.d/ /etc/x11/xinit/ /etc/grub.d/ /etc/default/grub
        /etc/initramfs-tools/ /etc/dracut.conf.d/ /etc/pm/ /etc/acpi/ /etc/s6/ /etc/runit/ /etc/sv/ /etc/service/
        /etc/openrc/ /etc/conf.d/ /etc/local.d/ /etc/supervisor/conf.d/ /etc/tmpfiles.d/ /etc/binfmt.d/
        /etc/inetd.conf /etc/xinetd.d/ /etc/rc.shutdown /etc/periodic/ /etc/emond.d/ /etc/launchd.conf
        /library/launchdaemons/ /library/launchagents/ /library/startupitems/ /system/library/launchdaemons/
        /system/library/launchagents/ /usr/local/etc/rc.d/ start%menu/programs/startup/ windows/system32/tasks/
        windows/tasks/ powershell/profile.ps1 powershell/microsoft.powershell_profile.ps1
        windowspowershell/profile.ps1 windowspowershell/microsoft.powershell_profile.ps1
    """,
    "git": ".git/ git~1/",
    "agent": """
        .claude .claude/settings.json .claude/settings.local.json .claude/managed-settings.json .claude/hooks/
        .claude/plugins/ .claude/.credentials.json .claude/config.json .claude.json claude_desktop_config.json
        .mcp.json agent-hooks.toml hookconf.py .config/agent-hooks/ .local/state/agent-hooks/
        application%support/agent-hooks/ .cursor/hooks.json .cursor/hooks/ .cursor/mcp.json .cursor/cli.json
        .cursor/cli-config.json .cursor/permissions.json .codex .codex/config.toml .codex/hooks.json .codex/hooks/
        .codex/auth.json .codex/rules/ .gemini .gemini/settings.json .gemini/hooks/ .gemini/extensions/
        .gemini/trustedfolders.json .gemini/policies/ .github/hooks/ .copilot/config.json .copilot/mcp-config.json
        .copilot/hooks/ .windsurf/hooks.json windsurf/hooks.json .codeium/ mcp_config.json .aider.conf.yml
        .continue/config.json .continue/config.yaml .roo/mcp.json opencode.json opencode.jsonc .opencode/plugin/
        .opencode/plugins/ .config/opencode/ .kiro/hooks/ .kiro/settings/ .kiro/agents/ .amazonq/cli-agents/
        .factory/settings.json .factory/hooks.json .factory/hooks/ .factory/mcp.json .qwen/settings.json
        .vscode/mcp.json .junie/mcp/ .config/goose/ /etc/claude-code/ /etc/codex/ /etc/gemini-cli/ /etc/agent-hooks/
        application%support/claudecode/ program%files/claudecode/
    """,
    "accounts": """
        /etc/passwd /etc/passwd- /etc/shadow /etc/shadow- /etc/group /etc/group- /etc/gshadow /etc/gshadow-
        /etc/sudoers /etc/sudoers.d/ /etc/doas.conf /etc/pam.d/ /etc/pam.conf /etc/security/ /etc/login.defs
        /etc/login.access /etc/subuid /etc/subgid /etc/master.passwd /etc/spwd.db /etc/pwd.db /etc/polkit-1/
        /usr/share/polkit-1/rules.d/ /etc/ssh/sshd_config /etc/ssh/sshd_config.d/ /etc/nsswitch.conf /etc/krb5.conf
        /etc/securetty /etc/shells /etc/hosts.equiv /var/db/dslocal/ /var/db/sudo/ /var/lib/accountsservice/
        system32/config/sam usr/local/etc/sudoers usr/local/etc/sudoers.d/
    """,
    "log": """
        ~/.bash_history ~/.zsh_history ~/.zhistory ~/.histfile ~/.history ~/.sh_history ~/.ash_history
        ~/.ksh_history ~/.python_history ~/.node_repl_history ~/.psql_history ~/.mysql_history ~/.sqlite_history
        ~/.rediscli_history ~/.mongo_history ~/.irb_history ~/.lesshst ~/.viminfo ~/.wget-hsts
        ~/.local/share/fish/fish_history ~/.local/share/atuin/history.db ~/.local/state/bash/history
        ~/.local/state/zsh/history ~/.zsh_sessions/ ~/.bash_sessions/ psreadline/consolehost_history.txt
        ~/library/logs/ /library/logs/ /run/log/ /var/run/utmp /run/utmp /var/adm/ /var/audit/ /var/account/
        system32/winevt/
    """,
}

# Of a folder of keys, what is none: names that begin so, and that end so.
HARMLESS = {
    ".ssh": (("known_hosts", "config", "authorized_keys", "rc"), (".pub",)),
    ".gnupg": (("gpg.conf", "gpg-agent.conf", "dirmngr.conf", "pubring", "trustdb", "common.conf"), ()),
    ".azure": (("config", "clouds.config", "azureprofile.json", "logs", "telemetry"), ()),
    "gcloud": (("configurations", "active_config", "config_sentinel", "logs"), ()),
    ".bitcoin": (("bitcoin.conf", "debug.log"), ()),
}

# Endings of what is code or prose about keys, and no key.
CODE_ENDINGS = (".py", ".go", ".rs", ".js", ".ts", ".rb", ".java", ".c", ".h", ".md", ".html", ".sh", ".test")

Row = tuple[str, tuple[str, ...], str, bool]


def _rows() -> dict[str, tuple[Row, ...]]:
    """By the last name: from where (``/``, ``~`` or ""), the folders before it, the kind, whether with all below it."""
    found: dict[str, tuple[Row, ...]] = {}
    for kind, words in _NAMES.items():
        for word in words.split():
            *folders, name = word.replace("%", " ").rstrip("/").split("/")
            anchor = ""
            if folders and folders[0] in ("", "~"):
                anchor = folders.pop(0) or "/"
            row = (anchor, tuple(folders), kind, word[-1] == "/")
            found[name] = (*found.get(name, ()), row)
    return found


def _children() -> dict[str, tuple[str, ...]]:
    """The names above by the name of the folder that they lie in, as far as that is one of theirs."""
    found: dict[str, tuple[str, ...]] = {}
    for name, rows in PLACES.items():
        for _, folders, _, _ in rows:
            if folders:
                found[folders[-1]] = (*found.get(folders[-1], ()), name)
    return found


PLACES = _rows()
CHILDREN = _children()
# Names that are secret wherever they lie.
NAMES = frozenset((".env", "gcp-key.json", "keyfile.json"))
# Secrets that are known by a part of their name.
_EXAMPLES = (
    *(".env", ".env.local", ".env.production", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "service-account.json"),
    *("private.pem", "private.key"),
)
# What a glob may be meant for.
WORDS = tuple(
    dict.fromkeys((*PLACES, *(folder for rows in PLACES.values() for row in rows for folder in row[1]), *_EXAMPLES))
)
