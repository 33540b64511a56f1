"""What roles, steps and numbers are called and what they say, in the language of whoever reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.platform.jobs.models import Job

Words = Mapping[str, str | Promise]

ROLES: Words = {
    "identifier": gettext_lazy("Identifier: names a person, never released"),
    "quasi-identifier": gettext_lazy("Quasi-identifier: others may know it, generalized"),
    "sensitive": gettext_lazy("Sensitive: others want to learn it, released as it is"),
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
JOBS: Words = {
    "workbench-look": gettext_lazy("Looking at the file"),
    "workbench-release": gettext_lazy("Making the release, attacking and measuring it"),
    "workbench-frontier": gettext_lazy("Trying releases"),
}
# Numbers of a table as it stands, and of a release: what each is called and what it says.
NUMBERS: dict[str, tuple[str | Promise, str | Promise]] = {
    "k-anonymity": (
        gettext_lazy("Smallest class (k)"),
        gettext_lazy("So many rows at least look alike by the quasi-identifiers; 1 means that somebody stands alone."),
    ),
    "uniques": (
        gettext_lazy("Rows that are alone"),
        gettext_lazy("The share of rows that no other row looks like."),
    ),
    "prosecutor-risk": (
        gettext_lazy("Highest risk (prosecutor)"),
        gettext_lazy(
            "The chance that somebody who knows one person's quasi-identifiers, and that they are in the "
            "file, picks their row: for the person who is worst off."
        ),
    ),
    "prosecutor-risk-mean": (
        gettext_lazy("Mean risk (prosecutor)"),
        gettext_lazy("The same chance for a person drawn at random."),
    ),
    "prosecutor-risk-share-above": (
        gettext_lazy("Rows at high risk"),
        gettext_lazy("The share of rows whose chance to be picked is above 20 %."),
    ),
    "marketer-risk": (
        gettext_lazy("People found (marketer)"),
        gettext_lazy("The share of all people whom somebody finds who knows everybody and links all of them."),
    ),
    "mean-class-size": (
        gettext_lazy("Mean class"),
        gettext_lazy("How many rows look alike on average."),
    ),
    "l-diversity-distinct": (
        gettext_lazy("Different sensitive values in a class (ℓ)"),
        gettext_lazy("In the class with the fewest; 1 means that who finds the class knows the value."),
    ),
    "t-closeness-equal": (
        gettext_lazy("Distance from all rows (t)"),
        gettext_lazy(
            "How far the sensitive values of the most unusual class are from those of all rows; 0 tells "
            "nothing, 1 tells all."
        ),
    ),
}
ATTACKS: Words = {
    "record-linkage": gettext_lazy("links people to rows by what is known of them"),
    "homogeneity": gettext_lazy("learns the sensitive value where all rows of a class have the same"),
    "tfidf": gettext_lazy("compares what each customer bought, rare things counting more"),
    "jaccard": gettext_lazy("compares the sets of what each customer bought"),
    "exact-match": gettext_lazy("looks for rows that are the same"),
    "row-counts": gettext_lazy("compares how often customers bought"),
    "linkage": gettext_lazy("weighs all columns together and assigns everybody at once"),
}
KNOWLEDGE: Words = {
    "knows nothing": gettext_lazy("nothing"),
    "one item": gettext_lazy("one item"),
    "all items": gettext_lazy("all items"),
    "how many": gettext_lazy("how many items"),
    "day": gettext_lazy("the day"),
}
SCORES: Words = {
    "row": gettext_lazy("customers found in every month"),
    "cell": gettext_lazy("customers found, month by month"),
    "pseudonym": gettext_lazy("pseudonyms found"),
    "transaction": gettext_lazy("purchases found"),
    "found": gettext_lazy("people found"),
    "certain": gettext_lazy("known for certain"),
    "success": gettext_lazy("guessed right"),
}


def step_in_words(job: Job) -> str:
    """Say what a job does."""
    return str(JOBS.get(job.kind, ""))


def number_lines(measures: Mapping[str, Any], after: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Give the numbers that are known by name, each with what it says; with those of a release beside them."""
    lines = []
    for name, (called, says) in NUMBERS.items():
        if name not in measures and (after is None or name not in after):
            continue
        lines.append(
            {
                "name": called,
                "says": says,
                "value": number(name, measures.get(name)),
                "after": None if after is None else number(name, after.get(name)),
            }
        )
    return lines


def number(name: str, score: Mapping[str, Any] | None) -> str:
    """Write a number as people read it: a share in per cent, a count as it is."""
    if score is None or score.get("value") is None:
        return "–"
    value = float(score["value"])
    if score.get("worst") == 1 and score.get("best") == 0 and not name.startswith("t-"):
        return f"{value:.1%}"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"


def of_measures(found: Mapping[str, Any]) -> dict[str, Any]:
    """Put the measures of an audit together: those of classes, and the worst of the sensitive columns."""
    return dict(found.get("classes", {})) | dict(found.get("worst", {}))


def knowledge_in_words(knows: str) -> str:
    """Say what an attacker knows of a purchase: what the library lists in brackets, part by part."""
    listed = knows.partition("(")[2].rstrip(")") or knows
    return ", ".join(str(KNOWLEDGE.get(part, part)) for part in listed.split(", "))


def attack_in_words(name: str) -> str:
    """Say how an attack goes about it."""
    return str(ATTACKS.get(name, ""))


def score_in_words(name: str) -> str:
    """Say what an attack counts."""
    return str(SCORES.get(name, name.replace("-", " ").replace("_", " ")))


def interval_in_words(score: Mapping[str, Any]) -> str:
    """Write the interval of a score, and what guessing would have found."""
    parts = []
    if score.get("interval"):
        low, high = score["interval"]
        parts.append(
            _("between %(low)s and %(high)s with 95 %% confidence") % {"low": f"{low:.1%}", "high": f"{high:.1%}"}
        )
    if score.get("baseline") is not None:
        parts.append(_("by chance %s") % f"{score['baseline']:.1%}")
    return "; ".join(parts)
