"""The public document of a dossier: what may be told to everybody, chosen number by number.

Nothing is left out of a dossier here; what is not listed below never comes in. No value of a column is among it, no row
and no group, no file but those that are handed over, and classes smaller than k are counted together.
"""

from __future__ import annotations

from collections.abc import Mapping

from tokumei.core.text import Json, JsonView
from tokumei.data.context import OF_USE, PUBLIC_FIELDS
from tokumei.reports.evidence_pages import (
    SIDES,
    add_attacks,
    add_bounds,
    add_decision,
    add_hashes,
    add_pictures,
    add_scores,
    new_document,
)
from tokumei.reports.framework_pages import add_frameworks
from tokumei.reports.page import Document

# Figures of a score that are of all people together.
OF_A_SCORE = ("value", "best", "worst", "interval", "baseline", "control")


def public_dossier(dossier: JsonView) -> Json:
    """Choose what may be published of a dossier."""
    found = dossier["results"]
    k, is_drawn = smallest_class(dossier), found.get("drawn") is not None
    told = {
        name: dossier[name]
        for name in ("job", "date", "reviewer", "expires", "versions", "holds", "bounds", "frameworks_of", "decision")
    }
    return {
        **told,
        "document": "public",
        "files": {
            name: value for name, value in dossier["files"].items() if name.startswith(("release.", "published."))
        },
        "context": {name: value for name, value in dossier["context"].items() if name in PUBLIC_FIELDS},
        "frameworks": [_framework(one) for one in dossier["frameworks"]],
        "results": {
            **{name: found.get(name) for name in ("chosen", "loss", "loss_name")},
            "rows": found["before"]["rows"] if "before" in found else found["rows"],
            "released": found["profile"]["released"] if "profile" in found else found["released"],
            "k": k,
            "drawn": _promise(found.get("drawn")),
            "requirements": found.get("after", {}).get("requirements", []),
            "risks": {side: _risks(found[side]) for side in SIDES if side in found and not is_drawn},
            "columns": {
                name: {side: one[side]["distinct"] for side in ("before", "after")}
                for name, one in found.get("profile", {}).get("columns", {}).items()
            },
            "class_sizes": {} if is_drawn else merged(found.get("profile", {}).get("class_sizes", {}), k),
            "attacks": [{**one, "scores": _scores(one["scores"])} for one in found["attacks"]],
            "use": {"scores": _scores(found["use"]["scores"])},
        },
    }


def smallest_class(dossier: JsonView) -> int:
    """Return below what size classes are counted together: the k of the release, and never less than two."""
    return max(2, int(dossier["results"].get("after", {}).get("k") or 0))


def merged(sides: Mapping[str, Mapping[str, int]], k: int) -> dict[str, dict[str, int | str]]:
    """Count the rows in classes smaller than k together, with those of the sizes that are counted with k - 1.

    Fewer rows than k are a small group, and are not counted out.

    >>> merged({"before": {"1": 7, "2-3": 6, "4-7": 12, "8-15": 30}, "after": {"4-7": 20, "8-15": 3}}, 5)
    {'before': {'1-7': 25, '8-15': 30}, 'after': {'1-7': 20, '8-15': '< 5'}}
    """
    ends = {label: [int(end) for end in label.split("-")] for sizes in sides.values() for label in sizes}
    small = [label for label, (least, *_) in ends.items() if least < k]
    together = f"1-{max((ends[label][-1] for label in small), default=1)}"
    found: dict[str, dict[str, int]] = {side: {} for side in sides}
    for side, sizes in sides.items():
        for label, n in sizes.items():
            name = together if label in small else label
            found[side][name] = found[side].get(name, 0) + n
    return {side: {name: n if n >= k else f"< {k}" for name, n in sizes.items()} for side, sizes in found.items()}


def _risks(side: JsonView) -> dict[str, float]:
    return {name: one["value"] for name, one in side["measures"]["classes"].items()}


def _scores(scores: Mapping[str, JsonView]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, one in scores.items():
        found[name] = {key: one[key] for key in OF_A_SCORE if key in one}
        counts = {key: n for key, n in one.get("inputs", {}).items() if key in ("people", "cells", "predicates")}
        if counts:
            found[name]["inputs"] = counts
    return found


def _promise(drawn: JsonView | None) -> Json | None:
    """Return what is promised of drawn rows; what their audit found beside it is no part of a promise."""
    return None if drawn is None else {name: drawn[name] for name in ("epsilon", "delta", "protects") if name in drawn}


def _framework(one: JsonView) -> Json:
    return {**one, "clauses": [_clause(clause) for clause in one["clauses"]]}


def _clause(clause: JsonView) -> Json:
    """Hide what a person stated in a field that is not public; that it was stated is told."""
    told = {**clause, "command": None}
    if clause["verdict"] == "stated" and clause["field"] not in PUBLIC_FIELDS:
        said = "stated in the internal document"
        return {**told, "said": said, "values": {}, "evidence": said}
    if clause["number"] == OF_USE and clause["figure"]:
        # It was counted by people, and no promise covers it.
        said = "told in the internal document: the promise does not cover it"
        return {**told, "said": said, "values": {}, "evidence": said, "figure": None}
    return told


def public_document(public: JsonView, *, language: str = "en") -> Document:
    """Write the pages of what may be published."""
    document = new_document(public, language)
    found = public["results"]
    add_decision(document, public)
    add_pictures(document, public)
    if found["requirements"] or public["bounds"]:
        document.folded("What it promises, recounted")
        add_bounds(document, found["requirements"], public["bounds"])
    sizes = found["class_sizes"]
    if sizes:
        document.folded("How large classes are")
        labels = list(dict.fromkeys([*sizes["before"], *sizes["after"]]))
        rows = [[label, *(sizes[side].get(label, 0) for side in ("before", "after"))] for label in labels]
        document.table(
            ["class size", "rows before", "rows after"],
            rows,
            "Rows by the size of their class; classes smaller than k are counted together.",
        )
    add_attacks(document, found["attacks"])
    document.folded("What use is left")
    add_scores(document, found["use"])
    add_frameworks(document, public)
    add_hashes(document, {"handed over": public["files"]}, public)
    return document
