"""The pages of a dossier on a table: what was done, what it promises, who is at risk, what use is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokumei.core.text import JsonView, from_json
from tokumei.reports.evidence_pages import (
    add_attacks,
    add_bounds,
    add_decision,
    add_hashes,
    add_not_tried,
    add_pictures,
    add_preparations,
    add_use,
    all_hashes,
    attack_words,
    new_document,
)
from tokumei.reports.framework_pages import add_frameworks
from tokumei.reports.page import Document

RISKS = (
    *("k-anonymity", "uniques", "prosecutor-risk", "prosecutor-risk-mean", "journalist-risk", "marketer-risk"),
    "mean-class-size",
)
MOST_SHARES = 6
# What stands for a number that was not measured.
MISSING_SIGN = "–"
ESTIMATORS = {"pitman": "Pitman (Hoshino 2001)", "zayatz": "Zayatz (1991)", "snb": "SNB (Chen and McNulty 1998)"}
INDIVIDUAL = {
    "people expected to be found": ("expected",),
    "share of people expected to be found": ("share",),
    "highest risk of a row": ("highest",),
    "share of rows above 20 %": ("above",),
}
OF_UNITS = {"households": "households expected to be found"}
SPECIAL = {
    "rows_alone": "rows that all columns single out",
    "special_uniques": "rows that fewer columns single out",
    "dis_highest": "highest chance that a match is right (DIS-SUDA)",
}
# What stands for a missing value among those of a column.
MISSING = "(missing)"
# An attack whose success is a share of descriptions, not of people.
OF_DESCRIPTIONS = "singling-out"
# Who made a release of which nobody says how it was made.
PUBLISHER = "the publisher"
# What stands for any value.
ALL = "*"


def table_document(dossier: JsonView, *, language: str = "en") -> Document:
    """Write the internal pages of a dossier; everything on them was counted again on the released rows."""
    document = new_document(dossier, language)
    found = dossier["results"]
    known = [name for name, role in found["roles"].items() if role == "quasi-identifier"]
    add_decision(document, dossier)
    add_pictures(document, dossier)
    document.folded("What was measured")
    _released(document, found, found["before"]["rows"])
    if found.get("drawn") is None:
        _counted(document, found, found["after"]["k"], ", ".join(known))
    _given_away(document, found)
    if found["loss"] is not None:
        document.paragraph(
            "The release lost {loss} of its detail by {name}, where 0 is nothing and 1 is all.",
            loss=found["loss"],
            name=document.say(found["loss_name"]) if found.get("loss_name") else "–",
        )
    _done(document, found)
    _promises(document, found, dossier["bounds"])
    if found.get("drawn") is None:
        _classes(document, found)
        _risks(document, found)
    add_attacks(document, found["attacks"])
    add_not_tried(document, found)
    _use(document, found)
    _left_out(document, found)
    add_frameworks(document, dossier)
    add_hashes(document, all_hashes(dossier), dossier)
    return document


def _released(document: Document, found: JsonView, n_rows: int) -> None:
    """State how many rows are released, by whom, and what else is."""
    released = found["profile"]["released"]
    numbers = {"released": released, "rows": n_rows, "left": n_rows - released}
    if (drawn := found.get("drawn")) is not None:
        document.paragraph(
            "{released} rows of nobody are released, drawn by {method} from a model of the original's {rows} rows.",
            **numbers,
            method=document.say(found["chosen"]),
        )
        if "epsilon" in drawn:
            document.paragraph(
                "Promised: (ε, δ)-differential privacy with ε = {epsilon} and δ = {delta}. Protected are {protects}: "
                "with one of them or without, no release is more than e^ε times as likely, but for a chance of δ.",
                epsilon=f"{drawn['epsilon']:g}",
                delta=f"{drawn['delta']:g}",
                protects=drawn["protects"],
            )
    elif found.get("copies"):
        document.paragraph(
            "{released} rows are released beside an original of {rows}, made by {method}. Nobody said whose they are, "
            "so no row is taken for anybody's, as in synthetic data; what has to know it was not measured.",
            **numbers,
            method=document.say(found["chosen"]),
        )
    if copies := found.get("copies"):
        document.paragraph(
            "{n} released rows are equal to a row of the original in all {columns} columns that both have, {alone} of "
            "them to a row that is the only one of its kind.",
            n=copies["rows"],
            columns=copies["columns"],
            alone=copies["alone"],
        )
    elif drawn is None and found["chosen"] == PUBLISHER:
        document.paragraph(
            "{released} of {rows} rows are released, anonymized by {method}; {left} are left out.",
            **numbers,
            method=document.say(PUBLISHER),
        )
    elif drawn is None:
        # A share such as 0.1 is not exact in binary.
        people = found["before"].get("people")
        most = int((found.get("may_suppress") or 0) * (people or n_rows) + 1e-9)
        document.paragraph(
            "{released} of {rows} rows are released, anonymized by {method}. Left out are {left} rows, all columns "
            "without a role, and all that identify people.",
            **numbers,
            method=document.say(found["chosen"]),
        )
        if most:
            said = "Rows of at most {most} people could be left out." if people else "At most {most} rows could be."
            document.paragraph(said, most=most)
    if found["chosen"] == PUBLISHER:
        others = [
            name for name, role in found["roles"].items() if role == "other" and name in found["profile"]["columns"]
        ]
        if others:
            document.paragraph(
                "Released without a role: {columns}. Whether they lead to people was not measured.",
                columns=", ".join(others),
            )
        if found.get("added"):
            document.paragraph(
                "Released, and not in the original: {columns}. Numbers of rows tell whose each is.",
                columns=", ".join(found["added"]),
            )


def _counted(document: Document, found: JsonView, k: int, known: str) -> None:
    """State what k counts: rows, or people or households where it is known whose each row is."""
    after = found["after"]
    counted = {"k": k, "known": known, "others": k - 1, "alone": found["before"]["unique"]}
    if "unit" not in after:
        document.paragraph(
            "Counted: k = {k}. Every released row shares what others may know ({known}) with {others} other rows or "
            "more; in the original, {alone} rows shared it with no other.",
            **counted,
        )
        if "several_rows" in found["before"]:
            said = found["before"]["several_rows"]
            note = document.tell(from_json(said) if isinstance(said, dict) else said)
            document.paragraph("People may have several rows, and k counts rows: {note}", note=note)
        if "suppressed_cells" in after:
            said = after["suppressed_cells"]["said"]
            document.paragraph(document.tell(from_json(said) if isinstance(said, dict) else said))
        return
    people = document.say(after["unit"])
    document.paragraph(
        "Counted: k = {k}, of {people}: {n} have rows in the release. Every released row shares what others may know "
        "({known}) with rows of {others} others or more; in the original, {alone} combinations were of one alone.",
        **counted,
        people=people,
        n=after["people"],
    )
    document.paragraph(
        "Who has more rows than others is likelier found by them: of the rows that look alike, up to {share} are of "
        "one and the same.",
        share=f"{after['largest_share_of_one']:.1%}",
    )


def _given_away(document: Document, found: JsonView) -> None:
    """State which values of people are released: columns kept anyway, ends of tight ranges, what a method writes."""
    for one in found.get("kept_anyway", []):
        why = document.tell(from_json(one["why"]) if isinstance(one["why"], dict) else one["why"])
        form = "Released as it is although it may lead to people: {column} ({why}). Somebody decided that."
        document.paragraph(form, column=one["column"], why=why)
    if found.get("ranges") == "tight":
        document.paragraph(
            "Ranges of numbers are tight: both ends of each are values of people in the group, so that some of them "
            "can be singled out. The option ranges=grid hides the ends."
        )
    if found.get("gives_away"):
        document.paragraph(found["gives_away"])
    for attack in found["attacks"]:
        if attack["attack"] == OF_DESCRIPTIONS and "success" in attack["scores"]:
            score = attack["scores"]["success"]
            document.paragraph(
                "Attacked: {share} of the descriptions that {attack} drew from the release fit one row of the "
                "original, where {blind} of descriptions drawn blindly do.",
                share=f"{score['value']:.1%}",
                attack=attack_words(document, attack),
                blind="–" if score.get("baseline") is None else f"{score['baseline']:.1%}",
            )


def _done(document: Document, found: JsonView) -> None:
    document.folded("What was done")
    add_preparations(document, found.get("prepared", []))
    rows = []
    for name, role in found["roles"].items():
        became = found["profile"]["columns"].get(name)
        level = (found.get("levels") or {}).get(name)
        is_changed = role == "quasi-identifier" and level != 0
        word = "generalized"
        if found["chosen"] == PUBLISHER and became is not None:
            is_changed, word = became["before"] != became["after"], "changed"
        if found.get("drawn") is not None:
            is_changed, word = True, "drawn anew"
        said = "not released" if became is None else word if is_changed else "released as it was"
        rows.append([name, document.say(role), document.say(said), "–" if level is None else level])
    document.table(["column", "role", "what became of it", "level"], rows, "The columns and what became of them.")
    if found["methods"]:
        ways = [
            [document.say(one["method"]), one.get("loss"), one.get("k"), one.get("error", "")]
            for one in found["methods"]
        ]
        head = ["method", "loss", "k", "why not"]
        document.table(head, ways, "The methods that were tried; the least loss was taken.")


def _promises(document: Document, found: JsonView, bounds: list[JsonView]) -> None:
    document.folded("What it promises, recounted")
    add_bounds(document, found["after"]["requirements"], bounds)
    if found.get("not_checked"):
        document.paragraph("Asked for, and not checked: {models}.", models="; ".join(found["not_checked"]))


def _classes(document: Document, found: JsonView) -> None:
    document.folded("How large classes are")
    sizes = found["profile"]["class_sizes"]
    labels = sorted({*sizes["before"], *sizes["after"]}, key=lambda label: int(label.split("-")[0]))
    rows = [[label, sizes["before"].get(label, 0), sizes["after"].get(label, 0)] for label in labels]
    document.table(
        ["class size", "rows before", "rows after"], rows, "Rows by the size of their class, before and after."
    )


def _risks(document: Document, found: JsonView) -> None:
    document.folded("Who is at risk")
    before, after = (found[side]["measures"]["classes"] for side in ("before", "after"))
    told = [name for name in RISKS if name in before and name in after]
    rows = [[document.say(name), before[name]["value"], after[name]["value"]] for name in told]
    document.table(["measure", "before", "after"], rows, "Risks: prosecutor, journalist and marketer.")
    _risk_of_sample(document, found["profile"])
    if found["profile"]["riskiest"]:
        people = document.say(found["after"].get("unit", "rows"))
        document.table(
            ["group", "what makes it small", people, "risk"],
            [_group(document, one) for one in found["profile"]["riskiest"]],
            "The smallest groups of the release, each with the column without which it would be largest.",
        )


def _group(document: Document, one: JsonView) -> list[object]:
    """Cells of a small group: the values that say anything, and the one that makes it small."""
    told = [f"{name} {_label(document, MISSING if value is None else value)}" for name, value in one["values"].items()]
    said = [text for text, value in zip(told, one["values"].values(), strict=True) if value != ALL]
    small = document.say("several columns")
    if one["by"]:
        small = document.say("{column}: {n} without it", column=one["by"], n=one["without"])
    return [", ".join(said) or "–", small, one["class"], one["risk"]]


def _risk_of_sample(document: Document, profile: JsonView) -> None:
    """Show what the rows say as a sample of more people: who is alone among these, and the risk of each row."""
    alone, sides = profile.get("population_uniques"), profile.get("sample") or {}
    before, after = sides.get("before", {}), sides.get("after", {})
    if alone:
        document.paragraph(
            "Of a population of {n} people, {before} are estimated to be alone by the original's columns and {after} "
            "by the release's.",
            **{name: MISSING_SIGN if alone[name] is None else alone[name] for name in ("n", "before", "after")},
        )
    elif not sides:
        document.paragraph(
            "How many are alone in the whole population was not estimated: neither its size nor sampling weights are "
            "in the job."
        )
    estimated = [one.get("population_uniques") for one in (before, after)]
    if estimated[0]:
        document.table(
            ["estimator", "before", "after"],
            [
                [document.say(ESTIMATORS[name]), *(_estimate(document, one, name) for one in estimated)]
                for name in ESTIMATORS
            ],
            "People who are alone in the population, by each estimator; the sentence above takes the one that the rule "
            "of Dankar et al. (2012) chooses.",
        )
    risks = [one.get("individual_risk") for one in (before, after)]
    if risks[0]:
        rows = [[document.say(label), *(_of_side(one, *path) for one in risks)] for label, path in INDIVIDUAL.items()]
        rows += [
            [document.say(label), *(_of_side(one, unit, "expected") for one in risks)]
            for unit, label in OF_UNITS.items()
            if unit in risks[0]
        ]
        document.table(
            ["measure", "before", "after"],
            rows,
            "Individual risk by sampling weights (Benedetti and Franconi 1998); it says too little where most rows are "
            "alone.",
        )
    special = [one.get("special_uniques") for one in (before, after)]
    if special[0]:
        rows = [[document.say(label), *(_of_side(one, name) for one in special)] for name, label in SPECIAL.items()]
        document.table(
            ["measure", "before", "after"], rows, "Rows that few columns single out, in sets of up to three (SUDA2)."
        )
        shares = [
            [name, share, _of_side(special[1], "by_column", name)] for name, share in special[0]["by_column"].items()
        ]
        document.table(
            ["column", "before", "after"], shares, "Share of the scores of SUDA2 that each column is part of."
        )


def _of_side(side: Mapping[str, object] | None, *path: str) -> object:
    """Return a number of one side; a sign where it was not measured."""
    value: Any = side
    for name in path:
        value = None if value is None else value.get(name)
    return MISSING_SIGN if value is None else value


def _estimate(document: Document, side: JsonView | None, name: str) -> object:
    """Return how many are alone by an estimator, or that it has no answer."""
    if side is None:
        return MISSING_SIGN
    found = side["estimates"][name]
    return document.say("not estimated") if found is None else round(found["alone"])


def _use(document: Document, found: JsonView) -> None:
    """Show every measure, and of each column how often its commonest released values were and are."""
    document.folded("What use is left")
    add_use(document, found["use"])
    n_rows = max(1, found["profile"]["released"])
    rows = []
    for name, one in found["profile"]["columns"].items():
        before, after = one["before"]["shares"], one["after"]["shares"]
        # A value that fewer than k released rows have may lead to people, even here.
        told = [value for value in list(after)[:MOST_SHARES] if after[value] * n_rows >= found["after"]["k"]]
        shares = [_shares(document, value, before.get(value), after[value]) for value in told]
        rows.append([name, one["before"]["distinct"], one["after"]["distinct"], "; ".join(shares) or "–"])
    head = ["column", "values before", "values after", "shares of rows"]
    document.table(head, rows, "How many values each column has, and the share of rows of its commonest.")


def _shares(document: Document, value: str, before: float | None, after: float) -> str:
    """Share of the rows of a value after, and before where it is not new."""
    told = f"{after:.1%}" if before is None else f"{before:.1%} → {after:.1%}"
    return f"{_label(document, value)} {told}"


def _label(document: Document, value: str) -> str:
    return document.say(value) if value == MISSING else value


def _left_out(document: Document, found: JsonView) -> None:
    document.folded("Who was left out")
    hit = found["profile"]["left_out"]
    if not hit:
        document.paragraph("No small group lost a row.")
        return
    k = found["after"]["k"]
    rows = [[one["column"], one["value"], one["rows"], one["left_out"]] for one in hit if one["rows"] >= k]
    if rows:
        caption = "Small groups of which rows are left out, the hardest hit first."
        document.table(["column", "value", "rows", "left out"], rows, caption)
    if len(rows) < len(hit):
        document.paragraph("Groups of fewer than {k} rows lost rows, too; they are not named here.", k=k)
