"""Every registered measure and attack has a plain definition and a test that compares them, or a reason why not."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tokumei.attacks.registry import DISCLOSURE_ATTACKS, HISTORY_ATTACKS, TABLE_ATTACKS
from tokumei.core.registry import Registry
from tokumei.measures.losses import LOSSES
from tokumei.measures.registry import HISTORY_SAFETY, HISTORY_UTILITIES, RELEASES_SAFETY, ROWS_SAFETY, TABLE_UTILITIES
from tokumei.measures.requirement import SAFETY

SIZES = "test_safety.test_measures_of_sizes"
VALUES = "test_safety.test_measures_of_sensitive_values"
PEOPLE = "test_safety.test_measures_against_a_population"
NODES = "test_losses.test_loss_of_every_node_is_that_of_the_definition"
ATTACKS = "test_attacks.test_attacks_find_what_plain_comparison_finds"
MATCHES = "test_matching.test_exact_matches"
INDICES = "test_table_utility.test_indices_of_2015"
LABELS = "test_table_utility.test_measures_that_read_labels_as_leaves"
ITEMS = "test_history_utility.test_similarities_of_items"
BY_ROW = "test_history_utility.test_measures_row_by_row_and_of_columns"
CUSTOMERS = "test_history_utility.test_measures_of_customers"
INVOICES = "test_history_utility.test_sets_and_rules_of_invoices"
BASKETS = "test_histories.test_measures_of_baskets_are_those_of_the_definitions"
RANDOMIZED = "test_wider_safety.test_no_link_or_value_is_likelier_than_randomized_tables_promise"

# Which definition each part is compared with, and by which test.
PLAIN: dict[str, dict[str, tuple[str, str]]] = {
    "table loss": {
        "average-class-size": ("losses.average_class_size", NODES),
        "dis": ("losses.dis", NODES),
        "discernibility": ("losses.discernibility", NODES),
        "entropy": ("losses.entropy", NODES),
        "ncp": ("losses.ncp", NODES),
        "prec": ("losses.prec", NODES),
        "price": ("losses.price", "test_losses.test_price_of_every_node_is_that_of_the_definition"),
    },
    "safety measure": {
        "alpha-k": ("alpha_k.largest_share", VALUES),
        "beta-likeness": ("beta_likeness.enhanced", VALUES),
        "breach-risk": ("populations.breach", SIZES),
        "delta-disclosure": ("delta_disclosure.largest_difference", VALUES),
        "delta-presence": ("populations.presence", PEOPLE),
        "journalist-risk": ("populations.journalist", PEOPLE),
        "k-anonymity": ("k_anonymity.k", SIZES),
        "k-map": ("populations.k_map", PEOPLE),
        "l-diversity": ("l_diversity.recursive", VALUES),
        "marketer-risk": ("populations.marketer", PEOPLE),
        "mean-class-size": ("k_anonymity.mean_class_size", SIZES),
        "prosecutor-risk": ("populations.prosecutor", SIZES),
        "t-closeness": ("t_closeness.distance", VALUES),
        "uniques": ("k_anonymity.uniques", SIZES),
        "x-y-anonymity": ("k_anonymity.k", "test_wider_safety.test_values_of_other_columns_in_a_class"),
    },
    "safety measure of several releases": {
        "m-invariance": ("several_releases.m_invariance", "test_wider_safety.test_measures_of_several_releases"),
        "multi-r-k-anonymity": (
            "several_releases.multi_r",
            "test_wider_safety.test_people_with_many_rows_in_many_tables",
        ),
        "sequential-k": ("several_releases.sequential_k", "test_wider_safety.test_measures_of_several_releases"),
    },
    "safety measure of rows": {
        "c-t-isolation": ("isolation.share_isolating", "test_wider_safety.test_isolating_points"),
        "pk-anonymity": ("randomized.likeliest_link", RANDOMIZED),
        "pl-diversity": ("randomized.likeliest_value", RANDOMIZED),
    },
    "safety measure of histories": {
        "hkp-coherence": ("item_sets.exposure", BASKETS),
        "k-t-privacy": ("tracing.fewest_places", "test_wider_safety.test_places_where_somebody_may_be"),
        "km-anonymity": ("item_sets.fewest_sharing", BASKETS),
        "lkc-privacy": ("item_sets.exposure", BASKETS),
    },
    "history utility": {
        "association-rules": ("history_utility.changed_rules", INVOICES),
        "buyers": ("history_utility.buyers_error", CUSTOMERS),
        "crosstab": ("history_utility.mean_price_error", CUSTOMERS),
        "date": ("history_utility.date", BY_ROW),
        "frequent-itemsets": ("history_utility.lost_itemsets", INVOICES),
        "item-cf": ("history_utility.plain_item_cf", ITEMS),
        "item-cf-retail": ("history_utility.item_cf", ITEMS),
        "item-cf-supply": ("history_utility.item_cf", ITEMS),
        "item-cf-top": ("history_utility.item_cf", ITEMS),
        "item-item": ("history_utility.item_cf", ITEMS),
        "price": ("history_utility.price", BY_ROW),
        "rfm-table": ("history_utility.rfm_error", CUSTOMERS),
        "rows": ("history_utility.rows_gone", BY_ROW),
        "statistic": ("history_utility.statistic", BY_ROW),
        "top-items": ("history_utility.lost_top_items", BY_ROW),
    },
    "table utility": {
        "aya": ("table_utility.aya", INDICES),
        "correlation-error": ("table_utility.correlation_error", LABELS),
        "correlation-mae": ("table_utility.correlation_mae", INDICES),
        "cross-count": ("table_utility.cross_count", INDICES),
        "cross-mean": ("table_utility.cross_mean", INDICES),
        "crosstab-error": ("table_utility.crosstab_error", LABELS),
        "information-loss": ("table_utility.information_loss", INDICES),
        "mean-mae": ("table_utility.mean_mae", INDICES),
        "row-count": ("table_utility.information_loss", INDICES),
        "statistics": ("table_utility.statistics", LABELS),
    },
    "history attack": {
        **dict.fromkeys(
            ("exact-match", "s1", "s2", "s3", "s4", "s5", "s6", "same-day", "same-item", "same-month-and-item"),
            ("matching.matched", MATCHES),
        ),
        "jaccard": ("matching.jaccard", "test_matching.test_most_similar_item_sets"),
        "tfidf": ("matching.tf_idf", "test_matching.test_most_similar_item_sets"),
    },
    "table attack": {
        "id-rand": ("matching.id_rand_expected", "test_matching.test_attackers_of_tables"),
        "id-sa": ("matching.id_sa", "test_matching.test_attackers_of_tables"),
        "sa21": ("matching.sa21", "test_matching.test_attackers_of_tables"),
        "sort": ("matching.by_rank", "test_matching.test_attackers_of_tables"),
    },
    "disclosure attack": {
        "background-knowledge": ("fitting.background_at_worst", ATTACKS),
        "homogeneity": ("fitting.homogeneity_expected", ATTACKS),
        "intersection": ("fitting.intersection_candidates", ATTACKS),
        "presence": ("fitting.chances_to_be_in", "test_matching.test_presence"),
        "record-linkage": ("fitting.record_linkage_certain", ATTACKS),
    },
}
# Why a part is compared with no definition.
WITHOUT = {
    "downcoding": "Deduces what must be true; on random tables no claim is false: tests/attacks/disclosure.",
    "minimality": "Held against all originals with the same release, listed one by one: tests/attacks/disclosure.",
    "distance-linkage": "Learns from the release, as no paper defines; its strength: tests/attacks/disclosure.",
    "inference": "Guesses by what distance linkage learns; beside people outside in tests/attacks/disclosure.",
    "linkability": "Chances by hand in tests/attacks/disclosure/test_nearest_records.py.",
    "population-linkage": "Journalist and marketer risk, by hand in tests/attacks/test_table_threats.py.",
    "membership": "The strongest of nine; leaks that were made in tests/attacks/disclosure/test_membership.py.",
    "singling-out": "Counts by hand and by all draws in tests/attacks/disclosure/test_singling_out.py.",
    "linked-rows": "Held against plain sets of labels: tests/attacks/disclosure/test_linked_rows.py.",
    "reconstruction": "Held against all tables that have the counts, listed one by one: tests/attacks/disclosure.",
    "refine": "Held against an integer program with a variable for every combination: tests/attacks/disclosure.",
    "model": "What it is, scikit-learn's classifier and the seed's draw decide; worked by hand in tests/measures.",
    "linkage": "Our own, and learns from the data: no paper defines it. Its strength is held in tests/known.",
    "row-counts": "The part of linkage that counts rows, by itself; worked by hand in tests/attacks.",
}
REGISTRIES: list[Registry[Any]] = [
    LOSSES,
    SAFETY,
    RELEASES_SAFETY,
    ROWS_SAFETY,
    HISTORY_SAFETY,
    HISTORY_UTILITIES,
    TABLE_UTILITIES,
    HISTORY_ATTACKS,
    TABLE_ATTACKS,
    DISCLOSURE_ATTACKS,
]


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: str(registry.kind))
def test_every_part_has_a_plain_definition_or_a_reason(registry: Registry[Any]) -> None:
    defined = PLAIN[registry.kind]
    without = [name for name in registry if name not in defined and name not in WITHOUT]
    assert not without, f"parts without a plain definition: {', '.join(without)}"
    assert set(defined) <= set(registry)
    for definition, test in defined.values():
        for home in (definition, test):
            module, _, name = home.partition(".")
            assert callable(getattr(importlib.import_module(f"tests.definitions.{module}"), name)), home
