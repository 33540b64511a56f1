"""The pages of a dossier on a purchase history: what was done, who is found by attacks, what use is left, the law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokumei.report.document import Document
from tokumei.report.dossier_parts import (
    add_attacks,
    add_bounds,
    add_decision,
    add_law_and_evidence,
    add_preparations,
    add_use,
    attack_words,
    attacker_words,
    new_document,
)


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
        best = max(tried, key=lambda one: one["scores"]["found"]["value"])
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
