"""The fields of an ``http`` entry, validated by pydantic: apart from the handler, which runs without it."""

from __future__ import annotations

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, HttpUrl


class HttpConfig(BaseModel):
    """The fields of an http hook.

    ``timeout``: seconds for the whole exchange. ``allowed_env_vars``: the environment variables that ``headers`` may
    use, as ``$NAME`` or ``${NAME}``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: HttpUrl
    headers: dict[str, str] = Field(default_factory=dict)
    timeout: float = Field(default=30.0, gt=0, allow_inf_nan=False)
    allowed_env_vars: list[str] = Field(
        default_factory=list, validation_alias=AliasChoices("allowed_env_vars", "allowedEnvVars")
    )
    status_message: str = Field(default="", validation_alias=AliasChoices("status_message", "statusMessage"))
