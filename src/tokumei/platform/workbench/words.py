"""What roles, steps and numbers are called and what they say, in the language of whoever reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from django import template
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from tokumei.attacks.registry import (
    JUDGE,
    MET,
    NO_PEOPLE,
    NO_RANGES,
    NOT_MEASURED,
    NOT_MET,
    NOT_RUN,
    singling_out_of,
    was_tried,
)
from tokumei.core.errors import Fault
from tokumei.core.text import Json, JsonView
from tokumei.platform.jobs.models import Job
from tokumei.platform.messages import translated
from tokumei.reports.explanations import explain
from tokumei.reports.japanese import expected_in_japanese

Words = Mapping[str, str | Promise]
# What is worse than this is shown as a warning.
MUCH = 0.2
# Of inference the model is a way to guess; the measure of this name is another.
SCORE_OF = {("inference", "model"): "all-rows"}

ROLES: Words = {
    "identifier": gettext_lazy("Identifier: names a person, never released"),
    "quasi-identifier": gettext_lazy("Quasi-identifier: others may know it, generalized"),
    "sensitive": gettext_lazy("Sensitive: others want to learn it, released as it is"),
    "person": gettext_lazy("Person: tells whose a row is, never released"),
    "household": gettext_lazy("Household: tells whose a row is, never released"),
    "other": gettext_lazy("Other: left out"),
    "kept": gettext_lazy("Other: released as it is"),
}
TYPES: Words = {
    "text": gettext_lazy("text"),
    "number": gettext_lazy("number"),
    "whole number": gettext_lazy("whole number"),
    "date": gettext_lazy("date"),
    "truth": gettext_lazy("yes or no"),
}
PARTS_OF_HISTORY: Words = {
    "customer": gettext_lazy("Customer: whose row it is"),
    "date": gettext_lazy("Date"),
    "time": gettext_lazy("Time of day"),
    "item": gettext_lazy("Item: what was bought"),
    "price": gettext_lazy("Price of one"),
    "quantity": gettext_lazy("Quantity"),
    "invoice": gettext_lazy("Receipt: what was bought together"),
}
IN_A_HISTORY: Words = {
    "date": gettext_lazy("Rows by month"),
    "item": gettext_lazy("Items"),
    "quantity": gettext_lazy("Quantities"),
    "price": gettext_lazy("Prices"),
}
JOBS: Words = {
    "workbench-look": gettext_lazy("Looking at the file"),
    "workbench-release": gettext_lazy("Making the release, attacking and measuring it"),
    "workbench-frontier": gettext_lazy("Trying releases"),
    "workbench-apply_next": gettext_lazy("Applying the recipe"),
    "workbench-attack_others": gettext_lazy("Attacking and measuring the release"),
}
# The numbers of a table that pages show, in this order; what each is called and says is the library's.
NUMBERS = (
    *("k-anonymity", "uniques", "mean-class-size", "prosecutor-risk", "prosecutor-risk-mean"),
    *("prosecutor-risk-share-above", "marketer-risk", "l-diversity-distinct", "l-diversity-entropy"),
    *("t-closeness-equal", "t-closeness-ordered", "alpha-k", "beta-likeness-basic", "delta-disclosure"),
)
KNOWLEDGE: Words = {
    "knows nothing": gettext_lazy("nothing"),
    "one item": gettext_lazy("one item"),
    "all items": gettext_lazy("all items"),
    "how many": gettext_lazy("how many items"),
    "day": gettext_lazy("the day"),
}
FINDINGS: Words = {
    MET: gettext_lazy("met"),
    NOT_MET: gettext_lazy("not met"),
    JUDGE: gettext_lazy("yours to judge"),
    NOT_MEASURED: gettext_lazy("not measured"),
}
WHY_NOT: Words = {
    NOT_RUN: gettext_lazy("No attack looked for people whom labels single out."),
    NO_PEOPLE: gettext_lazy(
        "No released row is a row of the original, so that what the attack claims cannot be judged."
    ),
    NO_RANGES: gettext_lazy("No label is a range, whose ends the attack would try."),
}
FIGURES = ("found", "low", "high", "blind")
# The attack with which a job measures whose purchases are known.
MEASURED_WITH = "linkage"
# How exactly a purchase is known, as the library measures what single purchases out.
EXACTNESS: Words = {
    "day, item and price": gettext_lazy("day, item and price"),
    "day and item": gettext_lazy("day and item"),
    "day, kind of item and price to a fifth": gettext_lazy("day, kind of item and about the price"),
    "day and kind of item": gettext_lazy("day and kind of item"),
    "week and item": gettext_lazy("week and item"),
    "month and item": gettext_lazy("month and item"),
    "item": gettext_lazy("item"),
    "day": gettext_lazy("day"),
    "month": gettext_lazy("month"),
}


# What follows a number in a requirement.
MARKS: Words = {"KIND": gettext_lazy("how it is measured"), "WHOSE": gettext_lazy("whose shares count"), "C": "c"}
REQUEST: Words = {
    "distinct": gettext_lazy("different values"),
    "entropy": gettext_lazy("entropy"),
    "recursive": gettext_lazy("recursive (c)"),
    "equal": gettext_lazy("all equally far"),
    "ordered": gettext_lazy("by their order"),
    "hierarchical": gettext_lazy("by their hierarchy"),
    "basic": gettext_lazy("basic"),
    "enhanced": gettext_lazy("enhanced"),
    "both": gettext_lazy("against both"),
    "original": gettext_lazy("against the original"),
    "release": gettext_lazy("against the release"),
}


def word_of_request(word: str) -> str:
    """Return what a word of a requirement is called; one that is only a name stays."""
    return str(REQUEST.get(word, word))


def step_in_words(job: Job) -> str:
    """Describe what a job does."""
    return str(JOBS.get(job.kind, ""))


def title_of(name: str) -> str:
    """Return the title of a measure or attack; one without a title keeps its name."""
    found = explain(name, language())
    return name.replace("-", " ").replace("_", " ") if found is None else found.title


def says(name: str) -> str:
    """Explain a measure or attack in one sentence."""
    found = explain(name, language())
    return "" if found is None else found.says


def language() -> str:
    """Return the reader's language without its country."""
    return (get_language() or "en").partition("-")[0]


