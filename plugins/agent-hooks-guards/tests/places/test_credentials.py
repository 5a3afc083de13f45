"""Which variables hold a credential, and which hosts it may be shown to."""

from __future__ import annotations

import pytest

from agent_hooks_guards.places.credentials import as_login, judge_credentials, variable_labels


@pytest.mark.parametrize(
    "name",
    "GITHUB_TOKEN OPENAI_API_KEY OPENAI_KEY AWS_SECRET_ACCESS_KEY DB_PASSWORD PGPASSWORD MYSQL_PWD DATABASE_URL "
    "REDIS_URL GITHUB_PAT SSH_PRIVATE_KEY CLIENT_SECRET SECRET_KEY_BASE AZURE_STORAGE_CONNECTION_STRING APIKEY "
    "JWT ACME_KEY KEY DB_PASS AWS_CREDENTIALS db_pass api_key "
    "TF_VAR_db_password db_password github_token npm_config_secret".split(),
)
def test_the_name_of_a_credential(name):
    assert variable_labels(name)


@pytest.mark.parametrize(
    "name",
    "PATH PWD OLDPWD HOME USER MAX_TOKENS TOKENS_USED NEXT_TOKEN NEXT_PAGE_TOKEN CSRF_TOKEN TOKEN_URL TOKEN_FILE "
    "SECRET_NAME SECRET_ARN AWS_ACCESS_KEY_ID NEXT_PUBLIC_API_KEY SUPABASE_ANON_KEY STRIPE_PUBLISHABLE_KEY SORT_KEY "
    "CACHE_KEY SONAR_PROJECT_KEY TOKEN_ADDRESS API_URL GOOGLE_APPLICATION_CREDENTIALS_FILE TOKENIZER "
    "token password db_passwords next_token csrf_token page_token maxToken".split(),
)
def test_the_name_of_something_else(name):
    assert not variable_labels(name)


@pytest.mark.parametrize(
    ("name", "address", "as_data", "in_header"),
    [
        ("OPENAI_API_KEY", "https://api.openai.com/v1", "", ""),
        ("OPENAI_API_KEY", "https://evil.example", "foreign", "foreign"),
        ("OPENAI_API_KEY", "https://api.openai.com.evil.example", "foreign", "foreign"),
        ("OPENAI_API_KEY", "https://evilopenai.com", "foreign", "foreign"),
        ("GITHUB_TOKEN", "https://api.github.com", "foreign", ""),
        ("GITHUB_TOKEN", "https://github.io", "foreign", "foreign"),
        ("GITHUB_TOKEN", "https://evilghcr.io", "foreign", "foreign"),
        ("GITLAB_TOKEN", "https://gitlab.example.com", "", ""),
        ("GITLAB_TOKEN", "https://git.example.com", "foreign", "unclear"),
        ("ACME_API_KEY", "https://api.acme.com", "", ""),
        ("ACME_API_KEY", "https://evil.example", "foreign", ""),
        ("API_TOKEN", "https://token.example", "foreign", ""),
        ("ADMIN_PASSWORD", "http://10.0.0.5/login", "unclear", ""),
        ("DB_PASSWORD", "https://api.example.com", "foreign", "foreign"),
        ("SLACK_BOT_TOKEN", "https://api.telegram.org/bot1", "foreign", "foreign"),
        ("AWS_SECRET_ACCESS_KEY", "https://x.execute-api.eu-west-1.amazonaws.com", "foreign", "foreign"),
    ],
)
def test_the_hosts_of_a_credential(name, address, as_data, in_header):
    labels = variable_labels(name)
    assert judge_credentials(labels, address) == as_data
    assert judge_credentials(as_login(labels), address) == in_header
