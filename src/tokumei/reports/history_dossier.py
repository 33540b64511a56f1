"""The pages of a dossier on a purchase history, and the parts that those of tables have as well.

In common are who decides, attacks, use, the law, and the evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokumei.attacks.registry import NOTHING_TO_FIND, was_tried
from tokumei.core.text import from_json
from tokumei.reports.japanese import OF_DOSSIERS, SENTENCES
from tokumei.reports.page import Document


def new_document(dossier: Mapping[str, Any], language: str) -> Document:
    """Start the report of a dossier in a language: en or ja."""
    document = Document("", language)
    if language == "ja":
        document.words, document.forms = OF_DOSSIERS, SENTENCES
    document.title = document.say("Report on the release of {name}", name=dossier["job"])
    return document


def add_decision(document: Document, dossier: Mapping[str, Any]) -> None:
    """Report whether all bounds hold, who decides, and until when."""
    failed = [bound_words(document, one) for one in dossier["bounds"] if not one["holds"]]
    if failed:
        document.paragraph("Not all bounds hold: {failed}.", failed="; ".join(failed))
        return
    said = "All {n} bounds that were set hold; {reviewer} decides, until {until}."
    document.paragraph(
        said if dossier["bounds"] else "No bound was set; {reviewer} decides, until {until}.",
        n=len(dossier["bounds"]),
        reviewer=dossier.get("reviewer") or document.say("the reviewer (not named)"),
        until=dossier.get("expires") or document.say("further notice"),
    )


def add_preparations(document: Document, prepared: Sequence[Mapping[str, str]]) -> None:
    """Report what was done to single columns first, where anything was."""
    if prepared:
        rows = [[one["column"], document.say(one["by"])] for one in prepared]
        caption = "Changed first; everything below compares with the columns after that."
        document.table(["column", "what was done first"], rows, caption)


def add_bounds(document: Document, promised: Sequence[Mapping[str, Any]], bounds: Sequence[Mapping[str, Any]]) -> None:
    """Add what was promised and what must hold, with the number that was counted."""
    stated = [(one["requirement"], one) for one in promised] + [(bound_words(document, one), one) for one in bounds]
    rows = [[what, _whole(one["value"]), document.say("holds" if one["holds"] else "fails")] for what, one in stated]
    document.table(["promise or bound", "value", "holds"], rows, "Recounted on the rows that were written.")


def bound_words(document: Document, bound: Mapping[str, Any]) -> str:
    """Describe a bound in the language of the document."""
    ends = [("{of} at least {end}", bound["least"]), ("{of} at most {end}", bound["most"])]
    name = document.say(bound["of"])
    return "; ".join(document.say(text, of=name, end=f"{end:g}") for text, end in ends if end is not None)


def _whole(value: Any) -> Any:
    """Return a count without a fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def add_attacks(document: Document, attacks: Sequence[Mapping[str, Any]]) -> None:
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


def gain_over_chance(score: Mapping[str, Any]) -> float:
    """Share of people that an attack finds beyond blind guessing; by it the first page names the strongest.

    Example: 93.8 % where guessing finds 93.8 % tells nothing of anybody; 40.1 % against 25.4 % does.
    """
    return float(score["value"]) - float(score.get("baseline") or 0.0)


def attacker_words(document: Document, attack: Mapping[str, Any]) -> str:
    """Describe the attacker's knowledge: columns of a table, a share of all purchases, or nothing."""
    known = attack["known"]
    if known == []:
        return document.say("{who}, who has the release alone", who=document.say(attack["threat"]))
    if isinstance(known, (int, float)):
        return document.say(
            "{who}, who knows {share} of the purchases", who=document.say(attack["threat"]), share=f"{known:.0%}"
        )
    return f"{document.say(attack['threat'])} ({', '.join(known)})"


def attack_words(document: Document, attack: Mapping[str, Any]) -> str:
    """Name an attack in the language of the document, with the column it learned where that is one of several."""
    name = document.say(attack["attack"])
    column = attack.get("sensitive")
    return name if column is None else document.say("{attack} of {column}", attack=name, column=column)


def add_use(document: Document, use: Mapping[str, Any]) -> None:
    """Add every measure of what use is left, and those that could not be taken."""
    rows = [[document.say(name), one["value"], one["best"], one["worst"]] for name, one in use["scores"].items()]
    document.table(["measure", "value", "best", "worst"], rows, "Every measure that the columns allow.")
    if use.get("left_out"):
        told = {name: from_json(one) for name, one in use.get("reasons", {}).items() if isinstance(one, dict)}
        rows = [[document.say(name), document.tell(told.get(name, why))] for name, why in use["left_out"].items()]
        document.table(["measure", "why not"], rows, "Not measured, so neither good nor bad.")


