"""What tests of formats share."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("formats.reading")
