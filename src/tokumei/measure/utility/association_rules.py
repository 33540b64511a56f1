"""Whether the rules of what is bought together still hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measure.utility.frequent_itemsets import (
    Itemset,
    Matrix,
    TooManySets,
    frequent_itemsets,
    invoice_items,
    n_holding,
)

# Of the two sides of a rule only the first may have two items.
LARGEST_SIZE = 3
SHOWN_RULES = 5
# Few invoices of many items each hold more sets than anybody can list.
MOST_SETS = 100_000


@dataclass(frozen=True)
class AssociationRules:
    """Mean change of support, confidence and lift of the original's best rules: 0 if none changes, 1 at worst.

    A rule A → b says that who has the items A in an invoice (what one customer bought on one day) has b as well. Its
    support is the share of invoices with A and b, its confidence that share among those with A, its lift the confidence
    divided by the share of invoices with b. The best rules are those with the greatest lift among those that are
    frequent and sure enough (ties: the greater support, then the items in order). Each of the three changes by
    1 − less / more of its values before and after; a rule that the release has no invoice of is lost, 1 in all three.

    Where more than 100,000 sets of items are frequent enough, as in a few large invoices, rules must be in more
    invoices, until the sets are fewer; the inputs of the score tell in how many, and the best five rules with their
    values before and after.
    """

    least_support: float = field(default=0.01, metadata={"help": "Share of the invoices that must hold a whole rule."})
    least_confidence: float = field(default=0.2, metadata={"help": "Least confidence of a rule."})
    n_rules: int = field(default=100, metadata={"help": "How many of the best rules are compared."})

    def measure(self, original: History, released: History) -> Score:
        """Compare the best rules of the original with what the release says of them."""
        for name in ("least_support", "least_confidence"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError.of("a share above 0, at most 1", option=name, value=getattr(self, name))
        if self.n_rules < 1:
            raise InputError.of("at least one rule", option="n_rules", value=self.n_rules)
        items = original.kept["item"].unique().sort()
        before, after = (invoice_items(history, items) for history in (original, released))
        n_least, sets = self._frequent_sets(before)
        rules = self._best_rules(before, sets)
        later = {rule: rule_values(after, rule) for rule in rules}
        changes = [_change(values, later[rule]) for rule, values in rules.items()]
        best = [_words(rule, rules[rule], later[rule], items.to_list()) for rule in list(rules)[:SHOWN_RULES]]
        value = math.fsum(changes) / len(changes) if changes else 0.0
        return Score(
            "association-rules",
            value,
            best=0,
            worst=1,
            inputs={"rules": len(rules), "least_invoices": n_least, "best": best},
        )

    def _frequent_sets(self, invoices: Matrix) -> tuple[int, list[Itemset]]:
        """Give in how many invoices a rule must be, and the sets of items that are in so many."""
        n_least = max(1, math.ceil(self.least_support * invoices.shape[0] - 1e-9))
        while True:
            try:
                return n_least, frequent_itemsets(invoices, n_least, LARGEST_SIZE, MOST_SETS)
            except TooManySets:
                n_least += max(1, n_least // 4)

    def _best_rules(
        self, invoices: Matrix, sets: Sequence[Itemset]
    ) -> Mapping[tuple[Itemset, int], tuple[float, float, float]]:
        n_invoices = invoices.shape[0]
        # Every part of a frequent set is frequent itself, so that all that a rule needs is counted.
        n_of = dict(zip(sets, n_holding(invoices, sets).tolist(), strict=True))
        found = {}
        for itemset, n_both in n_of.items():
            for item in itemset if len(itemset) > 1 else ():
                if_items = tuple(other for other in itemset if other != item)
                n_first, n_item = n_of[if_items], n_of[item,]
                if n_both / n_first >= self.least_confidence:
                    lift = n_both * n_invoices / (n_first * n_item)
                    found[if_items, item] = n_both / n_invoices, n_both / n_first, lift
        order = sorted(found, key=lambda rule: (-found[rule][2], -found[rule][0], rule))
        return {rule: found[rule] for rule in order[: self.n_rules]}


def rule_values(invoices: Matrix, rule: tuple[Itemset, int]) -> tuple[float, float, float]:
    """Give support, confidence and lift of a rule; all 0 where no invoice has it."""
    n_invoices = invoices.shape[0]
    if not n_invoices:
        return 0.0, 0.0, 0.0
    if_items, item = rule
    columns = invoices[:, [*if_items, item]].toarray() > 0
    has_first = columns[:, :-1].all(axis=1)
    n_first, n_item = int(has_first.sum()), int(columns[:, -1].sum())
    n_both = int(np.sum(has_first & columns[:, -1]))
    if not n_both:
        return 0.0, 0.0, 0.0
    return n_both / n_invoices, n_both / n_first, n_both * n_invoices / (n_first * n_item)


def _change(before: tuple[float, float, float], after: tuple[float, float, float]) -> float:
    """Give the mean over the three of 1 − less / more."""
    shares = [1 - min(one, other) / max(one, other) for one, other in zip(before, after, strict=True)]
    return math.fsum(shares) / len(shares)


def _words(rule: tuple[Itemset, int], before: Sequence[float], after: Sequence[float], items: list[str]) -> str:
    """Say what a rule was before and after."""
    names = " + ".join(items[index] for index in rule[0])
    was = zip(("support", "confidence", "lift"), before, after, strict=True)
    return f"{names} → {items[rule[1]]} ({', '.join(f'{name} {one:.4g} → {other:.4g}' for name, one, other in was)})"
