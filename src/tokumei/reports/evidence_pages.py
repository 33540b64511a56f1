"""What the pages of every dossier have: the decision, its pictures, attacks, use, frameworks and hashes.

The first page decides: what to do, the reasons that weigh most, the strongest attack, what is lost, who answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tokumei.attacks.registry import NOTHING_TO_FIND, was_tried
from tokumei.core.text import JsonView, from_json
from tokumei.data.context import label_of
from tokumei.reports.figures import bar_figure, frontier_figure, grouped_bar_figure
from tokumei.reports.japanese import OF_DOSSIERS, SENTENCES
from tokumei.reports.page import Document

# More columns than this are read more easily in a table.
MOST_DRAWN = 8
DRAWN_RISKS = {
    "prosecutor-risk": "highest risk",
    "prosecutor-risk-mean": "average risk",
    "uniques": "share of rows that are alone",
}
REFUSE = "Do not release."
INTERNAL = "Internal document: parts of it lead to people. Do not hand it over."
PUBLIC = "Public document: nothing in it leads to a person."
# In a sentence these values are words; others are names of columns, numbers, and what people wrote.
WORDS = ("attack", "who", "of", "why", "harm", "score", "family", "model", "unit", "method", "requirement")


def new_document(dossier: JsonView, language: str) -> Document:
    """Start the report of a dossier in a language: en or ja."""
    document = Document("", language)
    if language == "ja":
        document.words, document.forms = OF_DOSSIERS, SENTENCES
    document.title = document.say("Report on the release of {name}", name=dossier["job"])
    document.mark = document.say(PUBLIC if dossier.get("document") == "public" else INTERNAL)
    return document


def sentence(document: Document, one: JsonView) -> str:
    """Say a sentence of the evidence in the language of the document, with what stands in it."""
    values = dict(one["values"])
    for name in WORDS:
        if isinstance(values.get(name), str):
            values[name] = document.say(values[name])
    if values.get("column") is not None and "{column}" not in one["said"]:
        values["attack"] = attack_words(document, {"attack": one["values"]["attack"], "sensitive": values["column"]})
    if "fields" in values:
        separator = "、" if document.language == "ja" else ", "
        values["fields"] = separator.join(document.tell(label_of(name)) for name in values["fields"])
    return document.say(one["said"], **values)


def add_decision(document: Document, dossier: JsonView) -> None:
    """Add the first page: what to do, why, the strongest attack, what is lost, and who answers."""
    decision, found = dossier["decision"], dossier["results"]
    document.heading(decision["outcome"])
    stated = dossier["context"]
    missing = document.say("not stated")
    document.paragraph(
        "{name}: {released} of {rows} rows, for {recipient}, to be used for {purpose}; environment: {environment}.",
        name=dossier["job"],
        released=found["profile"]["released"] if "profile" in found else found["released"],
        rows=found["before"]["rows"] if "before" in found else found["rows"],
        recipient=stated.get("recipient", missing),
        purpose=stated.get("purpose", missing),
        environment=document.tell(stated["environment"]) if "environment" in stated else missing,
    )
    document.items([sentence(document, one) for one in decision["reasons"]])
    _strongest(document, decision["strongest"])
    document.paragraph(
        "{reviewer} answers for the release, until {until}; next review: {review}.",
        reviewer=dossier["reviewer"] or document.say("Nobody who is named"),
        until=dossier["expires"] or document.say("further notice"),
        review=stated.get("review_on", missing),
    )
    _lost(document, found)
    if decision["conditions"] and decision["outcome"] != REFUSE:
        document.heading("Conditions")
        document.items([sentence(document, one) for one in decision["conditions"]])


def _strongest(document: Document, strongest: JsonView | None) -> None:
    if strongest is None:
        document.paragraph(
            "No attack on people found anything that it could try, so nothing is known of who could be found."
        )
        return
    document.paragraph(sentence(document, strongest))
    if strongest["values"]["knows"]:
        known = attacker_words(document, {"threat": strongest["values"]["who"], "known": strongest["values"]["knows"]})
        document.paragraph("Who attacks, and what they know: {known}.", known=known)


def _lost(document: Document, found: JsonView) -> None:
    """Draw what is lost: how many different values each column of a table has, or the losses of a history."""
    columns = distinct_values(found)
    if columns:
        points = [(name, side, n) for name, sides in columns.items() for side, n in sides.items()]
        drawn = pl.DataFrame(
            {
                "group": [name for name, _, _ in points],
                "series": [document.say(side) for _, side, _ in points],
                "value": [float(n) for _, _, n in points],
            }
        )
        y_title = document.say("different values")
        svg = grouped_bar_figure(drawn, x_title="", y_title=y_title, is_log=True)
        document.figure(svg, "What is lost: how many different values each column has.")
        return
    losses = _losses(found)
    if losses:
        document.figure(_drawn_losses(document, losses), "What is lost.")


def _drawn_losses(document: Document, losses: Mapping[str, float]) -> str:
    points = pl.DataFrame({"name": [document.say(name) for name in losses], "lost": list(losses.values())})
    return bar_figure(points, x="lost", y="name", x_title=document.say("share lost"))


def distinct_values(found: JsonView) -> dict[str, dict[str, int]]:
    """Return how many different values each column has before and after."""
    if "columns" in found:
        return dict(list(found["columns"].items())[:MOST_DRAWN])
    listed = list(found.get("profile", {}).get("columns", {}).items())[:MOST_DRAWN]
    return {name: {side: one[side]["distinct"] for side in ("before", "after")} for name, one in listed}


def _losses(found: JsonView) -> dict[str, float]:
    """Return the measures that go from 0, nothing lost, to 1, all lost."""
    return {
        name: float(one["value"])
        for name, one in found["use"]["scores"].items()
        if (one["best"], one["worst"]) == (0, 1) and one["value"] is not None
    }


def add_pictures(document: Document, dossier: JsonView) -> None:
    """Add a picture of the risk before and after, one of use, and one of the trade-off between them."""
    found = dossier["results"]
    risks = found.get("risks") or {
        side: {name: one["value"] for name, one in found[side]["measures"]["classes"].items()}
        for side in ("before", "after")
        if side in found
    }
    losses = _losses(found)
    document.heading("Risk, use, and the trade-off")
    if risks:
        drawn = [(name, side) for name in DRAWN_RISKS for side in ("before", "after") if name in risks[side]]
        points = pl.DataFrame(
            {
                "group": [document.say(DRAWN_RISKS[name]) for name, _ in drawn],
                "series": [document.say(side) for _, side in drawn],
                "value": [float(risks[side][name]) for name, side in drawn],
            }
        )
        document.figure(
            grouped_bar_figure(points, x_title="", y_title=document.say("chance")), "Risk before and after."
        )
    else:
        _attacks_drawn(document, found)
    if losses:
        said = "Use: what each measure says is lost, where 0 is nothing and 1 is all."
        document.figure(_drawn_losses(document, losses), said)
    after = risks["after"].get("prosecutor-risk") if risks else None
    if after is not None and found.get("loss") is not None:
        before = float(risks["before"].get("prosecutor-risk", 1.0))
        points = pl.DataFrame({"x": [0.0, float(found["loss"])], "y": [before, float(after)], "best": [True, True]})
        svg = frontier_figure(
            points,
            x="x",
            y="y",
            is_best="best",
            x_title=document.say("detail lost"),
            y_title=document.say("highest risk"),
        )
        document.figure(svg, "The trade-off: the original on the left, the release where the line ends.")
    else:
        document.paragraph("The trade-off is not drawn: it needs a loss of detail and a risk that were both measured.")


def _attacks_drawn(document: Document, found: JsonView) -> None:
    """Draw of a history what attacks find beside blind guessing."""
    drawn = [
        (attack_words(document, one), side, float(score[key]))
        for one in found["attacks"]
        for score in [one["scores"].get("found")]
        if score is not None
        for side, key in (("found", "value"), ("blindly", "baseline"))
        if score.get(key) is not None
    ]
    if drawn:
        points = pl.DataFrame(
            {
                "group": [name for name, _, _ in drawn],
                "series": [document.say(side) for _, side, _ in drawn],
                "value": [value for _, _, value in drawn],
            }
        )
        svg = grouped_bar_figure(points, x_title="", y_title=document.say("chance"))
        document.figure(svg, "What attacks find, and what blind guessing does.")


def add_preparations(document: Document, prepared: Sequence[Mapping[str, str]]) -> None:
    """Report what was done to single columns first, where anything was."""
    if prepared:
        rows = [[one["column"], document.say(one["by"])] for one in prepared]
        caption = "Changed first; everything below compares with the columns after that."
        document.table(["column", "what was done first"], rows, caption)


def add_bounds(document: Document, promised: Sequence[JsonView], bounds: Sequence[JsonView]) -> None:
    """Add what was promised and what must hold, with the number that was counted."""
    stated = [(one["requirement"], one) for one in promised] + [(bound_words(document, one), one) for one in bounds]
    rows = [[what, _whole(one["value"]), document.say("holds" if one["holds"] else "fails")] for what, one in stated]
    document.table(["promise or bound", "value", "holds"], rows, "Recounted on the rows that were written.")


def bound_words(document: Document, bound: JsonView) -> str:
    """Describe a bound in the language of the document."""
    ends = [("{of} at least {end}", bound["least"]), ("{of} at most {end}", bound["most"])]
    name = document.say(bound["of"])
    return "; ".join(document.say(text, of=name, end=f"{end:g}") for text, end in ends if end is not None)


def _whole(value: Any) -> Any:
    """Return a count without a fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def add_attacks(document: Document, attacks: Sequence[JsonView]) -> None:
    """Add every attack with its interval, what blind guessing scores, and the control group."""
    document.heading("Who is found by attacks")
    rows = []
    for attack in attacks:
        title = attack_words(document, attack)
        for kind, score in attack["scores"].items():
            low, high = score.get("interval") or (None, None)
            span = "–" if low is None else f"{low:.3g} – {high:.3g}"
            numbers = [score["value"], span, score.get("baseline"), score.get("control")]
            if not was_tried(score):
                numbers = [document.say(NOTHING_TO_FIND), None, None, None]
            rows.append([attacker_words(document, attack), f"{title}: {document.say(kind)}", *numbers])
    head = ["who, and what they know", "attack", "found", "95 % interval", "blindly", "control"]
    document.table(head, rows, "Shares of people; a dash where there is no such number.")


