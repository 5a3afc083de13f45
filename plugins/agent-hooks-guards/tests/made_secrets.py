"""Secrets of every kind, made up when the tests start; none was ever issued."""

from __future__ import annotations

import random
import string

_chance = random.Random(7)


def made(count, letters=string.ascii_letters + string.digits):
    return "".join(_chance.choice(letters) for _ in range(count))


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
# Put together here, so that nobody who scans this file takes them for real.
SECRETS = [
    ("aws-access-key", "AKIA" + made(16, UPPER)),
    ("aws-access-key", "ASIA" + made(16, UPPER)),
    ("github-token", "ghp_" + made(36)),
    ("github-token", "ghs_" + made(36)),
    ("github-token", "github_pat_" + made(22) + "_" + made(59)),
    ("gitlab-token", "glpat-" + made(20)),
    ("anthropic-key", "sk-ant-" + "api03-" + made(93) + "AA"),
    ("openai-key", "sk-proj-" + made(74) + "T3BlbkFJ" + made(74)),
    ("openai-key", "sk-" + made(48)),
    ("openai-key", "sk-" + made(20) + "T3BlbkFJ" + made(20)),
    ("openrouter-key", "sk-or-v1-" + made(64, HEX)),
    ("google-api-key", "AIza" + "Sy" + made(33)),
    ("google-oauth-secret", "GOCSPX-" + made(28)),
    ("huggingface-token", "hf_" + made(34, string.ascii_letters)),
    ("slack-token", "xoxb-" + "123456789012-123456789012-" + made(24)),
    ("slack-webhook", "hooks.slack.com/services/T" + made(8, UPPER) + "/B" + made(8, UPPER) + "/" + made(24)),
    ("stripe-key", "sk_live_" + made(24)),
    ("telegram-token", "123456789:AA" + made(33)),
    ("sendgrid-key", "SG." + made(22) + "." + made(43)),
    ("npm-token", "npm_" + made(36)),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + made(120)),
    ("digitalocean-token", "dop_v1_" + made(64, HEX)),
    ("vault-token", "hvs." + made(90)),
    ("terraform-token", made(14) + ".atlasv1." + made(67)),
    ("shopify-token", "shpat_" + made(32, HEX)),
    ("twilio-key", "SK" + made(32, HEX)),
    ("azure-client-secret", "aB3" + "8Q~" + made(34)),
    ("age-key", "AGE-SECRET-KEY-1" + made(58, UPPER)),
    ("jwt", "eyJ" + made(30) + ".eyJ" + made(60) + "." + made(43)),
]
