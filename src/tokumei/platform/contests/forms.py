"""The forms of this app: what an organizer fills in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.functional import lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from tokumei.platform.contests.models import Board, Contest
from tokumei.platform.typed_text import DISPLAY_NAME_LENGTH, check_line, check_text, clean_display_name

# They are addresses of pages.
TAKEN = {"new", "join", "submissions", "checks", "drafts"}


def _zone() -> str:
    return gettext("In the time of %(zone)s.") % {"zone": timezone.get_current_timezone_name()}


class MomentField(forms.DateTimeField):
    """A day and time in the server's time zone."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"], **kwargs)


class ScheduleForm(forms.Form):
    """Asks for the phases."""

    opens_at = MomentField(label=_("Opens"), help_text=lazy(_zone, str)())
    attacks_open_at = MomentField(label=_("Attacks begin"), help_text=_("Then releases are published, shuffled."))
    closes_at = MomentField(label=_("Closes"))

    def clean(self) -> dict[str, object]:
        """Refuse phases in the wrong order."""
        given = self.cleaned_data
        moments = [given.get(name) for name in ("opens_at", "attacks_open_at", "closes_at")]
        if None not in moments and not moments[0] < moments[1] < moments[2]:  # type: ignore[operator]
            raise ValidationError(_("A contest opens, then attacks begin, then it closes: the times are out of order."))
        return given


class BoardForm(forms.Form):
    """Asks what teams see of scores while the contest runs."""

    board = forms.ChoiceField(label=_("Scoreboard"), choices=Board.choices)
    digits_shown = forms.IntegerField(
        label=_("Decimals shown"),
        min_value=0,
        max_value=6,
        help_text=_("Every exact score tells something of the truth: fewer decimals tell less."),
    )
    shows_guess_scores = forms.BooleanField(
        label=_("Teams see how right their guesses were"),
        required=False,
        help_text=_("As one of four bands; otherwise at the end. Every answer tells something of the truth."),
    )


def _text_field(label: Any, longest: int, *, rows: int = 5, **facts: Any) -> forms.CharField:
    """Create a field for a text of several lines."""
    widget = forms.Textarea(attrs={"rows": rows})
    return forms.CharField(label=label, max_length=longest, widget=widget, validators=[check_text], **facts)


MARKDOWN = _("Markdown: **bold**, *emphasis*, lists with -, links as [words](https://…). HTML is shown as it is typed.")


class AnnouncementForm(forms.Form):
    """Asks for what everybody is to be told, in one language or in both."""

    field_order = ("title", "title_ja", "text", "text_ja")
    title = forms.CharField(label=_("Title"), max_length=120, validators=[check_line])
    text = _text_field(_("Text"), 5000, help_text=MARKDOWN)
    title_ja = forms.CharField(label=_("Title in Japanese"), max_length=120, required=False, validators=[check_line])
    text_ja = _text_field(
        _("Text in Japanese"), 5000, required=False, help_text=_("Shown on Japanese pages in place of the other.")
    )


class TextsForm(forms.Form):
    """Asks what a contest is called, and what is told of it beside its rules."""

    title = forms.CharField(label=_("Title"), max_length=DISPLAY_NAME_LENGTH)
    description = _text_field(_("Description"), 20_000, rows=8, required=False, help_text=MARKDOWN)
    description_ja = _text_field(
        _("Description in Japanese"),
        20_000,
        rows=8,
        required=False,
        help_text=_("Shown on Japanese pages in place of the other."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # It stands on one page with the announcement, which has a title too.
        super().__init__(*args, **{"auto_id": "texts_%s", **kwargs})

    def clean_title(self) -> str:
        """Tidy the title; refuse what cannot be seen."""
        return clean_display_name(self.cleaned_data["title"])


class LimitsForm(forms.Form):
    """Asks how often teams may try."""

    releases_a_day = forms.IntegerField(label=_("Releases a day"), min_value=1, max_value=1000)
    releases_in_all = forms.IntegerField(label=_("Releases in all"), min_value=1, max_value=10000)
    guesses_a_day = forms.IntegerField(label=_("Guesses a day"), min_value=1, max_value=1000)
    guesses_on_one = forms.IntegerField(
        label=_("Guesses at one release"), min_value=1, max_value=1000, help_text=_("For each level.")
    )


class DisqualifyForm(forms.Form):
    """Asks why a team is disqualified."""

    reason = forms.CharField(label=_("Reason, which everybody reads"), max_length=500, validators=[check_line])


class MessageForm(forms.Form):
    """Asks for a message to teams."""

    teams = forms.MultipleChoiceField(label=_("To"), widget=forms.CheckboxSelectMultiple)
    text = _text_field(_("Message"), 5000, help_text=MARKDOWN)

    def __init__(self, *args: Any, contest: Contest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        taking_part = contest.participations.filter(withdrawn_at=None).select_related("team")
        self.named = {one.team.slug: one.team for one in taking_part}
        field = self.fields["teams"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 - narrows the type.
        field.choices = [(slug, team.display_name) for slug, team in self.named.items()]


class QuestionForm(forms.Form):
    """Asks for a question to the organizers."""

    text = _text_field(_("Your question"), 2000)


class AnswerForm(forms.Form):
    """Asks for the answer to a question."""

    text = _text_field(_("Answer"), 5000, help_text=MARKDOWN)
    is_public = forms.BooleanField(
        label=_("Everybody reads question and answer"), required=False, help_text=_("Who asked is not named.")
    )


class CoOrganizerForm(forms.Form):
    """Asks who else runs a contest."""

    username = forms.CharField(
        label=_("User name"), max_length=40, help_text=_("Of somebody who plays in no team of it.")
    )


class NoteForm(forms.Form):
    """Asks what a team wants to remember of a submission."""

    note = forms.CharField(
        label=_("Note"),
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        validators=[check_text],
        help_text=_("Your team alone reads it."),
    )


class InvitationForm(forms.Form):
    """Asks whom a link is for."""

    note = forms.CharField(label=_("For whom"), max_length=120, required=False, validators=[check_line])
