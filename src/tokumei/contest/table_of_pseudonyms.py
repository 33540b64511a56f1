"""Attacks whose guess goes into a table of pseudonyms: one cell for each customer and month."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

Attack = TypeVar("Attack")
# The option of attacks that may else name one customer for several pseudonyms.
EACH_ONCE = "each_once"


def for_a_table(attack: Attack) -> Attack:
    """Return the attack that names each customer once a month, since a table has one cell for that."""
    part: Any = attack
    has_option = is_dataclass(part) and any(field.name == EACH_ONCE for field in fields(part))
    found: Attack = replace(attack, **{EACH_ONCE: True}) if has_option else attack  # type: ignore[type-var]
    return found