def attacker_words(document: Document, attack: JsonView) -> str:
    """Describe the attacker's knowledge: columns of a table, a share of all purchases, or nothing."""
    known = attack["known"]
    if known == []:
        return document.say("{who}, who has the release alone", who=document.say(attack["threat"]))
    if isinstance(known, (int, float)):
        return document.say(
            "{who}, who knows {share} of the purchases", who=document.say(attack["threat"]), share=f"{known:.0%}"
        )
    return f"{document.say(attack['threat'])} ({', '.join(known)})"


def attack_words(document: Document, attack: JsonView) -> str:
    """Name an attack in the language of the document, with the column it learned where that is one of several."""
    name = document.say(attack["attack"])
    column = attack.get("sensitive")
    return name if column is None else document.say("{attack} of {column}", attack=name, column=column)


def add_use(document: Document, use: JsonView) -> None:
    """Add every measure of what use is left, and those that could not be taken."""
    add_scores(document, use)
    if use.get("left_out"):
        told = {name: from_json(one) for name, one in use.get("reasons", {}).items() if isinstance(one, dict)}
        rows = [[document.say(name), document.tell(told.get(name, why))] for name, why in use["left_out"].items()]
        document.table(["measure", "why not"], rows, "Not measured, so neither good nor bad.")


def add_scores(document: Document, use: JsonView) -> None:
    """Add every measure of what use is left."""
    rows = [[document.say(name), one["value"], one["best"], one["worst"]] for name, one in use["scores"].items()]
    document.table(["measure", "value", "best", "worst"], rows, "Every measure that the columns allow.")


