"""The log of the organizers in the language of whoever reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.platform.contests.models import Board, OrganizerAction, State

ACTIONS: Mapping[str, str | Promise] = {
    "create": gettext_lazy("made the contest"),
    "schedule": gettext_lazy("changed the schedule"),
    "phase_now": gettext_lazy("let the next phase begin"),
    "board": gettext_lazy("changed the scoreboard"),
    "announce": gettext_lazy("announced"),
    "retry": gettext_lazy("tried a change of phase again"),
    "take_out": gettext_lazy("took a team out"),
    "invite": gettext_lazy("made an invitation"),
    "revoke": gettext_lazy("revoked an invitation"),
    "texts": gettext_lazy("changed the texts"),
    "limits": gettext_lazy("changed the limits"),
    "hold": gettext_lazy("held results back, or let them go"),
    "rejudge": gettext_lazy("had submissions judged again"),
    "disqualify": gettext_lazy("disqualified a team"),
    "readmit": gettext_lazy("let a disqualified team count again"),
    "add_organizer": gettext_lazy("added an organizer"),
    "remove_organizer": gettext_lazy("removed an organizer"),
    "message": gettext_lazy("wrote to teams"),
    "answer": gettext_lazy("answered a question"),
    "choose": gettext_lazy("chose the release that counts"),
}
DETAILS: Mapping[str, str | Promise] = {
    "opens_at": gettext_lazy("Opens"),
    "attacks_open_at": gettext_lazy("Attacks begin"),
    "closes_at": gettext_lazy("Closes"),
    "board": gettext_lazy("Scoreboard"),
    "digits_shown": gettext_lazy("Decimals shown"),
    "shows_guess_scores": gettext_lazy("Teams see how right their guesses were"),
    "title": gettext_lazy("Title"),
    "description": gettext_lazy("Description"),
    "description_ja": gettext_lazy("Description in Japanese"),
    "releases_a_day": gettext_lazy("Releases a day"),
    "releases_in_all": gettext_lazy("Releases in all"),
    "guesses_a_day": gettext_lazy("Guesses a day"),
    "guesses_on_one": gettext_lazy("Guesses at one release"),
    "is_held": gettext_lazy("Results are held back"),
    "team": gettext_lazy("Team"),
    "teams": gettext_lazy("Teams"),
    "reason": gettext_lazy("Reason"),
    "note": gettext_lazy("For whom"),
    "user": gettext_lazy("User name"),
    "n": gettext_lazy("How many"),
    "before": gettext_lazy("Results before"),
    "kinds": gettext_lazy("What"),
    "invitation": gettext_lazy("Invitation"),
    "question": gettext_lazy("Question"),
    "text": gettext_lazy("Text"),
    "submission": gettext_lazy("Submission"),
}
LONGEST_SHOWN = 300
WORDS: Mapping[str, str | Promise] = {str(value): label for value, label in (*Board.choices, *State.choices)}


@dataclass(frozen=True)
class ActionLine:
    """One line of the log: who did what, and its details as pairs of a name and words."""

    action: OrganizerAction
    says: str
    details: list[tuple[str, str]]


def in_words(action: OrganizerAction) -> ActionLine:
    """Describe an action in words."""
    details = [
        (str(DETAILS.get(name, name)), _changed(value) if _is_change(value) else _value(value))
        for name, value in action.details.items()
        if value not in ("", None)
    ]
    return ActionLine(action, str(ACTIONS.get(action.what, action.what)), details)


def _is_change(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and not isinstance(value[0], (list, dict))


def _changed(value: list[Any]) -> str:
    return f"{_value(value[0])} → {_value(value[1])}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(part)}" for name, part in value.items())[:LONGEST_SHOWN]
    if isinstance(value, list):
        return ", ".join(_value(part) for part in value)
    if isinstance(value, str):
        return _moment(value) or str(WORDS.get(value, "")) or value[:LONGEST_SHOWN] or "–"
    return str(value)


def _moment(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ""
    return date_format(timezone.localtime(moment), "DATETIME_FORMAT") if moment.tzinfo is not None else ""
