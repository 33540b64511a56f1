"""What the pages of every dossier have: the decision, its pictures, attacks, use, and hashes.

The first page decides: what to do, the reasons that weigh most, the strongest attack, what is lost, who answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from tokumei.attacks.registry import NOTHING_TO_FIND, was_tried
from tokumei.core.text import JsonView, Text, from_json
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
CONDITIONS = "Release under these conditions."
# Columns that are named on the first page.
MOST_NAMED = 10
SIDES = ("before", "after")
# What attacks need that only the publisher can give, by the names of their parts.
LACKS = {
    "sensitive": "a sensitive column",
    "earlier": "an earlier release of the same people",
    "population": "a list of the population",
    "control": "people who are not in the release",
}
WHERE = {
    "public": "Anybody may receive it.",
    "contract": "It is used under a contract.",
    "enclave": "It is used in an enclave that the publisher controls.",
}
INTERNAL = "Internal document: parts of it lead to people. Do not hand it over."
PUBLIC = "Public document: it holds no row and no value of a person."
# In a sentence these values are words; others are names of columns, numbers, and what people wrote.
WORDS = ("attack", "who", "of", "why", "harm", "score", "family", "model", "unit", "method", "requirement", "things")


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
    """Add the first page: what to do and why, what was released, to whom, how safe, how useful, and who answers."""
    decision, found, stated = dossier["decision"], dossier["results"], dossier["context"]
    document.heading(decision["outcome"])
    document.items(why_so(document, decision))
    document.facts(
        {
            "What": _joined(document, _what(document, dossier)),
            "To whom": _joined(document, _to_whom(document, stated)),
            "How safe": _joined(document, _how_safe(document, decision["strongest"], found)),
            "How useful": _joined(document, _how_useful(document, found)),
            "Who is responsible": _joined(document, _who_answers(document, dossier)),
        }
    )
    _lost(document, found)


def why_so(document: Document, decision: JsonView) -> list[str]:
    """Say what a decision stands on: its conditions, those that weigh most first, or else its reasons."""
    listed = decision["conditions"] if decision["outcome"] == CONDITIONS else decision["reasons"]
    return [begun(document, sentence(document, one)) for one in listed]


def begun(document: Document, text: str) -> str:
    """Begin an English sentence, whose first word may be an attack, with a capital; in Japanese it may be a column."""
    return text if document.language == "ja" else text[:1].upper() + text[1:]


def _joined(document: Document, sentences: Iterable[str]) -> str:
    return ("" if document.language == "ja" else " ").join(begun(document, one) for one in sentences)


def _what(document: Document, dossier: JsonView) -> Iterator[str]:
    found = dossier["results"]
    released = found["profile"]["released"] if "profile" in found else found["released"]
    rows = found["before"]["rows"] if "before" in found else found["rows"]
    numbers = {"released": released, "rows": rows, "name": dossier["job"]}
    columns = _columns(found)
    if found.get("drawn") is not None:
        yield document.say("{released} rows of nobody, drawn from a model of the {rows} rows of {name}.", **numbers)
    elif columns:
        yield document.say("{released} of {rows} rows of {name}.", **numbers)
    else:
        yield document.say("{released} of {rows} purchases of {name}.", **numbers)
    if found.get("drawn") is None and released < rows:
        yield document.say("{n} were left out.", n=rows - released)
    if columns:
        yield document.say("Columns: {columns}.", columns=listed_names(document, columns))


def _to_whom(document: Document, stated: JsonView) -> Iterator[str]:
    """Say who receives it, for what and where; what nobody stated is said to be so."""
    recipient, purpose = stated.get("recipient"), stated.get("purpose")
    if recipient and purpose:
        yield document.say("To {recipient}, for this purpose: {purpose}.", recipient=recipient, purpose=purpose)
    elif recipient:
        yield document.say("To {recipient}; nobody stated for what.", recipient=recipient)
    elif purpose:
        yield document.say("To be used for {purpose}; nobody stated who receives it.", purpose=purpose)
    else:
        yield document.say("Nobody stated who receives it, or for what.")
    if "environment" in stated:
        yield document.say(WHERE[stated["environment"]])
    elif recipient or purpose:
        yield document.say("Nobody stated where it will be used.")


def _how_safe(document: Document, strongest: JsonView | None, found: JsonView) -> Iterator[str]:
    if strongest is None:
        yield document.say("Not known: no attack on people could be tried.")
    else:
        yield sentence(document, strongest)
        if strongest["values"]["knows"]:
            yield _assumed(document, strongest["values"], _columns(found))
    drawn = found.get("drawn") or {}
    if "epsilon" in drawn:
        yield document.say(
            "Differential privacy with ε = {epsilon} and δ = {delta} is promised.",
            epsilon=f"{drawn['epsilon']:g}",
            delta=f"{drawn.get('delta', 0.0):g}",
        )
    highest = {side: risks["prosecutor-risk"] for side, risks in _risks(found).items() if "prosecutor-risk" in risks}
    if len(highest) == len(SIDES) and found.get("drawn") is None:
        said = "By the size of groups alone nobody is found with a chance above {after} %; before it was {before} %."
        yield document.say(said, **{side: f"{100 * value:.3g}" for side, value in highest.items()})


def _columns(found: JsonView) -> list[str]:
    return list(found.get("columns") or found.get("profile", {}).get("columns", {}))


def _assumed(document: Document, strongest: JsonView, columns: Sequence[str]) -> str:
    """Say what the attacker is assumed to know; columns are not listed again where it is all that are released."""
    who, knows = document.say(strongest["who"]), strongest["knows"]
    if isinstance(knows, (int, float)):
        return document.say("{who} is assumed to know {share} of the purchases.", who=who, share=f"{knows:.0%}")
    if columns and set(columns) <= set(knows):
        return document.say("{who} is assumed to know all {n} released columns.", who=who, n=len(columns))
    return document.say("{who} is assumed to know {columns}.", who=who, columns=listed_names(document, knows))


def _how_useful(document: Document, found: JsonView) -> Iterator[str]:
    """Say how much detail is lost, which columns say nothing any more, and what the measures of use lose."""
    losses = _losses(found)
    if found.get("loss") is not None and found.get("loss_name"):
        lost = {"loss": f"{100 * found['loss']:.3g}", "name": document.say(found["loss_name"])}
        yield document.say("{loss} % of the detail is lost ({name}).", **lost)
    gone = [name for name, sides in _distinct(found).items() if sides["before"] > 1 >= sides["after"]]
    if gone:
        yield document.say("Every row now says the same for {columns}.", columns=listed_names(document, gone))
    if losses:
        most = max(losses, key=lambda name: losses[name])
        told = {"n": len(losses), "measure": document.say(most), "most": f"{100 * losses[most]:.3g}"}
        yield document.say(
            "Of {n} measures of use the worst is {measure}: {most}, where 0 is as in the original and 100 is useless.",
            **told,
        )
    elif found.get("loss") is None:
        yield document.say("Not known: no measure of use could be taken.")


def _who_answers(document: Document, dossier: JsonView) -> Iterator[str]:
    reviewer, until, review = dossier["reviewer"], dossier["expires"], dossier["context"].get("review_on")
    if reviewer and until:
        yield document.say("{reviewer}, until {until}.", reviewer=reviewer, until=until)
    else:
        yield document.say("{reviewer}.", reviewer=reviewer) if reviewer else document.say("Nobody is named.")
    yield (
        document.say("To be judged anew on {review}.", review=review)
        if review
        else document.say("No review is planned.")
    )


def listed_names(document: Document, names: Sequence[str]) -> str:
    """List names of columns, those after the first ten by their number."""
    separator = "、" if document.language == "ja" else ", "
    told = separator.join(names[:MOST_NAMED])
    rest = len(names) - MOST_NAMED
    return told if rest <= 0 else document.say("{columns} and {n} more", columns=told, n=rest)


def _lost(document: Document, found: JsonView) -> None:
    """Draw what is lost: how many different values each column of a table has, or the losses of a history."""
    columns = dict(list(_distinct(found).items())[:MOST_DRAWN])
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
        document.figure(
            svg, "How many different values each column has, before and after; lengths grow with powers of ten."
        )
        return
    losses = _losses(found)
    if losses:
        document.figure(_drawn_losses(document, losses), "What is lost.")


def _drawn_losses(document: Document, losses: Mapping[str, float]) -> str:
    points = pl.DataFrame({"name": [document.say(name) for name in losses], "lost": list(losses.values())})
    return bar_figure(points, x="lost", y="name", x_title=document.say("share lost"))


def _distinct(found: JsonView) -> dict[str, dict[str, int]]:
    """Return how many different values each column has before and after."""
    if "columns" in found:
        return dict(found["columns"])
    listed = found.get("profile", {}).get("columns", {})
    return {name: {side: one[side]["distinct"] for side in SIDES} for name, one in listed.items()}


def _risks(found: JsonView) -> dict[str, dict[str, float]]:
    """Return the risks of the classes on both sides; of a history, and of drawn rows, there are none."""
    if found.get("drawn") is not None:
        return {}
    if "risks" in found:
        return dict(found["risks"])
    return {
        side: {name: one["value"] for name, one in found[side]["measures"]["classes"].items()}
        for side in SIDES
        if side in found
    }


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
    risks = _risks(found)
    losses = _losses(found)
    document.heading("Risk, use, and the trade-off")
    if risks:
        drawn = [(name, side) for name in DRAWN_RISKS for side in SIDES if name in risks[side]]
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
    document.folded("Who is found by attacks")
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
    if not rows:
        document.paragraph("No attack on people was tried.")
        return
    head = ["who, and what they know", "attack", "found", "95 % interval", "blindly", "control"]
    document.table(head, rows, "Shares of people; a dash where there is no such number.")


def add_not_tried(document: Document, found: JsonView) -> None:
    """Add the attacks that were not tried, and what each needs."""
    reasons = {name: from_json(one) if isinstance(one, dict) else one for name, one in found.get("reasons", {}).items()}
    if reasons:
        rows = [
            [document.say(name), document.say("needs {lack}", lack=_lack(document, why))]
            for name, why in reasons.items()
        ]
        document.table(["attack", "why not"], rows, "Not tried, so nothing is known of what they find.")


def _lack(document: Document, why: str) -> str:
    """Say what an attack needs: a sentence, or the names of what was not given."""
    listed = [document.tell(why)] if isinstance(why, Text) else [LACKS.get(one, one) for one in why.split(" and ")]
    return (" と " if document.language == "ja" else " and ").join(document.say(one) for one in listed)


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


def add_hashes(document: Document, listed: Mapping[str, Mapping[str, str]], dossier: JsonView) -> None:
    """Add the hashes by which all files can be recognized, and by what the dossier was made."""
    document.folded("Evidence")
    rows = [[document.say(what), name, value] for what, files in listed.items() for name, value in files.items()]
    document.table(["what", "file", "SHA-256"], rows, "Hashes by which each file can be recognized.")
    versions = ", ".join(f"{name} {value}" for name, value in dossier["versions"].items())
    document.paragraph("Made on {date} by {versions}; the seed is kept apart.", date=dossier["date"], versions=versions)


def all_hashes(dossier: JsonView) -> dict[str, Mapping[str, str]]:
    """Return the hashes of what went in, what is handed over and what is kept apart."""
    source = {dossier["input"]["file"]: dossier["input"]["sha256"]}
    before = dossier.get("earlier")
    earlier = {} if before is None else {before["file"]: before["sha256"]}
    return {
        "input": source,
        "the release before": earlier,
        "handed over": dossier["files"],
        "kept apart": dossier["kept_apart"],
    }
