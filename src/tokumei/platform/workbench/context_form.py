"""The questions on a release that only people can answer, and the page that asks them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tokumei.core.errors import InputError
from tokumei.core.text import Json
from tokumei.data.context import LONGEST, QUESTIONS, REVIEWER, Answer, fits, label_of
from tokumei.platform.access import UserRequest, access
from tokumei.platform.messages import describe_error, translated
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench import services
from tokumei.platform.workbench.editing import Found
from tokumei.platform.workbench.file_views import find, frame
from tokumei.platform.workbench.models import Piece

PER_CENT = 100


class ContextForm(forms.Form):
    """A field for each question of `ReleaseContext`, and who decides; empty means not stated."""

    def __init__(self, job: Json, sent: Any = None) -> None:
        super().__init__(sent, auto_id="%s", label_suffix="")
        given = {**job.get("context", {}), REVIEWER: job.get("job", {}).get(REVIEWER)}
        self.fields[REVIEWER] = forms.CharField(
            label=translated(label_of(REVIEWER)),
            help_text=_("Who answers for the release?"),
            max_length=LONGEST,
            required=False,
        )
        for name in QUESTIONS:
            self.fields[name] = self._field(name)
            self.fields[name].label = translated(label_of(name))
            self.fields[name].help_text = translated(QUESTIONS[name].metadata["question"])
        for name, field in self.fields.items():
            value = given.get(name)
            field.initial = round(PER_CENT * value, 6) if isinstance(value, (int, float)) else value

    def _field(self, name: str) -> forms.Field:
        about = QUESTIONS[name].metadata
        match about["answer"]:
            case Answer.CHOICE:
                words = [(one, translated(one)) for one in about["words"]]
                return forms.ChoiceField(choices=[("", _("not stated")), *words], required=False)
            case Answer.DAY:
                return forms.CharField(widget=forms.DateInput({"type": "date"}), required=False)
            case Answer.SHARE:
                widget = forms.NumberInput({"step": "any", "min": 0, "max": PER_CENT})
                return forms.FloatField(min_value=0, max_value=PER_CENT, required=False, widget=widget)
        return forms.CharField(max_length=LONGEST, required=False, widget=forms.Textarea({"rows": 2}))

    def clean(self) -> dict[str, object]:
        """Refuse at each field what the library would refuse."""
        cleaned = super().clean() or {}
        for name, question in QUESTIONS.items():
            value = cleaned.get(name)
            if value is not None and question.metadata["answer"] == Answer.SHARE:
                cleaned[name] = value = round(value / PER_CENT, 8)
            if value not in (None, "") and not fits(question, value):
                self.add_error(name, ValidationError(_("Expected: %s") % _("a day, as 2027-01-31")))
        return cleaned

    def change(self, found: Found) -> None:
        """Write the answers into the job file; what is empty is left out."""
        kept = {name: value for name in QUESTIONS if (value := self.cleaned_data[name]) not in (None, "")}
        found.pop("context", None)
        if kept:
            found["context"] = kept
        job = found.setdefault("job", {})
        job.pop(REVIEWER, None)
        if reviewer := self.cleaned_data[REVIEWER]:
            job[REVIEWER] = reviewer


@access("user", of=find, methods="GET POST")
def context(request: UserRequest, piece: Piece) -> HttpResponse:
    """Ask what only people know of the release."""
    shown = frame(request, piece)
    if shown["look"] is None:
        return render(request, "workbench/context.html", shown)
    form = ContextForm(files.job_of(piece.folder), request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            services.edit(piece, form.change)
        except InputError as error:
            messages.error(request, describe_error(error))
            return redirect("workbench:context", piece=piece.key)
        return redirect("workbench:protect", piece=piece.key)
    return render(request, "workbench/context.html", shown | {"form": form})