def add_law_and_evidence(document: Document, dossier: Mapping[str, Any]) -> None:
    """Add a page for each law, and the hashes by which all files can be recognized."""
    for part in dossier.get("legal", []):
        document.heading(part["title"])
        document.paragraph("This page gathers evidence; it is no legal advice.")
        if "note" in part:
            document.paragraph(part["note"]["said"], **part["note"]["values"])
        rows = [_item(document, one) for one in part["items"]]
        head = ["article", "what it asks", "finding", "evidence"]
        document.table(head, rows, "Met, not met, not measured, or yours to judge.")
        for draft in part.get("drafts", []):
            document.paragraph(draft)
    document.heading("Evidence")
    hashed = [("input", {dossier["input"]["file"]: dossier["input"]["sha256"]}), ("handed over", dossier["files"])]
    rows = [
        [document.say(what), name, value]
        for what, files in [*hashed, ("kept apart", dossier["kept_apart"])]
        for name, value in files.items()
    ]
    document.table(["what", "file", "SHA-256"], rows, "Hashes by which each file can be recognized.")
    versions = ", ".join(f"{name} {value}" for name, value in dossier["versions"].items())
    document.paragraph("Made on {date} by {versions}; the seed is kept apart.", date=dossier["date"], versions=versions)


def _item(document: Document, one: Mapping[str, Any]) -> list[str]:
    """Cells of one item of a law; its evidence is a sentence with what was found put in."""
    # A reason and the name of an attack are words, too; other values are names of columns and numbers.
    said = {name: document.say(value) for name, value in one["values"].items() if name in ("why", "attack")}
    evidence = document.say(one["said"], **{**one["values"], **said})
    item = document.say(one["asks"]) + (f" ({document.say(one['who'])})" if one["who"] else "")
    return [one["article"], item, document.say(one["finding"]), evidence]


def history_document(dossier: Mapping[str, Any], *, language: str = "en") -> Document:
    """Write the pages of a dossier on a history."""
    document = new_document(dossier, language)
    found = dossier["results"]
    _first_page(document, dossier, found)
    document.heading("What was done")
    add_preparations(document, found.get("prepared", []))
    ways = [[document.say(one["method"]), one["found"], one["loss"]] for one in found["methods"]]
    caption = "The methods that were tried; the one by which fewest customers are found was taken."
    document.table(["method", "customers found", "use lost"], ways, caption)
    if dossier["bounds"]:
        document.heading("What must hold, recounted")
        add_bounds(document, [], dossier["bounds"])
    add_attacks(document, found["attacks"])
    document.heading("What use is left")
    add_use(document, found["use"])
    add_law_and_evidence(document, dossier)
    return document


def _first_page(document: Document, dossier: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Add what the person who decides has to know, a sentence each."""
    document.heading("For the person who decides")
    document.paragraph(
        "{released} of {rows} purchases of {customers} customers are released under {pseudonyms} pseudonyms, by "
        "{method}.",
        **{name: found[name] for name in ("released", "rows", "customers", "pseudonyms")},
        method=document.say(found["chosen"]),
    )
    tried = [one for one in found["attacks"] if "found" in one["scores"]]
    if tried:
        best = max(tried, key=lambda one: gain_over_chance(one["scores"]["found"]))
        months, name = best["scores"]["found"], best["scores"].get("pseudonym", best["scores"]["found"])
        document.paragraph(
            "The strongest attack that was tried ({attack}, by {who}) names a customer rightly in {share} of their "
            "months on average, where blind guessing does in {blind}; it names {always} of them in every month.",
            attack=attack_words(document, best),
            who=attacker_words(document, best),
            share=f"{months['value']:.1%}",
            blind=_share(months.get("baseline")),
            always=f"{best['scores']['row']['value']:.1%}",
        )
        document.paragraph(
            "By it {share} of the pseudonyms lead to their customers, where blind guessing leads {blind} there.",
            share=f"{name['value']:.1%}",
            blind=_share(name.get("baseline")),
        )
        given = [one["scores"]["attributed"]["value"] for one in tried if "attributed" in one["scores"]]
        if given:
            document.paragraph(
                "Of the published purchases that were not known before, {share} are given to their buyers, whatever "
                "pseudonym they stand under.",
                share=f"{max(given):.1%}",
            )
    else:
        document.paragraph("No attack was tried, so nothing is known of who could be found.")
    losses = {
        name: one["value"] for name, one in found["use"]["scores"].items() if (one["best"], one["worst"]) == (0, 1)
    }
    worst = max(losses, key=lambda name: losses[name], default=None)
    document.paragraph(
        "The use that suffers most is {name}, of which {loss} is lost, where 0 is nothing and 1 is all."
        if worst
        else "No loss of use was measured.",
        name=document.say(worst or ""),
        loss=losses.get(worst or ""),
    )
    add_decision(document, dossier)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
