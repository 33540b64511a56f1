"""The log of a contest's organizers: who did what to it, and when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tokumei.platform.accounts.models import User
from tokumei.platform.contests.models import Contest, OrganizerAction


def record(contest: Contest, by: User | None, what: str, **details: Any) -> OrganizerAction:
    """Note what somebody did; called in the transaction that does it."""
    return OrganizerAction.objects.create(contest=contest, by=by, what=what, details=_plain(details))


def record_changes(
    contest: Contest, by: User | None, what: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> None:
    """Note what was changed, as it was and as it is; nothing where all stayed as it was."""
    changed = {name: [before[name], after[name]] for name in after if before[name] != after[name]}
    if changed:
        record(contest, by, what, **changed)


def _plain(value: Any) -> Any:
    """Write moments as text, so that the row holds plain values alone."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value
