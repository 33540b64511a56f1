"""What a file gives away before anything is done: the attackers of the threat models, and what attacks find.

| attacker   | knows                                                     | finds                                    |
|------------|-----------------------------------------------------------|------------------------------------------|
| prosecutor | one person's quasi-identifiers, and that they are in it    | that person: 1 over the rows alike       |
| journalist | the same, but not whether the person is in the file        | at most as surely: others may be alike   |
| marketer   | everybody's quasi-identifiers, links as many as they can   | so many of all people: classes over rows |

They are those of El Emam and Dankar (2008), by whom the measures are named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokumei.data.history import History
from tokumei.data.table import Table
from tokumei.engines.class_counts import ClassCounts
from tokumei.measures.population_uniques import population_uniques
from tokumei.tasks.audit_table import TableAudit

# Both compare every two customers in one way or another.
MOST_ROWS_OF_KNOWLEDGE = 300_000
UNICITY_POINTS = 6
ATTACKS, ON_SENSITIVE = ("record-linkage", "downcoding"), ("homogeneity",)


def threat_models(audited: TableAudit, *, population_size: int | None = None) -> list[dict[str, Any]]:
    """Return each attacker's largest and mean chance, and the share of rows above the threshold of 20 %.

    A journalist's is known as far as the population is: at most the prosecutor's, and with its size an estimate of how
    many rows that are alone in the file are alone among all people too.

    population_size: how many people the rows are a sample of.
    """
    risks = {name: score.value for name, score in audited.measured.classes.items()}
    prosecutor = {
        "name": "prosecutor",
        "highest": risks["prosecutor-risk"],
        "mean": risks["prosecutor-risk-mean"],
        "above": risks["prosecutor-risk-share-above"],
    }
    journalist = {**prosecutor, "name": "journalist", "is_bound": True}
    if population_size is not None:
        journalist |= alone_in_population(audited.counts, population_size)
    return [prosecutor, journalist, {"name": "marketer", "mean": risks["marketer-risk"]}]


def alone_in_population(counts: ClassCounts, population_size: int) -> dict[str, Any]:
    """Estimate of the rows that are alone in the file how many are so among all people (Pitman's model, Hoshino 2001).

    A person of the population is in the file with chance n / N, so that n / N of those who are alone there are in it.
    """
    alone = population_uniques(counts.sizes.tolist(), population_size)
    if alone is None or not counts.n_unique:
        return {"population": population_size, "alone": None, "share_alone": None}
    in_file = alone * counts.n_rows / population_size
    return {"population": population_size, "alone": alone, "share_alone": min(1.0, in_file / counts.n_unique)}


def attack_as_it_stands(table: Table) -> list[dict[str, Any]]:
    """Attack a table that was not changed at all, by somebody who knows all quasi-identifiers of everybody."""
    # An attack costs more to load than a table to audit.
    from tokumei.tasks.attack_table import ANYBODY, attack_table

    chosen = [*ATTACKS, *(ON_SENSITIVE if table.sensitive else ())]
    found = attack_table(table, table.frame, chosen, in_order=True, hierarchies=table.hierarchies)
    return found.as_records("marketer", alone=ANYBODY)


def history_facts(history: History) -> dict[str, int]:
    """Count what a history consists of."""
    months = history.periods
    return {
        "rows": history.n_rows,
        "customers": len(history.customers),
        "months": (months[-1] - months[0] + 1) if months else 0,
        "items": 0 if "item" in history.absent else history.frame["item"].n_unique(),
    }


def history_risk(history: History) -> Mapping[str, Any]:
    """Return how surely attackers who know a little find a customer, and how many purchases single one out."""
    facts = history_facts(history)
    nothing: dict[str, Any] = {"attackers": [], "danger": [], "unicity": []}
    if history.n_rows > MOST_ROWS_OF_KNOWLEDGE or not history.n_rows:
        return {"facts": facts, **nothing}
    from tokumei.tasks.knowledge_history import knowledge_history
    from tokumei.tasks.unicity_history import unicity_history

    curves: Sequence[Mapping[str, Any]] = unicity_history(history, points=UNICITY_POINTS).to_dict()["curves"]
    if not facts["items"]:
        return {"facts": facts, **nothing, "unicity": curves}
    told = knowledge_history(history).to_dict()
    return {"facts": facts, "attackers": told["attackers"], "danger": told["danger"], "unicity": curves}
