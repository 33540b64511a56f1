"""The pages of a dossier on a purchase history."""

from __future__ import annotations

from tokumei.core.text import JsonView
from tokumei.reports.evidence_pages import (
    add_attacks,
    add_bounds,
    add_decision,
    add_hashes,
    add_pictures,
    add_preparations,
    add_use,
    all_hashes,
    attack_words,
    attacker_words,
    new_document,
)
from tokumei.reports.framework_pages import add_frameworks
from tokumei.reports.page import Document


def history_document(dossier: JsonView, *, language: str = "en") -> Document:
    """Write the pages of a dossier on a history."""
    document = new_document(dossier, language)
    found = dossier["results"]
    add_decision(document, dossier)
    add_pictures(document, dossier)
    if found.get("drawn") is None:
        _released(document, found)
    else:
        _drawn(document, found)
    document.folded("What was done")
    add_preparations(document, found.get("prepared", []))
    ways = [[document.say(one["method"]), one["found"], one["loss"]] for one in found["methods"]]
    caption = "The methods that were tried; the one by which fewest customers are found was taken."
    document.table(["method", "customers found", "use lost"], ways, caption)
    if dossier["bounds"]:
        document.folded("What must hold, recounted")
        add_bounds(document, [], dossier["bounds"])
    add_attacks(document, found["attacks"])
    document.folded("What use is left")
    add_use(document, found["use"])
    add_frameworks(document, dossier)
    add_hashes(document, all_hashes(dossier), dossier)
    return document


def _drawn(document: Document, found: JsonView) -> None:
    """State how many purchases of nobody are released, what is promised, and what attacks found before."""
    drawn = found["drawn"]
    document.folded("What was measured")
    document.paragraph(
        "{released} purchases of {pseudonyms} customers who are nobody are released, drawn by {method} from a model of "
        "the original's {rows} purchases of {customers} customers. No pseudonym is anybody's: there is none to find.",
        **{name: found[name] for name in ("released", "rows", "customers", "pseudonyms")},
        method=document.say(found["chosen"]),
    )
    if "epsilon" in drawn:
        document.paragraph(
            "Promised: (ε, δ)-differential privacy with ε = {epsilon} and δ = {delta}. Protected are {protects}: "
            "with one of them or without, no release is more than e^ε times as likely, but for a chance of δ.",
            epsilon=f"{drawn['epsilon']:g}",
            delta=f"{drawn['delta']:g}",
            protects=document.say(drawn["protects"]),
        )
    heads = ["attacked before it was released", "found", "beyond others", "at least", "at most allowed"]
    rows = [
        [document.say(one["attack"]), *(one[name] for name in ("found", "beyond", "low", "most"))]
        for one in drawn["audit"]["findings"]
    ]
    document.table(
        heads,
        rows,
        "Shares of customers whom the method knew, and how far they lie above those of customers whom it did not.",
    )
    leaks = [document.say(one["attack"]) for one in drawn["audit"]["findings"] if one["is_leak"]]
    if leaks:
        form = "Released although attacks find more customers than the bound allows: {attacks}."
        document.paragraph(form, attacks=", ".join(leaks))
    for name, why in drawn["audit"]["left_out"].items():
        document.paragraph("Not measured: {attack} ({why}).", attack=document.say(name), why=document.tell(why))


def _released(document: Document, found: JsonView) -> None:
    """State what is released, and what attacks find of months, pseudonyms and purchases, a sentence each."""
    document.folded("What was measured")
    document.paragraph(
        "{released} of {rows} purchases of {customers} customers are released under {pseudonyms} pseudonyms, by "
        "{method}.",
        **{name: found[name] for name in ("released", "rows", "customers", "pseudonyms")},
        method=document.say(found["chosen"]),
    )
    tried = [one for one in found["attacks"] if "found" in one["scores"]]
    if not tried:
        return
    best = max(tried, key=lambda one: one["scores"]["found"]["value"] - (one["scores"]["found"].get("baseline") or 0.0))
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


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
