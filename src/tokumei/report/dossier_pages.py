"""The pages of a dossier on a table: what was done, what it promises, who is at risk, what use is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from tokumei.report.document import Document
from tokumei.report.dossier_words import JAPANESE
from tokumei.report.figures import bar_figure

RISKS = (
    *("k-anonymity", "uniques", "prosecutor-risk", "prosecutor-risk-mean", "journalist-risk", "marketer-risk"),
    "mean-class-size",
)
MOST_SHARES = 6


def table_document(dossier: Mapping[str, Any], *, language: str = "en") -> Document:
    """Write the pages of a dossier; everything on them was counted again on the released rows."""
    words = JAPANESE if language == "ja" else {}
    document = Document("", language, words)
    document.title = document.say("Report on the release of {name}", name=dossier["job"])
    found = dossier["results"]
    _first_page(document, dossier, found)
    _done(document, found)
    _promises(document, found, dossier["bounds"])
    _classes(document, found)
    _risks(document, found)
    _attacks(document, found)
    _use(document, found)
    _left_out(document, found)
    for part in dossier.get("legal", []):
        _legal(document, part)
    _evidence(document, dossier)
    return document


def _first_page(document: Document, dossier: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Say in five sentences what the person who decides has to know."""
    n_rows, k = found["before"]["rows"], found["after"]["k"]
    known = [name for name, role in found["roles"].items() if role == "quasi-identifier"]
    document.heading("For the person who decides")
    document.paragraph(
        "{released} of {rows} rows are released, anonymized by {method}; {left} are left out, and so are all columns "
        "without a role and all that identify people.",
        released=found["profile"]["released"],
        rows=n_rows,
        method=found["chosen"],
        left=n_rows - found["profile"]["released"],
    )
    document.paragraph(
        "By what others may know ({known}), nobody can be told from fewer than {others} others in the release; before, "
        "{alone} rows were alone.",
        known=", ".join(known),
        others=k - 1,
        alone=found["before"]["unique"],
    )
    scores = [(a, kind, s) for a in found["attacks"] for kind, s in a["scores"].items() if kind == "success"]
    if scores:
        attack, _, score = max(scores, key=lambda one: one[2]["value"])
        document.paragraph(
            "The strongest attack that was tried ({attack}, by {who}) is right for {share} of "
            "people, where blind guessing "
            "is for {blind}.",
            attack=_attack_words(document, attack),
            who=attack["threat"],
            share=f"{score['value']:.1%}",
            blind="–" if score.get("baseline") is None else f"{score['baseline']:.1%}",
        )
    else:
        document.paragraph("No attack was tried, so nothing is known of who could be found.")
    document.paragraph(
        "The release lost {loss} of its detail by {name}, where 0 is nothing and 1 is all.",
        loss=found["loss"],
        name=found.get("loss_name"),
    )
    failed = [one["bound"] for one in dossier["bounds"] if not one["holds"]]
    document.paragraph(
        "Not all bounds hold: {failed}."
        if failed
        else "All {n} bounds that were set hold; {reviewer} decides, until {until}.",
        failed="; ".join(failed),
        n=len(dossier["bounds"]),
        reviewer=dossier.get("reviewer") or document.say("the reviewer (not named)"),
        until=dossier.get("expires") or document.say("further notice"),
    )


def _done(document: Document, found: Mapping[str, Any]) -> None:
    document.heading("What was done")
    rows = []
    for name, role in found["roles"].items():
        became = found["profile"]["columns"].get(name)
        level = (found.get("levels") or {}).get(name)
        said = (
            "not released" if became is None else "generalized" if role == "quasi-identifier" else "released as it was"
        )
        rows.append([name, role, said, "–" if level is None else level])
    document.table(["column", "role", "what became of it", "level"], rows, "The columns and what became of them.")
    ways = [[one["method"], one.get("loss"), one.get("k"), one.get("error", "")] for one in found["methods"]]
    document.table(["method", "loss", "k", "why not"], ways, "The methods that were tried; the least loss was taken.")


def _promises(document: Document, found: Mapping[str, Any], bounds: list[Mapping[str, Any]]) -> None:
    document.heading("What it promises, recounted")
    rows = [
        [one["requirement"], one["value"], "holds" if one["holds"] else "fails"]
        for one in found["after"]["requirements"]
    ]
    rows += [[one["bound"], one["value"], "holds" if one["holds"] else "fails"] for one in bounds]
    document.table(["promise or bound", "value", "holds"], rows, "Recounted on the rows that were written.")


