"""The standards ISO/IEC 27559 and 20889.

Of ISO/IEC 27559 the table of contents was read, which names every clause; what a clause asks is said in our words.
"""

from __future__ import annotations

from tokumei.attacks.registry import MET, NOT_MET
from tokumei.inspection.evidence import Clause, Evidence, Figure, Framework, Verdict, counted, not_measured

TRANSPARENCY = "Transparency of actions and stakeholder engagement"
RULES = "Establishing principles, policies and procedures"
PER_UNIT = {"rows": "chance for a row", "people": "chance for a person", "households": "chance for a household"}
# The families of ISO/IEC 20889 and the methods here that belong to each.
TECHNIQUES = {
    "generalization and suppression, for k-anonymity": (
        *("optimal", "ola", "incognito", "datafly", "mondrian", "beam", "genetic", "bottom-up", "samarati"),
    ),
    "pseudonymization": ("pseudonyms", "exchange-pseudonyms", "pipeline"),
    "randomization": ("pram", "swap", "noise", "post-randomization"),
    "microaggregation": ("microaggregate",),
    "rounding and coding of ends": ("round", "top-bottom-code"),
    "differential privacy": ("dp-counts", "dp-synthetic"),
}


def iso_27559(case: Evidence) -> Framework:
    """Fill the clauses of the framework for de-identification that a release can give evidence for."""
    per = PER_UNIT.get(case.unit, PER_UNIT["rows"])
    clauses = [
        case.stated("6.2.2", "Security and privacy practices", "where and under which terms it is used", "environment"),
        case.stated("6.2.2", "Security and privacy practices", "terms that bind the recipients", "contract"),
        case.stated("6.2.3", "Motives and capacity to re-identify", "why recipients might try", "motive"),
        case.stated("6.2.3", "Motives and capacity to re-identify", "what they have to try with", "capacity"),
        case.stated("6.3.2", TRANSPARENCY, "who is told of the release", "notice"),
        case.stated("6.3.3", "Privacy-related harms", "how bad the harm could be", "harm"),
        case.stated("6.3.3", "Privacy-related harms", "which harm, and why", "harm_reasons"),
        case.risk("7.3.2", "Maximum or average risk", "the highest risk of a class", "prosecutor-risk", per),
        case.risk("7.3.2", "Maximum or average risk", "the average risk of all", "prosecutor-risk-mean", per),
        *_population(case, per),
        *case.attacked("8.2.3", "Adversarial testing", "attacks that were run, each against chance", lambda _one: True),
        _reevaluation(case),
        case.stated("8.3.4", "Re-evaluation", "the day on which it is judged anew", "review_on"),
        case.stated("9.2.2", "Assigning roles and responsibilities", "who decides on the release", "reviewer"),
        case.stated("9.2.2", "Assigning roles and responsibilities", "who keeps what leads back", "responsible"),
        case.stated("9.2.3", RULES, "rules, and when they are checked", "handling_rules"),
        case.stated("9.4", "Mitigation in case of incident", "what happens if somebody is found", "incidents"),
    ]
    title = "ISO/IEC 27559:2022, framework for de-identification"
    return Framework(
        "iso-27559",
        title,
        "Numbers and titles by the table of contents; the text of the clauses was not read.",
        clauses,
    )


def _population(case: Evidence, per: str) -> list[Clause]:
    """Report the risk among all people, where their number is known, and otherwise that the rows count as everybody."""
    number, title = "7.3.3", "Population or sample-based attack"
    asks = "the highest risk where the attacker does not know who is in the file"
    found = [case.risk(number, title, asks, "journalist-risk", per)] if "journalist-risk" in case.risks else []
    alone = case.population_uniques
    if case.population is not None and alone is not None:
        said = "{alone} of {n} people in the population are estimated to be alone by the released columns"
        values = {"alone": f"{alone:,.0f}", "n": f"{case.population:,}"}
        asks = "people who are alone in the population"
        found.append(counted(number, title, asks, round(alone), "people of the population", said, values, most=None))
    why = "the size of the population is not in the job, so that every row is taken for one who is known to be in it"
    return found or [not_measured(number, title, asks, why)]


def _reevaluation(case: Evidence) -> Clause:
    number, title, asks = "8.3.4", "Re-evaluation", "how far the data moved since the release before"
    if case.earlier is None:
        return not_measured(number, title, asks, "no earlier release was named")
    said = (
        "column {column} moved most: total variation {moved}; {n} labels are new; it was to be judged anew on {review}"
    )
    values = {
        "column": case.earlier["moved_most"] or "–",
        "moved": f"{case.earlier['largest_drift']:.3g}",
        "n": case.earlier["n_new_labels"],
        "review": case.earlier["review_on"] or "–",
    }
    figure = Figure(case.earlier["largest_drift"], "total variation of the shares of a column")
    return Clause(number, title, asks, Verdict.MEASURED, said, values, figure)


def iso_20889(case: Evidence) -> Framework:
    """Name the techniques and the models that a release has, by the terms of the standard."""
    family = next((name for name, methods in TECHNIQUES.items() if case.method in methods), None)
    technique = ("technique", "De-identification techniques", "the family that the method belongs to")
    clauses = [
        counted(*technique, 1, "methods", "{method}: {family}", {"method": case.method, "family": family}, most=None)
        if family
        else not_measured(*technique, "the method is of no family that is listed here"),
    ]
    for one in case.requirements:
        value, name = float(one["value"]), str(one["requirement"])
        figure = Figure(value, "value of the model", bound=value if name.startswith("epsilon") else None)
        outcome = None if figure.bound is None else MET if one["holds"] else NOT_MET
        said = "{model}: {value}, counted on the released rows"
        clauses.append(
            Clause(
                "model",
                "Formal privacy measurement models",
                "a model that the release holds",
                Verdict.MEASURED,
                said,
                {"model": name, "value": f"{value:g}"},
                figure,
                outcome,
            )
        )
    if not case.requirements:
        why = "no model was asked for"
        clauses.append(
            not_measured("model", "Formal privacy measurement models", "a model that the release holds", why)
        )
    title = "ISO/IEC 20889:2018, terms and techniques"
    return Framework(
        "iso-20889", title, "The standard's text was not read; its terms are used as they are common.", clauses
    )
