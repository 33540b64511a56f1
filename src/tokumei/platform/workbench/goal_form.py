"""The form of what is asked of a release of a table: a field for each of `ReleaseRequest`.

A field that nobody touched leaves the job file as it is, however it was written there by hand.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field
from itertools import zip_longest
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError
from tokumei.core.text import Json, JsonView
from tokumei.data.files.formats import ending_of
from tokumei.methods.registry import TABLE_ANONYMIZERS
from tokumei.methods.search.problem import check_asked
from tokumei.platform.messages import translated
from tokumei.platform.workbench.editing import QUASI, SENSITIVE, Found, set_k
from tokumei.platform.workbench.folder import plain_name
from tokumei.platform.workbench.words import MARKS, expected_in_words, word_of_request
from tokumei.tasks.goal import requirements_of, usual_suppression
from tokumei.tasks.job_file import IN_OUTPUT, MOST
from tokumei.tasks.request import DEFAULT_METHOD, FILES, OF_COLUMNS, Kind, ReleaseRequest, Requirements, request_fields

# Shown at once; all others are folded away.
FIRST = ("k", "suppress")
# The fields that the form does not ask for, and why.
ELSEWHERE = {
    "keep": "a role of a column, on the page of columns",
    "reproducible": "no method of this form rests on noise that nobody knows",
}
# From which end to which sliders go, unless the job file has more.
K_ENDS, PER_CENT_ENDS = (2, 100), (0, 50)
REMOVED = "-removed"


def offered() -> list[Field[object]]:
    """Return the fields of a request that the form asks for."""
    return [one for one in request_fields(ReleaseRequest) if one.name not in ELSEWHERE]


class LevelInput(forms.MultiWidget):
    """A number, and a choice for each mark that may follow it."""

    def __init__(self, column: str, then: Mapping[str, Sequence[str]], given: str) -> None:
        typed = {"inputmode": "decimal", "autocomplete": "off"}
        parts: dict[str, forms.Widget | type[forms.Widget]] = {"": forms.TextInput({**typed, "aria-label": column})}
        self.usual = [""]
        # The words that take a further number, the last of the parts.
        self.long = [one.partition(":")[0] for words in then.values() for one in words if ":" in one]
        for (mark, words), word in zip_longest(then.items(), given.split(":")[1 : len(then) + 1]):
            # A word that is written by hand and that nobody knows is shown, too.
            known = dict.fromkeys([*(one.partition(":")[0] for one in words), *filter(None, [word])])
            choices = [(one, word_of_request(one)) for one in known]
            parts[mark.lower()] = forms.Select({"aria-label": f"{column}: {MARKS[mark]}"}, choices)
            self.usual.append(choices[0][0])
            # Of "recursive:C" the number behind it.
            for rest in filter(None, (one.partition(":")[2] for one in words)):
                label = {"aria-label": f"{column}: {MARKS[rest]}", "placeholder": MARKS[rest]}
                parts[rest.lower()] = forms.TextInput({**typed, **label})
                self.usual.append("")
        super().__init__(parts)

    def decompress(self, value: str | None) -> list[str]:
        """Cut a text into its parts; what it does not say is the first word."""
        given = (value or "").split(":")
        return [*given, *self.usual[len(given) :]][: len(self.usual)]


class LevelField(forms.MultiValueField):
    """Reads a number and what follows it as a job file has it."""

    widget: LevelInput

    def __init__(self, column: str, then: Mapping[str, Sequence[str]], given: str) -> None:
        widget = LevelInput(column, then, given)
        parts = [forms.CharField(max_length=100, required=False) for _part in widget.widgets]
        super().__init__(parts, require_all_fields=False, required=False, widget=widget, label=column, initial=given)

    def compress(self, data_list: Sequence[str]) -> str:
        """Put the parts together; the words that count anyway are left out."""
        if not data_list or not data_list[0]:
            return ""
        given = list(data_list)
        while len(given) > 1 and given[-1] in ("", self.widget.usual[len(given) - 1]):
            given.pop()
        return ":".join(one or word for one, word in zip(given, self.widget.usual, strict=False))

    def clean(self, value: object) -> str:
        """Refuse what does not begin with a number."""
        text: str = super().clean(value)
        if text and as_number(text.partition(":")[0]) is None:
            raise ValidationError(_("Expected: %s") % _("a number"))
        _number, kind, rest = [*text.split(":"), "", ""][:3]
        if self.widget.long and (kind in self.widget.long) != bool(rest):
            raise ValidationError(_("c, a number above 0, goes with the choice recursive, and with no other."))
        return text


class ShareField(forms.FloatField):
    """Reads a share that is sent in per cent."""

    def clean(self, value: object) -> float | None:
        """Refuse what is no share."""
        try:
            found = super().clean(value)
        except ValidationError:
            found = math.nan
        if found is not None and not 0 <= found <= 100:
            raise ValidationError(_("Expected: %s") % _("per cent from 0 to 100"))
        return None if found is None else round(found / 100, 6)


class NamesField(forms.CharField):
    """Reads names of columns with commas between them; one with a comma stands in quotes."""

    def __init__(self, columns: Sequence[str], **options: Any) -> None:
        super().__init__(max_length=5_000, required=False, **options)
        self.columns = columns
        self.widget.attrs |= {"placeholder": ", ".join(columns[:3]), "spellcheck": "false"}

    def clean(self, value: object) -> list[str]:
        """Refuse names that are no quasi-identifiers."""
        text = re.sub(r"[、，\r\n]", ",", str(super().clean(value) or ""))
        names = [one.strip() for one in next(csv.reader([text], skipinitialspace=True), []) if one.strip()]
        if any(one not in self.columns for one in names):
            raise ValidationError(_("Expected: %s") % _("quasi-identifiers (%s)") % ", ".join(self.columns))
        return list(dict.fromkeys(names))


class GoalForm(forms.Form):
    """Asks what every class must hold and what the release is to keep."""

    def __init__(self, job: JsonView, sent: Any = None, uploads: Any = None, *, methods: Iterable[str] = ()) -> None:
        super().__init__(sent, uploads, auto_id="%s", label_suffix="")
        self.job, self.methods = job, methods
        # Where uploads were stored, by the name of the field; said by whoever stored them.
        self.places: dict[str, str] = {}
        # The fields of the page that a field of the request is asked by, each with its column where it has one.
        self.parts = {one.name: dict(self._add(one.name, one.metadata)) for one in offered()}

    def columns_with(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [name for name, one in self.job.get("roles", {}).items() if one == role]

    def _section(self, name: str, found: JsonView) -> Any:
        return found.get("output" if name in IN_OUTPUT else "requirements", {})

    def _add(self, name: str, about: JsonView) -> Iterator[tuple[str, str]]:
        """Add the fields of the page for one of the request."""
        kind, given = about["kind"], self._section(name, self.job).get(name)
        if kind in (Kind.LEVELS, Kind.WEIGHTS):
            columns = self.columns_with(SENSITIVE if kind == Kind.LEVELS else QUASI)
            values = {**dict.fromkeys(columns, ""), **(given or {})}
            rows = [(column, str(one)) for column, several in values.items() for one in as_list(several)]
            for number, (column, text) in enumerate(rows):
                self.fields[f"{name}-{number}"] = LevelField(column, about["then"], text)
                yield f"{name}-{number}", column
            return
        self.fields[name] = self._field(name, about, given)
        label = translated(about["label"])
        self.fields[name].label = _("%s, in per cent") % label if kind == Kind.SHARE else label
        self.fields[name].help_text = translated(about["help"])
        yield name, ""
        if kind == Kind.FILE and given:
            shown = _("Remove %s") % plain_name(given)
            self.fields[name + REMOVED] = forms.BooleanField(label=shown, required=False)
            yield name + REMOVED, ""

    def _field(self, name: str, about: JsonView, given: Any) -> forms.Field:
        kind: Kind = about["kind"]
        if name == "k":
            low, high = min(K_ENDS[0], given or 1), max(K_ENDS[1], given or 1)
            return _slider(forms.IntegerField(min_value=1, max_value=MOST, initial=given or 1), low, high)
        if kind == Kind.SHARE:
            shown = round(100 * (self._usual_share() if given is None else given), 6)
            is_whole, high = shown == int(shown), max(PER_CENT_ENDS[1], math.ceil(shown))
            field = ShareField(initial=int(shown) if is_whole else shown)
            return _slider(field, PER_CENT_ENDS[0], high, 1 if is_whole else "any")
        if kind == Kind.WHOLE:
            return forms.IntegerField(min_value=1, max_value=MOST, required=False, initial=given)
        if kind == Kind.FLAG_OR_NAMES:
            kept = self.job.get("output", {}).get("keep", [])
            listed = kept if given is True else [one for one in given or [] if one in kept]
            choices = [(one, one) for one in kept]
            ticks = forms.CheckboxSelectMultiple()
            return forms.MultipleChoiceField(choices=choices, widget=ticks, required=False, initial=listed)
        if kind == Kind.FLAG:
            return forms.BooleanField(required=False, initial=bool(given))
        if kind == Kind.FILE:
            return forms.FileField(required=False)
        if kind == Kind.NAMES:
            listed = ", ".join(f'"{one}"' if "," in one else one for one in given or [])
            return NamesField(self.columns_with(QUASI), initial=listed)
        if about["words"]:
            words = dict.fromkeys([*about["words"], *([given] if given else [])])
            choices = [("", _("not chosen")), *((one, word_of_request(one)) for one in words)]
            return forms.ChoiceField(choices=choices, required=False, initial=given)
        return forms.CharField(max_length=100, required=False, initial=given)

    def _usual_share(self) -> float:
        """Return the share of rows that may be left out by some of the methods where the job says none."""
        named = [one.get("name", DEFAULT_METHOD) for one in self.job.get("method", [])] or [DEFAULT_METHOD]
        return max(usual_suppression(TABLE_ANONYMIZERS.get(one)) for one in named)

    def clean(self) -> Json:
        """Refuse at each field what the library would refuse, and what does not go together."""
        cleaned = super().clean() or {}
        for one in offered():
            for part, column in self.parts[one.name].items():
                if column and cleaned.get(part):
                    self._check_number(one.name, part, column, cleaned[part])
        for name, upload in self.uploads.items():
            try:
                ending_of(plain_name(str(upload.name)))
            except InputError as error:
                self.add_error(name, _("Expected: %s") % expected_in_words(error.faults[0]))
        is_counted = bool(cleaned.get("k_map") or cleaned.get("delta_presence"))
        if is_counted and not self._has_file("population"):
            self.add_error("population", _("k-map and δ-presence need the file of everybody."))
        if not is_counted and self._has_file("population"):
            said = _("The population is for k-map or δ-presence. Ask for one, or remove the file.")
            self.add_error("population", said)
        if cleaned.get("delta_presence"):
            self._check_presence(cleaned["delta_presence"])
        self._check_loss(cleaned.get("loss") or "ncp")
        return cleaned

    def _check_number(self, name: str, part: str, column: str, text: str) -> None:
        """Have the library read the number of a column; hierarchies are read when the release is made."""
        trees: Any = dict.fromkeys(self.job.get("hierarchies", {}), True)
        asked: Json = {name: {column: text}}
        try:
            if name in OF_COLUMNS:
                requirements_of(Requirements(**asked), trees)
            else:
                check_asked([column], 0, {column: float(text)})
        except InputError as error:
            self.add_error(part, _("Expected: %s") % expected_in_words(error.faults[0]))

    def _has_file(self, name: str) -> bool:
        cleaned = self.cleaned_data
        is_kept = bool(self._section(name, self.job).get(name)) and not cleaned.get(name + REMOVED)
        return is_kept or bool(cleaned.get(name)) or name in self.errors

    def _check_presence(self, text: str) -> None:
        ends = [as_number(one) for one in text.split(":")]
        shares = [one for one in ends if one is not None and 0 <= one <= 1]
        if len(ends) > 2 or shares != sorted(shares) or len(shares) < len(ends):
            self.add_error("delta_presence", _("Expected: %s") % _("a share from 0 to 1, or two such as 0.1:0.5"))

    def _check_loss(self, loss: str) -> None:
        has_prices = self._has_file("prices")
        if loss == "price" and not has_prices:
            self.add_error("prices", _("The loss price needs the file of prices."))
        if loss != "price" and has_prices:
            self.add_error("prices", _("Prices are for the loss price."))
        known = [one for one in self.methods if one in TABLE_ANONYMIZERS]
        local = [one for one in known if not hasattr(TABLE_ANONYMIZERS.get(one), "search")]
        if loss != "ncp" and local:
            self.add_error("loss", _("%s is measured by ncp. Choose ncp, or other methods.") % ", ".join(local))
        if self.cleaned_data.get("prefer") and local:
            said = _("%s does not choose between levels. Choose other methods, or leave this empty.")
            self.add_error("prefer", said % ", ".join(local))

    @property
    def uploads(self) -> dict[str, UploadedFile[bytes]]:
        """The files that were sent, by the name of their field."""
        return {name: self.cleaned_data[name] for name in FILES if self.cleaned_data.get(name)}

    def change(self, found: Found) -> None:
        """Write what was changed into the job file."""
        touched = set(self.changed_data)
        for one in offered():
            if not touched.intersection(self.parts[one.name]):
                continue
            section = found.setdefault("output" if one.name in IN_OUTPUT else "requirements", {})
            value = self._value(one.name, one.metadata["kind"])
            if value is None or value is False or value in ("", [], {}):
                section.pop(one.name, None)
            else:
                section[one.name] = value
        if "k" in touched:
            set_k(found, self.cleaned_data["k"])

    def _value(self, name: str, kind: Kind) -> Any:
        """Return what was asked as a job file has it."""
        cleaned = self.cleaned_data
        if kind in (Kind.LEVELS, Kind.WEIGHTS):
            columns: dict[str, list[Any]] = {}
            for part, column in self.parts[name].items():
                if text := cleaned[part]:
                    number = as_number(text)
                    columns.setdefault(column, []).append(text if number is None else number)
            return {column: several if len(several) > 1 else several[0] for column, several in columns.items()}
        if kind == Kind.FILE:
            is_removed = cleaned.get(name + REMOVED)
            return self.places.get(name) or (None if is_removed else self._section(name, self.job).get(name))
        return cleaned[name]

    @property
    def first(self) -> list[forms.BoundField]:
        """What is asked first."""
        return [self[name] for name in FIRST]

    @property
    def folded(self) -> list[Json]:
        """The rest in two parts, each open where something is asked: further requirements, what the release keeps."""
        names = {one.name for one in request_fields(Requirements)}
        listed = [one for one in offered() if one.name not in FIRST]
        return [
            self._part(_("More requirements"), [one for one in listed if one.name in names]),
            self._part(_("What the release keeps"), [one for one in listed if one.name not in names]),
        ]

    def _part(self, title: str, listed: Sequence[Field[object]]) -> dict[str, object]:
        fields = {one.name: [self[part] for part in self.parts[one.name]] for one in listed}
        blocks = [
            {
                "name": one.name,
                "label": translated(one.metadata["label"]),
                "help": translated(one.metadata["help"]),
                "is_of_kept": one.metadata["kind"] == Kind.FLAG_OR_NAMES,
                "choices": list(fields[one.name][0]) if one.metadata["kind"] == Kind.FLAG_OR_NAMES else [],
                "is_by_column": one.metadata["kind"] in (Kind.LEVELS, Kind.WEIGHTS),
                "fields": fields[one.name],
            }
            for one in listed
        ]
        needs = any(one.metadata["kind"] == Kind.LEVELS and not fields[one.name] for one in listed)
        is_open = any(field.errors or field.initial for several in fields.values() for field in several)
        return {"title": title, "blocks": blocks, "is_open": is_open, "needs_sensitive": needs}


def as_number(text: str) -> int | float | None:
    """Read a number; None for what is none."""
    try:
        found = float(text)
    except ValueError:
        return None
    return None if not math.isfinite(found) else int(found) if found == int(found) else found


def as_list(value: Any) -> list[Any]:
    """Return what is written of one column: of several the list."""
    return value if isinstance(value, list) else [value]


def _slider(field: forms.Field, low: int, high: int, step: int | str = 1) -> forms.Field:
    field.widget = forms.NumberInput({"type": "range", "min": low, "max": high, "step": step, "data-slider": True})
    return field