def fault_text(fault: Mapping[str, object]) -> str:
    """Describe a fault in the reader's language, as far as it is known there."""
    return expected_in_words(_read(fault))


def expected_in_words(fault: Fault) -> str:
    """Describe what was expected in the reader's language, as far as it is known there."""
    return (expected_in_japanese(fault) if language() == "ja" else None) or fault.wanted


def english(fault: Mapping[str, object]) -> str:
    """Describe a fault in English."""
    return _read(fault).wanted


def _read(fault: Mapping[str, object]) -> Fault:
    return Fault.from_json(fault)


def number_lines(measures: JsonView, after: JsonView | None = None) -> list[Json]:
    """Return the known measures with what each says, and those of a release beside them."""
    return [
        {
            "name": title_of(name),
            "says": says(name),
            "value": number(name, measures.get(name)),
            "after": None if after is None else number(name, after.get(name)),
        }
        for name in NUMBERS
        if name in measures or (after is not None and name in after)
    ]


def number(name: str, score: JsonView | None) -> str:
    """Write a number as people read it: a share in per cent, a count as it is."""
    if score is None or score.get("value") is None:
        return "–"
    value = float(score["value"])
    if math.isinf(value):
        return "∞"
    if score.get("worst") == 1 and score.get("best") == 0 and not name.startswith("t-"):
        return f"{value:.1%}"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"


def of_measures(found: JsonView) -> Json:
    """Put the measures of an audit together: those of classes, and the worst of the sensitive columns."""
    return dict(found.get("classes", {})) | dict(found.get("worst", {}))


