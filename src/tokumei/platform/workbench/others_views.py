"""A release that others made, beside its original: what attacks find of it, in one sentence, figures and a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.attacks.registry import MARGIN
from tokumei.attacks.table_threats import PRESENCE, TABLE_THREATS, TELLS, VALUE, WHO
from tokumei.core.errors import InputError
from tokumei.core.text import Json, JsonView
from tokumei.data.files.formats import ending_of
from tokumei.platform.access import UserRequest, access
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import describe_error
from tokumei.platform.workbench import folder as files
from tokumei.platform.workbench import services
from tokumei.platform.workbench.file_views import find, frame
from tokumei.platform.workbench.models import Piece
from tokumei.platform.workbench.words import MUCH, attack_lines, interval_in_words, title_of

WHOSE = {
    "in_order": gettext_lazy("Row 1 is row 1 of the original, row 2 is row 2, and so on"),
    "column": gettext_lazy("A column of the release says which row of the original each row was, counted from 1"),
    "nobody": gettext_lazy("No row is anybody's: the data is synthetic"),
}
THREATS = {
    "": gettext_lazy("Somebody who knows everybody in the file: the worst that could be"),
    "prosecutor": gettext_lazy("Somebody who knows that one person is in it, and all that there is to know of them"),
    "employer": gettext_lazy("An employer who looks for their staff and knows some things of them, not all exactly"),
    "marketer": gettext_lazy("A company that matches its whole customer file"),
    "journalist": gettext_lazy("A journalist with a list of the population, who wants to find anybody"),
    "data-broker": gettext_lazy("A data broker with inexact files on half of the people"),
    "insider": gettext_lazy("An insider who has the original"),
}
# Attacks whose success is a share of people, by what they tell; linkability meets, and labels speak of cells.
FINDING = {
    WHO: [name for name in TELLS if WHO in TELLS[name] and name.endswith(("linkage", "linked-rows", "intersection"))],
    VALUE: [name for name in TELLS if TELLS[name] == (VALUE,)],
    PRESENCE: [name for name in TELLS if TELLS[name] == (PRESENCE,)],
}
DESCRIBED = "singling-out"
ROWS_SHOWN = 5
FILES = ("release", "control", "population")
ACCEPTED = ".csv,.tsv,.txt,.tab,.dat,.data,.gz,.parquet,.xlsx,.ods,.json,.jsonl,.arrow,.feather,.dta,.sav"


def _file(label: Any, said: Any) -> forms.FileField:
    shown = forms.ClearableFileInput(attrs={"accept": ACCEPTED})
    return forms.FileField(label=label, help_text=said, required=False, widget=shown, allow_empty_file=False)


class OthersForm(forms.Form):
    """What is sent of a release that others made; what was sent before stays."""

    release = _file(gettext_lazy("The release"), gettext_lazy("As ARX, sdcMicro, SDV or another program wrote it."))
    whose = forms.ChoiceField(
        label=gettext_lazy("Whose each row is"),
        choices=list(WHOSE.items()),
        widget=forms.RadioSelect,
        initial="in_order",
    )
    column = forms.CharField(label=gettext_lazy("Name of the column"), required=False, max_length=200)
    threat = forms.ChoiceField(
        label=gettext_lazy("Who attacks"),
        choices=list(THREATS.items()),
        widget=forms.RadioSelect,
        initial="",
        required=False,
    )
    control = _file(
        gettext_lazy("People who are not in the data (optional)"),
        gettext_lazy(
            "What attacks find of them comes from no record of theirs. With 400 it is tried who is in the data."
        ),
    )
    population = _file(
        gettext_lazy("A list of the population (for a journalist)"),
        gettext_lazy("Everybody who might be in the data, and those who are, with the same columns."),
    )

    def __init__(self, before: JsonView, data: Any = None, sent: Any = None) -> None:
        """before: what was asked the last time."""
        asked = {name: before[name] for name in ("whose", "column", "threat") if name in before}
        super().__init__(data, sent, initial=asked)
        self.before = before
        for name in FILES:
            if name in before:
                self.fields[name].help_text = _("Sent before; choose another one to replace it.")

    def clean(self) -> dict[str, object]:
        """Say beside its field what lacks, and what is no file of a table."""
        found = super().clean() or {}
        for name in FILES:
            if found.get(name):
                try:
                    ending_of(files.plain_name(str(found[name].name)), file=found[name].name)
                except InputError as error:
                    self.add_error(name, describe_error(error))
        if not found.get("release") and "release" not in self.before and "release" not in self.errors:
            self.add_error("release", _("Choose the file of the release."))
        if found.get("whose") == "column" and not found.get("column"):
            self.add_error("column", _("Name the column of the release that says it."))
        if found.get("threat") in TABLE_THREATS:
            has = bool(found.get("population")) or "population" in self.before
            if TABLE_THREATS[found["threat"]].lacks(has_population=has):
                self.add_error("population", _("A journalist needs the list in which people are looked up."))
        return found

    def asked(self) -> Json:
        """Return what is asked, with the files that were sent before."""
        told = {name: self.cleaned_data[name] for name in ("whose", "column", "threat")}
        sent = self.cleaned_data["release"]
        kept = {name: self.before[name] for name in (*FILES, "file") if name in self.before}
        return kept | told | ({"file": files.plain_name(str(sent.name))} if sent else {})


@access("user", of=find, methods="GET POST")
def others(request: UserRequest, piece: Piece) -> HttpResponse:
    """Take a release that others made, and show what attacks found of it."""
    if piece.kind != "table":
        raise Http404
    shown = frame(request, piece)
    before = files.read(piece.folder / files.OTHERS, files.ASKED) or {}
    if request.method == "POST" and shown["look"] is None:
        raise Http404
    if request.method == "POST" and "again" in request.GET and before:
        services.start(piece, services.ATTACK)
        return redirect("workbench:others", piece=piece.key)
    form = OthersForm(before, request.POST, uploads_of(request)) if request.method == "POST" else OthersForm(before)
    if request.method == "POST" and form.is_valid():
        uploads = {name: form.cleaned_data[name] for name in FILES if form.cleaned_data[name]}
        services.attack_others(piece, form.asked(), uploads)
        return redirect("workbench:others", piece=piece.key)
    found = files.read(piece.folder / files.OTHERS_FOUND, files.FOUND)
    if found is not None:
        # It loads all that makes releases.
        from tokumei.platform.workbench.releasing import digest_of

        is_stale = digest_of((piece.folder / files.JOB).read_text()) != found["job"] or found["asked"] != before
        shown |= {"found": found, "is_stale": is_stale} | found_shown(found)
        shown["pages"] = list(files.OTHERS_REPORTS.values())
    return render(request, "workbench/others.html", shown | {"form": form}, status=400 if form.errors else 200)


@access("user", of=find)
def page(request: UserRequest, piece: Piece, report: str) -> FileResponse:
    """Send the report on the release."""
    path = piece.folder / files.OTHERS_FOUND / report
    if report not in files.OTHERS_REPORTS.values() or not path.is_file():
        raise Http404
    return FileResponse(path.open("rb"), as_attachment=True, filename=report)


def found_shown(found: JsonView) -> Json:
    """Return the verdict, what else was found, the figures and the rows at most risk."""
    lines = sorted(_verdicts(found["attacks"]), key=lambda one: -one["gain"])
    who = str(THREATS[found["asked"]["threat"]])
    riskiest = [
        {
            "attack": title_of(one["attack"]) + (f" ({one['sensitive']})" if one.get("sensitive") else ""),
            "certain": one["outcome"]["certain"],
            "highest": None if one["outcome"]["highest"] is None else f"{one['outcome']['highest']:.1%}",
            "rows": [f"{row:,}" for row in one["outcome"]["riskiest"][:ROWS_SHOWN]],
        }
        for one in found["attacks"]
        if one["outcome"]["riskiest"]
    ]
    left_out = [(title_of(name), why) for name, why in found["left_out"].items()]
    return {
        "who": who,
        "verdict": lines[0] if lines else None,
        "verdicts": lines[1:],
        "tried": attack_lines(found["attacks"]),
        "riskiest": riskiest,
        "left_out": left_out,
    }


def _verdicts(attacks: Sequence[JsonView]) -> list[Json]:
    """Return a sentence for each thing that attacks tell, of the attack that finds most above chance."""
    told = []
    for what, names in (*FINDING.items(), (DESCRIBED, [DESCRIBED])):
        tried = [one for one in attacks if one["attack"] in names and one["outcome"]["success"] is not None]
        if tried:
            best = max(tried, key=lambda one: one["outcome"]["success"] - _chance(one["outcome"]))
            told.append(_said(what, best))
    return told


def _chance(outcome: JsonView) -> float:
    """Return what is found by guessing, or of people outside by the same score, if that is more."""
    control = outcome["control"] if outcome["control_of"] == outcome["measure"] else None
    return max(outcome["baseline"] or 0.0, control or 0.0)


def _said(what: str, attack: JsonView) -> Json:
    outcome = attack["outcome"]
    chance = _chance(outcome)
    words = {
        "n": _of_hundred(outcome["success"]),
        "m": _of_hundred(chance),
        "attack": title_of(attack["attack"]),
        "column": attack.get("sensitive") or _learned(attack) or _("the sensitive column"),
    }
    if what == WHO:
        said = _("%(n)s out of 100 people are found (%(attack)s). By guessing: %(m)s.")
    elif what == VALUE:
        said = _(
            "Of %(n)s out of 100 people the value of %(column)s is guessed rightly (%(attack)s). Without them: %(m)s."
        )
    elif what == PRESENCE:
        said = _("%(n)s out of 100 people are told to be in the data (%(attack)s). Of others: %(m)s.")
    else:
        said = _("%(n)s out of 100 descriptions fit one person alone (%(attack)s). Without the release: %(m)s.")
    gain = outcome["success"] - chance
    is_sure = outcome["interval"] is not None and outcome["interval"][0] > chance + MARGIN
    kind = "error" if is_sure and gain > MUCH else "warning" if is_sure else "success"
    return {"said": said % words, "gain": gain, "kind": kind, "sure": interval_in_words(outcome)}


def _learned(attack: JsonView) -> str | None:
    """Return the column that an attack learned, where it is the only one."""
    return next((one["inputs"]["sensitive"] for one in attack["scores"].values() if "sensitive" in one["inputs"]), None)


def _of_hundred(share: float) -> str:
    """Write a share as people of a hundred."""
    return _("fewer than 1") if 0 < share < 0.005 else f"{100 * share:.0f}"
