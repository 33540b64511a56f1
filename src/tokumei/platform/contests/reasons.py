"""Why an evaluation ended without a score, in sentences; they are stored in English and translated when shown."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

REFUSED = _("It breaks the rules of the contest: see the faults. It counts as an attempt.")
TIMED_OUT = _("The evaluation took longer than is allowed, twice. It counts as an attempt.")
TOO_LARGE = _("The evaluation needed more memory than is allowed, twice. It counts as an attempt.")
DIED = _("The evaluation broke off three times. It counts as no attempt.")
FULL_DISK = _("The server has no space left. It counts as no attempt; please tell the organizer.")

# For the organizer of a contest.
NOT_PREPARED = _("The contest could not be prepared: the work broke off three times.")
NOT_PUBLISHED = _("The releases could not be published: the work broke off three times.")
NOT_CLOSED = _("The contest could not be closed: the work broke off three times.")
NOT_AMENDED = _("The ranking in the contest's folder could not be amended: the work broke off three times.")
NOT_PACKED = _("The contest could not be packed for downloading: the work broke off three times.")
BAD_SOURCE = _("The contest could not be prepared: its data file or setting cannot be used.")
OTHER_DIGITS = _("Scores came out differently when they were computed again. Nothing was overwritten; see the log.")
NOTHING_RELEASED = _(
    "No team had a release that passed the check when attacks were to begin. Give the teams more time."
)
ENDED_EMPTY = _("The contest ended without a release that passed the check.")
