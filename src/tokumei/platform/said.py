"""Sentences of the library in the database: kept with their forms, since who reads them later may read Japanese."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import models

from tokumei.core.text import Text, from_json, to_json

if TYPE_CHECKING:
    TextField = models.TextField[str, str]
else:
    TextField = models.TextField

BEGIN = '{"said": '


class SaidField(TextField):
    """A sentence; one of the library comes back as a `Text`."""

    def get_prep_value(self, value: Any) -> Any:
        """Write the form and what stands in it, where there is one."""
        written = json.dumps(to_json(value), ensure_ascii=False) if isinstance(value, Text) else value
        return super().get_prep_value(written)

    def from_db_value(self, value: str | None, *_: object) -> str | None:
        """Read a sentence back."""
        return value if value is None or not value.startswith(BEGIN) else from_json(json.loads(value))


class SaidDecoder(json.JSONDecoder):
    """Reads JSON in which sentences of the library may stand, as `to_json` gives them."""

    def __init__(self) -> None:
        super().__init__(object_hook=from_json)