def knowledge_in_words(knows: str) -> str:
    """Describe what an attacker knows of a purchase: what the library lists in brackets, part by part."""
    listed = knows.partition("(")[2].rstrip(")") or knows
    return ", ".join(str(KNOWLEDGE.get(part, part)) for part in listed.split(", "))


def exactness_in_words(knows: str) -> str:
    """Describe how exactly purchases are known."""
    return str(EXACTNESS.get(knows, knows))


def attack_lines(tried: Iterable[JsonView]) -> list[Json]:
    """Return what each attack found, with its interval and chance level; other scores are not shares."""
    return [
        {
            "attack": title_of(one["attack"]) + (f" ({one['sensitive']})" if one.get("sensitive") else ""),
            "says": says(one["attack"]),
            "scores": [
                {
                    "name": title_of(SCORE_OF.get((one["attack"], kind), kind)),
                    "says": says(SCORE_OF.get((one["attack"], kind), kind)),
                    "value": f"{score['value']:.1%}" if score.get("value") is not None else "–",
                    "said": interval_in_words(score),
                    "is_much": (score.get("value") or 0) > max(MUCH, 2 * (score.get("baseline") or 0)),
                }
                for kind, score in one["scores"].items()
                if score.get("worst") == 1 and score.get("best") == 0 and was_tried(score)
            ],
        }
        for one in tried
        # Where no cell is a label there is nothing to downcode.
        if was_tried(one["scores"].get("cells-certain", {}))
    ]


def singled_out_lines(tried: Iterable[Mapping[str, object]]) -> list[Json]:
    """Show beside k whether labels single people out: the finding with its figures, or why it was not measured."""
    return [
        {
            "finding": FINDINGS[one.finding],
            "attack": None if one.attack is None else title_of(one.attack["attack"]),
            "why": WHY_NOT.get(one.why or "", one.why),
            **{key: None if (value := getattr(one, key)) is None else f"{value:.1%}" for key in FIGURES},
        }
        for one in singling_out_of(tried)
    ]


def history_figures(tried: Sequence[JsonView]) -> list[Json]:
    """Show who was found in a history and whose purchases are known, side by side, each by the best attack.

    Where the purchases were not measured the line says why.
    """
    titles = {"found": _("Customers found (attacked)"), "attributed": _("Purchases given to their buyers (attacked)")}
    why = next((translated(one["left_out"]["attribution"]) for one in tried if "left_out" in one), None)
    if why is None and all(one["attack"] != MEASURED_WITH for one in tried):
        why = _("It is measured with the attack %s, which was not tried.") % MEASURED_WITH
    lines = []
    for name, title in titles.items():
        best = max((one for one in tried if name in one["scores"]), key=lambda one: _value(one, name), default=None)
        if best is None:
            lines.append({"title": title, "value": None, "said": why if name == "attributed" else None})
            continue
        words = {"attack": title_of(best["attack"]), "known": f"{best['known']:.0%}"}
        by = _("by %(attack)s, knowing %(known)s of the purchases") % words
        said = "; ".join(part for part in (by, interval_in_words(best["scores"][name])) if part)
        lines.append({"title": title, "value": f"{_value(best, name):.1%}", "said": said})
    return lines


def _value(tried: JsonView, name: str) -> float:
    return float(tried["scores"][name]["value"] or 0)


def interval_in_words(score: JsonView) -> str:
    """Write the interval of a score, and what guessing would have found."""
    parts = []
    if score.get("interval"):
        low, high = score["interval"]
        parts.append(
            _("between %(low)s and %(high)s with 95%% confidence") % {"low": f"{low:.1%}", "high": f"{high:.1%}"}
        )
    if score.get("baseline") is not None:
        parts.append(_("by chance %s") % f"{score['baseline']:.1%}")
    return "; ".join(parts)


register = template.Library()


@register.filter
def expected(fault: Mapping[str, object]) -> str:
    """Show what a fault lacks in the reader's language."""
    said = fault_text(fault)
    is_english = language() == "ja" and said == english(fault)
    return format_html('<span lang="en">{}</span>', said) if is_english else said