def add_frameworks(document: Document, dossier: JsonView) -> None:
    """Add a page for each framework."""
    document.heading("Evidence by framework")
    document.paragraph(
        "These pages gather evidence; they are no legal advice. A clause is met or not met only where a number is held "
        "against a bound that the job or the text states; what people state is theirs to answer for. Somebody who is "
        "found with certainty is one too many, whatever the bound. Pages of {version}; day on which the law was last "
        "read: {day}.",
        version=dossier["frameworks_of"],
        day=dossier["context"].get("law_as_of", document.say("not stated")),
    )
    if dossier.get("document") != "public":
        document.paragraph("A number is computed again by: tokumei verify dossier.json --clause ID")
    for part in dossier["frameworks"]:
        document.heading(part["title"])
        document.paragraph(part["source"])
        rows = [_clause(document, one) for one in part["clauses"]]
        document.table(["ID", "clause", "what it asks", "verdict", "evidence"], rows, "The clauses.")
        for draft in part["drafts"]:
            document.paragraph(draft)


def _clause(document: Document, one: JsonView) -> list[str]:
    """Cells of one clause."""
    verdict = document.say(one["verdict"])
    if one["outcome"] is not None:
        verdict += document.say(": {outcome}", outcome=document.say(one["outcome"]))
    evidence = sentence(document, one)
    figure = one["figure"]
    if figure is not None and figure["bound"] is not None:
        said = (
            "{evidence} (at least {bound} was asked)" if figure["least"] else "{evidence} (at most {bound} was asked)"
        )
        evidence = document.say(said, evidence=evidence, bound=f"{figure['bound']:.3g}")
    if one["verdict"] == "open":
        label = document.tell(label_of(one["field"]))
        evidence = document.say("Yours: {field}. {why}", field=label, why=evidence)
    asks = document.say(one["asks"]) + (f" ({document.say(one['who'])})" if one["who"] else "")
    return [one["id"], f"{document.say(one['number'])} {document.say(one['title'])}", asks, verdict, evidence]


def add_hashes(document: Document, listed: Mapping[str, Mapping[str, str]], dossier: JsonView) -> None:
    """Add the hashes by which all files can be recognized, and by what the dossier was made."""
    document.heading("Evidence")
    rows = [[document.say(what), name, value] for what, files in listed.items() for name, value in files.items()]
    document.table(["what", "file", "SHA-256"], rows, "Hashes by which each file can be recognized.")
    versions = ", ".join(f"{name} {value}" for name, value in dossier["versions"].items())
    document.paragraph("Made on {date} by {versions}; the seed is kept apart.", date=dossier["date"], versions=versions)


def all_hashes(dossier: JsonView) -> dict[str, Mapping[str, str]]:
    """Return the hashes of what went in, what is handed over and what is kept apart."""
    source = {dossier["input"]["file"]: dossier["input"]["sha256"]}
    return {"input": source, "handed over": dossier["files"], "kept apart": dossier["kept_apart"]}
