"""The forms of the steps in which a contest is made."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tokumei.contest.custom.template import template
from tokumei.contest.edition import EDITIONS
from tokumei.contest.setting import parse_setting, source_of
from tokumei.core.errors import TokumeiError
from tokumei.core.registry import Option, part_options, read_option
from tokumei.core.text import Json, JsonView
from tokumei.data.files.reading import Reading
from tokumei.platform.contests.forms import TAKEN, BoardForm, LimitsForm, MomentField, ScheduleForm, TextsForm
from tokumei.platform.contests.models import Board, Contest, Counts
from tokumei.platform.messages import describe_error, translated

WHAT, DATA, RULES, DETAILS, PEOPLE, FINISH = STEPS = ("what", "data", "rules", "details", "people", "finish")
OWN_TABLE, OWN_HISTORY = "own-table", "own-history"
OWN = {OWN_TABLE: "table", OWN_HISTORY: "history"}
LONGEST_TOML = 100_000
OPTION = "option-"
MADE, FILE = "made", "file"
ENCODINGS = (
    ("", _("Recognized by itself")),
    ("utf-8", "UTF-8"),
    ("cp932", "Shift-JIS (cp932)"),
    ("euc_jp", "EUC-JP"),
    ("utf-16", "UTF-16"),
    ("cp1252", "Windows-1252"),
)

Answers = Mapping[str, object]


class WhatForm(forms.Form):
    """Asks what is played."""

    kind = forms.ChoiceField(label=_("What is played"), widget=forms.RadioSelect)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.editions = {name: EDITIONS.make(name).terms for name in EDITIONS}
        field = self.fields["kind"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - narrows the type.
        field.choices = [(name, name) for name in (*self.editions, *OWN)]


class DataForm(forms.Form):
    """Asks for the data, and how they are read where that cannot be told."""

    origin = forms.ChoiceField(
        label=_("Where the data come from"),
        widget=forms.RadioSelect,
        initial=MADE,
        choices=(
            (MADE, _("Made up, as much as the rules ask for")),
            (FILE, _("A file of mine, which is checked first")),
        ),
    )
    encoding = forms.ChoiceField(label=_("Encoding"), choices=ENCODINGS, required=False)
    sheet = forms.ChoiceField(label=_("Sheet"), required=False)
    reading = forms.CharField(
        label=_("How it is read"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_(
            "Where the file is not a plain table: one on a line, such as columns=customer=household_id,date=day, "
            "date_format=%m/%d/%Y, delimiter=; or skip_rows=5."
        ),
    )

    def __init__(self, *args: Any, sheets: list[str], has_file: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.has_file = has_file
        field = self.fields["sheet"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - narrows the type.
        field.choices = [("", _("The first one")), *((one, one) for one in sheets)]

    def clean(self) -> dict[str, object]:
        """Read how the file is read, by the names that the command line has."""
        given = super().clean() or {}
        if given.get("origin") == FILE and not self.has_file:
            self.add_error("origin", _("Choose the file."))
        lines = [given.get("reading", "")]
        lines += [f"{name}={given[name]}" for name in ("encoding", "sheet") if given.get(name)]
        try:
            given["how"] = Reading.of_lines("\n".join(lines))
        except TokumeiError as error:
            self.add_error("reading", describe_error(error))
        return given


class OptionsForm(forms.Form):
    """Asks for the options of an edition, each by its type."""

    def __init__(self, *args: Any, edition: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.edition = edition
        self.known: list[Option] = [one for one in part_options(EDITIONS.get(edition)) if not one.is_file]
        for one in self.known:
            self.fields[OPTION + one.name] = forms.CharField(
                label=one.name,
                required=False,
                max_length=500,
                help_text=translated(one.help),
                widget=forms.TextInput(attrs={"placeholder": _written(one.default), "spellcheck": "false"}),
            )

    def clean(self) -> dict[str, object]:
        """Read the options by their types, as the command line does, and see that the edition takes them."""
        given = super().clean() or {}
        found: dict[str, object] = {}
        for one in self.known:
            text = str(given.get(OPTION + one.name) or "").strip()
            try:
                if text:
                    read = read_option(one, text)
                    # Lists stay lists through JSON; the edition makes them tuples again.
                    found[one.name] = list(read) if isinstance(read, tuple) else read
            except TokumeiError as error:
                self.add_error(OPTION + one.name, describe_error(error))
        if not self.errors:
            try:
                EDITIONS.make(self.edition, **{name: _tuple(value) for name, value in found.items()})
            except TokumeiError as error:
                self.add_error(None, describe_error(error))
        return {"edition": self.edition, "options": found, "own_toml": ""}


class OwnRulesForm(forms.Form):
    """Asks for the text of a contest of one's own."""

    own_toml = forms.CharField(
        label=_("The rules as a text"),
        max_length=LONGEST_TOML,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "code"}),
        help_text=_("It begins as one that fits your data, and explains itself. Lines that start with # are remarks."),
    )

    def __init__(self, *args: Any, has_file: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.has_file = has_file

    def clean_own_toml(self) -> str:
        """Read the rules, so that what is wrong with them is told here."""
        text: str = self.cleaned_data["own_toml"]
        try:
            edition = parse_setting(text)
            terms = edition.terms
        except TokumeiError as error:
            raise ValidationError(describe_error(error)) from None
        if source_of(edition) is not None and not self.has_file:
            raise ValidationError(_("The text names a data file: send it in the step before, or take out source."))
        if not terms.title.strip():
            raise ValidationError(_("The contest needs a title."))
        return text

    def clean(self) -> dict[str, object]:
        """Return the settings in the form that makes a contest."""
        given = super().clean() or {}
        return {"edition": "", "options": {}, "own_toml": given.get("own_toml", "")}


class DetailsForm(TextsForm, ScheduleForm, LimitsForm, BoardForm):
    """Asks for texts, dates, limits and what teams see."""

    slug = forms.SlugField(
        label=_("Short name"), max_length=60, help_text=_("Letters a–z, digits and hyphens; part of the address.")
    )
    is_public = forms.BooleanField(
        label=_("Public"), required=False, initial=True, help_text=_("Otherwise teams join by your invitation only.")
    )
    counts = forms.ChoiceField(
        label=_("Which release of a team counts"),
        choices=Counts.choices,
        required=False,
        help_text=_("The best is the one that would be ranked first among the team's own, without attacks."),
    )
    groups = (
        (_("Contest"), ("title", "slug", "is_public")),
        (_("Texts"), ("description", "description_ja")),
        (_("Schedule"), ("opens_at", "attacks_open_at", "closes_at")),
        (_("Limits"), ("counts", "releases_a_day", "releases_in_all", "guesses_a_day", "guesses_on_one")),
        (_("Scoreboard"), ("board", "digits_shown", "shows_guess_scores")),
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        for name, held in (("releases_in_all", _("By the edition, where nothing is said.")), ("guesses_on_one", None)):
            self.fields[name].required = False
            self.fields[name].help_text = held or self.fields[name].help_text

    def grouped(self) -> list[tuple[Any, list[forms.BoundField]]]:
        """Return the fields in titled groups."""
        return [(title, [self[name] for name in names]) for title, names in self.groups]

    def clean_counts(self) -> str:
        """Take the usual rule where none is said."""
        return self.cleaned_data["counts"] or str(Counts.LATEST)

    def clean_slug(self) -> str:
        """Refuse a name that is taken."""
        slug: str = self.cleaned_data["slug"].lower()
        if slug in TAKEN or Contest.objects.filter(slug=slug).exists():
            raise ValidationError(_("This name cannot be used."))
        return slug


def usual_details() -> dict[str, object]:
    """Suggest two weeks to anonymize and one to attack."""
    start = timezone.localtime().replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return {
        "opens_at": start,
        "attacks_open_at": start + timedelta(days=14),
        "closes_at": start + timedelta(days=21),
        "counts": Counts.LATEST,
        "releases_a_day": 5,
        "guesses_a_day": 20,
        "board": Board.LIVE,
        "digits_shown": 3,
        "is_public": True,
    }


def make_form(step: str, answers: Answers, *, look: JsonView, typed: Any = None) -> forms.Form | None:
    """Build the form of a step from typed values, saved answers or defaults; some steps have none."""
    kind, has_file = str(answers.get("kind") or ""), bool(answers.get("file"))
    if step == WHAT:
        return WhatForm(**_given(answers, typed, ("kind",)))
    if step == DATA:
        sheets = list(look.get("sheets", ()))
        chosen = (typed or {}).get("sheet") or answers.get("sheet")
        known = sheets if not chosen or chosen in sheets else [*sheets, str(chosen)]
        return DataForm(sheets=known, has_file=has_file, **_given(answers, typed, ("origin",), {"origin": MADE}))
    if step == RULES and kind in OWN:
        begins = {"own_toml": look.get("own_toml") or template(OWN[kind])}
        return OwnRulesForm(has_file=has_file, **_given(answers, typed, ("own_toml",), begins, always=True))
    if step == RULES and kind in EDITIONS:
        return OptionsForm(edition=kind, **_given(answers, typed, (), always=True))
    if step == DETAILS:
        return DetailsForm(**_given(answers, typed, ("title",), usual_details()))
    return None


def _given(
    answers: Answers,
    typed: object,
    telling: tuple[str, ...],
    begins: Mapping[str, object] | None = None,
    *,
    always: bool = False,
) -> dict[str, object]:
    """Return the initial values of a form.

    telling: fields that are among the answers once the step was.
    always: whether how it begins counts as an answer, since nothing has to be typed.
    """
    if typed is not None:
        return {"data": typed}
    if all(name in answers for name in telling) and (telling or always):
        return {"data": restored(answers)}
    return {"data": dict(begins or {}) | restored(answers)} if always else {"initial": dict(begins or {})}


def kept(form: forms.Form) -> Json:
    """Return what was typed into a form, valid or not; moments carry their zone."""
    form.is_valid()
    typed: dict[str, object] = {}
    for name, field in form.fields.items():
        if isinstance(field, forms.FileField):
            continue
        value = field.widget.value_from_datadict(form.data, form.files, form.add_prefix(name))
        clean = form.cleaned_data.get(name)
        if isinstance(field, MomentField) and isinstance(clean, datetime):
            value = clean.astimezone(UTC).isoformat()
        typed[name] = value.replace("\0", "") if isinstance(value, str) else value
    return typed


def restored(answers: Answers) -> dict[str, object]:
    """Return saved answers as a form reads them: moments in the reader's zone."""
    found = dict(answers)
    for name in ("opens_at", "attacks_open_at", "closes_at"):
        with suppress(ValueError):
            moment = datetime.fromisoformat(str(found.get(name)))
            if moment.tzinfo is not None:
                found[name] = timezone.localtime(moment).strftime("%Y-%m-%dT%H:%M")
    return found


def _written(value: object) -> str:
    if value is None:
        return ""
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
