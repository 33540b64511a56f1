"""Whether the rules of what is bought together still hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tokumei.core.errors import InputError
from tokumei.core.score import Score
from tokumei.data.history import History
from tokumei.measures.utility.frequent_itemsets import (
    Itemset,
    TooManySets,
    frequent_itemsets,
    invoice_items,
    n_holding,
)

# Items that are in an invoice, and the one that then is as well.
Rule = tuple[Itemset, int]

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
        self.check_options()
        items = original.kept["item"].unique().sort()
        before, after = (invoice_items(history, items) for history in (original, released))

        def frequent(n_least: int) -> Mapping[Itemset, int]:
            sets = frequent_itemsets(before, n_least, LARGEST_SIZE, MOST_SETS)
            return dict(zip(sets, n_holding(before, sets).tolist(), strict=True))

        def held_after(sets: Sequence[Itemset]) -> Mapping[Itemset, int]:
            return dict(zip(sets, n_holding(after, sets).tolist(), strict=True))

        return self.compare(items.to_list(), (before.shape[0], after.shape[0]), frequent, held_after)

    def check_options(self) -> None:
        """Refuse numbers beyond their ends."""
        for name in ("least_support", "least_confidence"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError.of("a share above 0, at most 1", option=name, value=getattr(self, name))
        if self.n_rules < 1:
            raise InputError.of("at least one rule", option="n_rules", value=self.n_rules)

    def compare(
        self,
        items: Sequence[str],
        n_invoices: tuple[int, int],
        frequent: Callable[[int], Mapping[Itemset, int]],
        held_after: Callable[[Sequence[Itemset]], Mapping[Itemset, int]],
    ) -> Score:
        """Compare rules by counts, wherever these are made.

        n_invoices: before and after. frequent: gives the sets that so many invoices of the original hold, with how
        many do, or raises TooManySets. held_after: gives how many invoices of the release hold each of some sets.
        """
        n_before, n_after = n_invoices
        n_least = max(1, math.ceil(self.least_support * n_before - 1e-9))
        while True:
            try:
                n_of = frequent(n_least)
                break
            except TooManySets:
                n_least += max(1, n_least // 4)
        rules = self._best_rules(n_before, n_of)
        held = held_after(list(dict.fromkeys(one for rule in rules for one in _sets_of(rule))))
        later = {rule: rule_values(n_after, *(held[one] for one in _sets_of(rule))) for rule in rules}
        changes = [_change(values, later[rule]) for rule, values in rules.items()]
        best = [_words(rule, rules[rule], later[rule], items) for rule in list(rules)[:SHOWN_RULES]]
        value = math.fsum(changes) / len(changes) if changes else 0.0
        inputs = {"rules": len(rules), "least_invoices": n_least, "best": best}
        return Score("association-rules", value, best=0, worst=1, inputs=inputs)

    def _best_rules(self, n_invoices: int, n_of: Mapping[Itemset, int]) -> Mapping[Rule, tuple[float, float, float]]:
        found = {}
        # Every part of a frequent set is frequent itself, so that all that a rule needs is counted.
        for itemset, n_both in n_of.items():
            for item in itemset if len(itemset) > 1 else ():
                rule = tuple(other for other in itemset if other != item), item
                n_first = n_of[rule[0]]
                if n_both / n_first >= self.least_confidence:
                    found[rule] = rule_values(n_invoices, n_first, n_of[item,], n_both)
        order = sorted(found, key=lambda rule: (-found[rule][2], -found[rule][0], rule))
        return {rule: found[rule] for rule in order[: self.n_rules]}


def rule_values(n_invoices: int, n_first: int, n_item: int, n_both: int) -> tuple[float, float, float]:
    """Return support, confidence and lift of a rule from the invoices that hold its parts; all 0 where none does."""
    if not n_both:
        return 0.0, 0.0, 0.0
    return n_both / n_invoices, n_both / n_first, n_both * n_invoices / (n_first * n_item)


def _sets_of(rule: Rule) -> tuple[Itemset, Itemset, Itemset]:
    """Return what is counted of a rule: its first side, its item, and both together."""
    if_items, item = rule
    return if_items, (item,), tuple(sorted((*if_items, item)))


def _change(before: tuple[float, float, float], after: tuple[float, float, float]) -> float:
    """Return the mean over the three of 1 − less / more."""
    shares = [1 - min(one, other) / max(one, other) for one, other in zip(before, after, strict=True)]
    return math.fsum(shares) / len(shares)


def _words(rule: Rule, before: Sequence[float], after: Sequence[float], items: Sequence[str]) -> str:
    """Describe a rule before and after."""
    names = " + ".join(items[index] for index in rule[0])
    was = zip(("support", "confidence", "lift"), before, after, strict=True)
    return f"{names} → {items[rule[1]]} ({', '.join(f'{name} {one:.4g} → {other:.4g}' for name, one, other in was)})"