def _classes(document: Document, found: Mapping[str, Any]) -> None:
    document.heading("How large classes are")
    sizes = found["profile"]["class_sizes"]
    labels = sorted({*sizes["before"], *sizes["after"]}, key=lambda label: int(label.split("-")[0]))
    if sizes["after"]:
        points = pl.DataFrame({"size": list(sizes["after"]), "rows": list(sizes["after"].values())})
        title = document.say("rows in classes of that size")
        document.figure(bar_figure(points, x="rows", y="size", x_title=title), "Rows by the size of their class.")
    rows = [[label, sizes["before"].get(label, 0), sizes["after"].get(label, 0)] for label in labels]
    document.table(
        ["class size", "rows before", "rows after"], rows, "Rows by the size of their class, before and after."
    )


def _risks(document: Document, found: Mapping[str, Any]) -> None:
    document.heading("Who is at risk")
    before, after = (found[side]["measures"]["classes"] for side in ("before", "after"))
    rows = [[name, before[name]["value"], after[name]["value"]] for name in RISKS if name in before and name in after]
    document.table(["measure", "before", "after"], rows, "Risks: prosecutor, journalist and marketer.")
    estimated = found["profile"].get("population_uniques")
    if estimated:
        document.paragraph(
            "Of a population of {n} people, {before} are estimated to be alone by the original's "
            "columns and {after} by the "
            "release's (Pitman's model, Hoshino 2001).",
            **estimated,
        )
    else:
        document.paragraph("How many are alone in the whole population was not estimated: its size is not in the job.")
    document.table(
        ["row of the original", "rows in its class", "risk"],
        [[str(one["row"]), one["class"], one["risk"]] for one in found["profile"]["riskiest"]],
        "The riskiest records that remain. This page leads to people, so keep it to yourself.",
    )


def _attacks(document: Document, found: Mapping[str, Any]) -> None:
    document.heading("Who is found by attacks")
    rows = []
    for attack in found["attacks"]:
        title = _attack_words(document, attack)
        for kind, score in attack["scores"].items():
            low, high = score.get("interval") or (None, None)
            span = "–" if low is None else f"{low:.3g} – {high:.3g}"
            who = f"{attack['threat']} ({', '.join(attack['known'])})"
            rows.append(
                [
                    who,
                    f"{title}, {document.say(kind)}",
                    score["value"],
                    span,
                    score.get("baseline"),
                    score.get("control"),
                ]
            )
    head = ["who, and what they know", "attack", "found", "95 % interval", "blindly", "control"]
    document.table(head, rows, "Shares of people; a dash where there is no such number.")


def _attack_words(document: Document, attack: Mapping[str, Any]) -> str:
    """Name an attack in the language of the document, with the column it learned where that is one of several."""
    name = document.say(attack["attack"])
    column = attack.get("sensitive")
    return name if column is None else document.say("{attack} of {column}", attack=name, column=column)


def _use(document: Document, found: Mapping[str, Any]) -> None:
    document.heading("What use is left")
    rows = [[name, one["value"], one["best"], one["worst"]] for name, one in found["use"]["scores"].items()]
    document.table(["measure", "value", "best", "worst"], rows, "Every measure that the columns allow.")
    for name, one in found["profile"]["columns"].items():
        before, after = one["before"]["shares"], one["after"]["shares"]
        values = list(dict.fromkeys([*list(before)[:MOST_SHARES], *list(after)[:MOST_SHARES]]))
        listed = [[value, before.get(value, 0.0), after.get(value, 0.0)] for value in values]
        document.table([name, "share before", "share after"], listed, "The commonest values before and after.")


def _left_out(document: Document, found: Mapping[str, Any]) -> None:
    document.heading("Who was left out")
    hit = found["profile"]["left_out"]
    if not hit:
        document.paragraph("No small group lost a row.")
        return
    rows = [[one["column"], one["value"], one["rows"], one["left_out"]] for one in hit]
    document.table(
        ["column", "value", "rows", "left out"], rows, "Small groups of which rows are left out, the hardest hit first."
    )


def _legal(document: Document, part: Mapping[str, Any]) -> None:
    document.heading(part["title"])
    document.paragraph("This page gathers evidence; it is no legal advice.")
    rows = [[one["article"], one["item"], one["finding"], one["evidence"]] for one in part["items"]]
    document.table(["article", "what it asks", "finding", "evidence"], rows, "Met, not met, or yours to judge.")
    for draft in part.get("drafts", []):
        document.paragraph(draft)


def _evidence(document: Document, dossier: Mapping[str, Any]) -> None:
    document.heading("Evidence")
    rows = [["input", dossier["input"]["file"], dossier["input"]["sha256"]]]
    rows += [["handed over", name, value] for name, value in dossier["files"].items()]
    rows += [["kept apart", name, value] for name, value in dossier["kept_apart"].items()]
    document.table(["what", "file", "SHA-256"], rows, "Hashes by which each file can be recognized.")
    versions = ", ".join(f"{name} {value}" for name, value in dossier["versions"].items())
    document.paragraph("Made on {date} by {versions}; the seed is kept apart.", date=dossier["date"], versions=versions)
