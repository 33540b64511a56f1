"""The anonymizers by name."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from tokumei.core.registry import Registry
from tokumei.data.history import History
from tokumei.data.release import Release
from tokumei.methods.local.task import LocalRecoding, LocalTask
from tokumei.methods.perturbing.perturbation import Original, Perturbed
from tokumei.methods.search.problem import Found, Problem


@runtime_checkable
class HistoryAnonymizer(Protocol):
    """Makes a release of a purchase history; its fields are its options.

    There are two kinds. A step (`tokumei.methods.history.steps.HistoryStep`) changes rows and keeps customers; alone it
    ends with one pseudonym for each. All others name the customers themselves and can only come last in a pipeline.
    """

    def anonymize(self, original: History, *, seed: int) -> Release:
        """Make the release; the same seed makes the same one."""


@runtime_checkable
class TableSearch(Protocol):
    """Finds a node of the lattice that holds, one level for each column; its fields are its options."""

    def search(self, problem: Problem) -> Found:
        """Return the node found; CannotAnonymize if none holds."""


@runtime_checkable
class LocalRecoder(Protocol):
    """Generalizes class by class, so that equal values may become different labels; its fields are its options."""

    def recode_locally(self, task: LocalTask, *, seed: int) -> LocalRecoding:
        """Return what becomes of every class; CannotAnonymize if nothing holds."""


@runtime_checkable
class Perturber(Protocol):
    """Changes values at random, leaves rows out or publishes counts; its fields are its options."""

    def perturb(self, original: Original, *, seed: int) -> Perturbed:
        """Return the release; the same seed returns the same."""


TableAnonymizer = TableSearch | LocalRecoder | Perturber

HISTORY_ANONYMIZERS: Registry[HistoryAnonymizer] = Registry(
    "history anonymizer",
    "tokumei.methods.history",
    {
        "basket_chain": ["basket-chain"],
        "delete": ["delete", "km-anonymity"],
        "dp_baskets": ["dp-baskets"],
        "dummies": ["dummies"],
        "generalize": ["generalize"],
        "permute_groups": ["permute-groups"],
        "perturb": ["perturb"],
        "similar_customers": ["exchange-pseudonyms"],
        "steps": ["pseudonyms", "roll-up"],
    },
)
TABLE_ANONYMIZERS: Registry[TableAnonymizer] = Registry(
    "table anonymizer",
    "tokumei.methods",
    {
        "local.marginal_recoding": ["marginal-recoding"],
        "local.merging": ["min-dis", "utility-clustering"],
        "local.mondrian": ["mondrian"],
        "local.mu_argus": ["mu-argus"],
        "local.top_down": ["partition", "top-down-specialization"],
        "perturbing.dp_counts": ["dp-counts"],
        "perturbing.marginals": ["marginals"],
        "perturbing.masking": ["block-swap", "sample", "swap", "top-bottom-code"],
        "perturbing.microaggregate": ["microaggregate"],
        "perturbing.noise": ["noise"],
        "perturbing.pram": ["pram"],
        "search.climbing": ["best-effort", "datafly", "incognito", "ola"],
        "search.optimal": ["exhaustive", "optimal"],
        "search.predicted": ["pak", "prediction-guided"],
        "synthetic.aim": ["aim"],
        "synthetic.copula": ["copula"],
        "synthetic.mst": ["mst"],
        "synthetic.sequential_trees": ["sequential-trees"],
    },
    group="tokumei.methods.table",
)


def searches() -> list[str]:
    """Return the names of the table anonymizers that search the lattice."""
    return [name for name in TABLE_ANONYMIZERS if hasattr(TABLE_ANONYMIZERS.get(name), "search")]
