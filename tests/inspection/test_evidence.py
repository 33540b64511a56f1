"""Each clause is met by one table and not by another, and none is met without a number and a bound."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from tokumei.data.context import QUESTIONS, ReleaseContext, label_of
from tokumei.inspection.decision import CONDITIONS, REFUSE, RELEASE, decide
from tokumei.inspection.evidence import Clause, Evidence, Framework, Verdict
from tokumei.inspection.law_europe import gdpr, ico
from tokumei.inspection.law_japan import appi_anonymous, appi_pseudonymous, appi_public_bodies
from tokumei.inspection.law_states import expert, nist_188, nist_226, safe_harbor
from tokumei.inspection.standards import iso_20889, iso_27559
from tokumei.reports.japanese import OF_DOSSIERS, SENTENCES

ALL: tuple[Callable[[Evidence], Framework], ...] = (
    *(iso_27559, iso_20889, appi_anonymous, appi_public_bodies, appi_pseudonymous, gdpr, ico),
    *(safe_harbor, expert, nist_188, nist_226),
)
SAFE = {"sex": ["f", "m"] * 10, "年代": ["30代", "30代", "40代", "40代"] * 5, "illness": ["flu", "cold"] * 10}
STATED = ReleaseContext(
    **{name: one.metadata["example"] for name, one in QUESTIONS.items() if name != "most_gain"}, most_gain=0.02
)


def case(more: dict[str, Any] | None = None, **options: Any) -> Evidence:
    given: dict[str, Any] = {"k": 5, "context": ReleaseContext(most_gain=0.02), "today": dt.date(2026, 11, 19)}
    return Evidence(pl.DataFrame({**SAFE, **(more or {})}, strict=False), ["sex", "年代"], **(given | options))


def attack(name: str, kind: str = "success", **score: Any) -> dict[str, Any]:
    given = {"value": 0.1, "interval": [0.1, 0.11], "baseline": 0.1, **score}
    return {"threat": "rival", "attack": name, "sensitive": None, "known": ["sex"], "scores": {kind: given}}


SINGLED = attack("downcoding", "singled-out")
SAFE_ATTACKS = [attack("record-linkage"), attack("homogeneity"), SINGLED]


ACCOUNT = {
    "budget_epsilon": 3.0,
    "budget_delta": 1e-9,
    "spent_epsilon": 1.5,
    "left_epsilon": 2.4,
    "spent_rho": 0.031,
    "releases": 2,
}
RUNS = {"promised": 0.455, "empirical": 0.445, "low": 0.395, "high": 0.495, "n_runs": 15_000, "is_kept": True}
USE_FOUND = {name: {"value": 0.2, "interval": [0.15, 0.25]} for name in ("pair-error", "triple-error", "model-loss")}


def clause(page: Framework, ending: str) -> Clause:
    return next(one for one in page.clauses if one.number.endswith(ending) or one.title == ending)


NUMBERS = [f"{n:03}" for n in range(20)]
BROKEN: list[tuple[Callable[[Evidence], Framework], str, Evidence]] = [
    (appi_anonymous, "第34条第1号", case({"連絡": [f"p{n}@mail.example.org" for n in NUMBERS]})),
    (appi_anonymous, "第34条第2号", case({"旅券番号": [f"TK1234{n}" for n in NUMBERS]})),
    (appi_anonymous, "第34条第3号", case({"customer_id": [f"C{n}" for n in NUMBERS]})),
    (appi_anonymous, "第34条第4号", case({"job": ["clerk"] * 19 + ["astronaut"]})),
    (appi_public_bodies, "第62条第1号", case({"連絡": [f"p{n}@mail.example.org" for n in NUMBERS]})),
    (appi_pseudonymous, "第31条第1号", case({"電話": [f"090-1234-5{n}" for n in NUMBERS]})),
    (appi_pseudonymous, "第31条第2号", case({"旅券番号": [f"TK1234{n}" for n in NUMBERS]})),
    (appi_pseudonymous, "第31条第3号", case({"card number": [f"4111-1111-1111-1{n}" for n in NUMBERS]})),
    (gdpr, "Singling out", case(attacks=[attack("downcoding", "singled-out", interval=[0.43, 0.47])])),
    (gdpr, "Linkability", case(attacks=[attack("record-linkage", "certain")])),
    (gdpr, "Inference", case(attacks=[attack("homogeneity", "certain")])),
    (safe_harbor, "(i)(A)", case({"patient name": [f"Imogen Quigley{n}" for n in "abcdefghijklmnopqrst"]})),
    (safe_harbor, "(i)(B)", case({"zip": ["90210", "10001"] * 10})),
    (safe_harbor, "(i)(C)", case({"admission date": ["2020-01-02", "2020-03-04"] * 10})),
    (safe_harbor, "(i)(D)", case({"phone": [f"(415) 555-2{n}" for n in NUMBERS]})),
    (safe_harbor, "(i)(E)", case({"fax": [f"(415) 555-2{n}" for n in NUMBERS]})),
    (safe_harbor, "(i)(F)", case({"x": [f"p{n}@mail.example.org" for n in NUMBERS]})),
    (safe_harbor, "(i)(G)", case({"x": [f"123-45-6{n}" for n in NUMBERS]})),
    (safe_harbor, "(i)(H)", case({"MRN": [f"M{n}" for n in NUMBERS]})),
    (safe_harbor, "(i)(I)", case({"insurance number": [f"H{n}9" for n in NUMBERS]})),
    (safe_harbor, "(i)(J)", case({"account number": [f"A{n}9" for n in NUMBERS]})),
    (safe_harbor, "(i)(K)", case({"driver's license": [f"D{n}9" for n in NUMBERS]})),
    (safe_harbor, "(i)(L)", case({"license plate": [f"7AB{n}" for n in NUMBERS]})),
    (safe_harbor, "(i)(M)", case({"x": [f"00:1b:44:11:3a:{n:02x}" for n in range(20)]})),
    (safe_harbor, "(i)(N)", case({"x": [f"https://home.example.org/{n}" for n in NUMBERS]})),
    (safe_harbor, "(i)(O)", case({"x": [f"10.0.0.{n}" for n in range(20)]})),
    (safe_harbor, "(i)(P)", case({"fingerprint": ["a", "b"] * 10})),
    (safe_harbor, "(i)(Q)", case({"photo": [b"1", b"2"] * 10})),
    (safe_harbor, "(i)(R)", case({"x": [f"KX-{n}-7" for n in NUMBERS]})),
]


@pytest.mark.parametrize(("fill", "item", "broken"), BROKEN, ids=[f"{c.__name__} {i}" for c, i, _ in BROKEN])
def test_clause_is_met_by_a_safe_table_and_not_by_a_broken_one(
    fill: Callable[[Evidence], Framework], item: str, broken: Evidence
) -> None:
    assert clause(fill(case(attacks=SAFE_ATTACKS)), item).outcome == "met"
    assert clause(fill(broken), item).outcome == "not met"


@pytest.mark.parametrize("fill", ALL, ids=[one.__name__ for one in ALL])
@pytest.mark.parametrize("context", [ReleaseContext(), STATED], ids=["nothing stated", "all stated"])
def test_every_clause_has_a_figure_a_field_or_a_reason_and_none_is_met_without_a_bound(
    fill: Callable[[Evidence], Framework], context: ReleaseContext
) -> None:
    risks = {"prosecutor-risk": 0.2, "prosecutor-risk-mean": 0.1, "journalist-risk": 0.1}
    full = case(attacks=SAFE_ATTACKS, risks=risks, epsilon=1.0, population=100, population_uniques=2.0, context=context)
    for one in fill(full).clauses:
        assert (one.figure is not None) == (one.verdict == Verdict.MEASURED)
        assert (one.field is not None) == (one.verdict in (Verdict.STATED, Verdict.OPEN))
        assert one.outcome is None or (one.figure is not None and one.figure.bound is not None)
        assert one.said.format(**one.values) and one.number and one.title and one.asks
        if one.field not in (None, "reviewer"):
            assert one.verdict == (Verdict.STATED if context is STATED else Verdict.OPEN)


@pytest.mark.parametrize("fill", ALL, ids=[one.__name__ for one in ALL])
def test_every_clause_and_every_reason_is_said_in_japanese(fill: Callable[[Evidence], Framework]) -> None:
    risks = {"prosecutor-risk": 0.2, "prosecutor-risk-mean": 0.1}
    moved = {"moved_most": "sex", "largest_drift": 0.1, "n_new_labels": 2, "review_on": None}
    rare = {"job": ["clerk"] * 19 + ["astronaut"], "zip": ["90210", "10001"] * 10, "customer": NUMBERS}
    learned = {**attack("homogeneity"), "sensitive": "illness"}
    model = {"requirement": "k-anonymity (k 5)", "value": 5, "holds": True}
    cases = [
        case(),
        case(attacks=SAFE_ATTACKS, risks=risks, epsilon=1.0, population=100, population_uniques=2.0, context=STATED),
        case(epsilon=1.0, account=ACCOUNT, audit={"use": USE_FOUND, "shadow_runs": RUNS}),
        case(rare, attacks=[learned], earlier=moved, n_alone=3, ranges="tight"),
        case(rare, pseudonyms=["customer"], secrets=["pseudonyms.csv"], method="mondrian", requirements=[model]),
    ]
    for one in cases:
        page = fill(one)
        texts = [page.title, page.source]
        for found in page.clauses:
            texts += [found.title, found.asks, found.said, found.verdict.value, found.outcome or "met"]
            if re.search("[a-z]{3}", found.number) and not found.number.startswith(("WP216", "164")):
                texts.append(found.number)
            if found.field is not None:
                assert label_of(found.field) in SENTENCES
        assert [text for text in texts if text not in OF_DOSSIERS] == []
        told = decide(one, has_sensitive=True)
        sentences = [told.outcome, *(each.said for each in (*told.reasons, *told.conditions))]
        sentences += [told.strongest["said"]] if told.strongest else []
        assert [text for text in sentences if text not in OF_DOSSIERS] == []


def test_column_that_nobody_recognizes_leaves_open_what_it_may_be() -> None:
    # Labels of one row alone may be anything; those of many rows may still be places or dates.
    alone = case({"x1": ["ab"] * 16 + ["cq", "dq", "eq", "fq"]}, attacks=SAFE_ATTACKS)
    assert alone.unrecognized(may_repeat=False) == ["x1"]
    many = case({"x1": ["ab", "cd"] * 10}, attacks=SAFE_ATTACKS)
    assert (many.unrecognized(may_repeat=False), many.unrecognized(may_repeat=True)) == ([], ["x1"])
    for broken, letters in ((alone, "ADPQ"), (many, "BC")):
        for letter in letters:
            found = clause(safe_harbor(broken), f"(i)({letter})")
            assert (found.verdict, found.outcome) == (Verdict.MEASURED, None)
            assert "x1" in found.said.format(**found.values)
    assert clause(safe_harbor(many), "(i)(A)").outcome == "met"


def test_outcome_without_a_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="without a number"):
        Clause("1", "t", "a", Verdict.STATED, "yes", field="harm", outcome="met")


def test_attack_is_held_against_no_bound_that_nobody_stated() -> None:
    measured = clause(gdpr(case(attacks=SAFE_ATTACKS, context=ReleaseContext())), "Linkability")
    assert (measured.verdict, measured.outcome) == (Verdict.MEASURED, None)
    assert clause(gdpr(case()), "Linkability").verdict == Verdict.NOT_MEASURED


def test_file_that_only_its_owner_reads_does_not_meet_the_rule_of_safe_keeping() -> None:
    asked = [one for one in appi_anonymous(case(secrets=["seed.json"])).clauses if "規則第35条" in one.number]
    assert [one.verdict for one in asked] == [Verdict.OPEN] * 3
    assert [one.field for one in asked] == ["responsible", "handling_rules", "access_control"]


@pytest.mark.parametrize(
    ("low", "high", "outcome"), [(0.1, 0.11, "met"), (0.1, 0.2, "undecided"), (0.13, 0.2, "not met")]
)
def test_whole_interval_must_lie_on_one_side_of_the_bound(low: float, high: float, outcome: str) -> None:
    found = clause(gdpr(case(attacks=[attack("record-linkage", value=high, interval=[low, high])])), "Linkability")
    assert found.outcome == outcome
    assert found.figure is not None
    # Blind guessing finds .1, and .02 more were allowed.
    assert found.figure.bound == pytest.approx(0.12)


def test_risk_is_held_against_the_bound_of_the_job() -> None:
    bound = {"of": "prosecutor-risk", "least": None, "most": 0.25, "value": 0.2, "holds": True}
    risks = {"prosecutor-risk": 0.2, "prosecutor-risk-mean": 0.1}
    highest, mean = (one for one in iso_27559(case(risks=risks, bounds=[bound])).clauses if one.number == "7.3.2")
    assert (highest.outcome, mean.outcome) == ("met", None)


@pytest.mark.parametrize(("zips", "outcome"), [(["902", "100"], "met"), (["036", "100"], "not met")])
def test_three_digits_of_a_postal_code_may_stay_where_many_live(zips: list[str], outcome: str) -> None:
    assert clause(safe_harbor(case({"zip": zips * 10})), "(i)(B)").outcome == outcome


@pytest.mark.parametrize(
    ("name", "values", "n"),
    [
        ("age", ["85", "89"], 0),
        ("age", ["85", "90+"], 0),
        ("age", ["85", "91"], 10),
        ("age", ["80-89", "90-99"], 10),
        ("birth year", ["1950", "1937"], 0),
        ("birth year", ["1950", "1936"], 10),
        ("birth year", ["1950-1959", "1930-1939"], 10),
        ("birth year", ["1950-1959", "before 1937"], 10),
        ("birth date", ["1990-05-06", "1991-07-08"], 20),
    ],
)
def test_dates_and_years_are_counted_by_the_ages_that_they_tell(name: str, values: list[str], n: int) -> None:
    # In 2026 whoever was born in 1936 is 89 or 90.
    found = clause(safe_harbor(case({name: values * 10})), "(i)(C)")
    assert found.figure is not None
    assert found.figure.value == n


def test_random_pseudonyms_are_no_linking_code_and_the_table_that_leads_back_is_asked_for() -> None:
    drawn = {"customer": [f"P{n}" for n in range(5)] * 4}
    assert clause(appi_anonymous(case(drawn)), "第34条第3号").outcome == "not met"
    kept = appi_anonymous(case(drawn, pseudonyms=["customer"], secrets=["pseudonyms.csv"]))
    found = [one for one in kept.clauses if one.number == "規則第34条第3号"]
    assert [(one.verdict, one.outcome) for one in found] == [(Verdict.MEASURED, "met"), (Verdict.OPEN, None)]


def test_privacy_parameters_are_told_of_a_release_that_promises_them() -> None:
    first = nist_226(case(epsilon=1.5, unit="people")).clauses[0]
    assert first.said.format(**first.values) == "ε = 1.5, δ = 0, spent in all"
    assert nist_226(case()).clauses[0].verdict == Verdict.NOT_MEASURED


def test_account_runs_and_use_of_a_private_release_are_told_with_their_figures() -> None:
    told = nist_226(case(epsilon=1.0, account=ACCOUNT, audit={"use": USE_FOUND, "shadow_runs": RUNS}))
    spent, found = clause(told, "composition"), clause(told, "μ")
    assert (spent.outcome, found.outcome) == ("met", "met")
    assert spent.figure is not None
    assert (spent.figure.value, spent.figure.bound) == (1.5, 3.0)
    assert spent.said.format(**spent.values).startswith("ε = 1.5 of 3 is spent at δ = 1e-09 (releases: 2)")
    assert found.figure is not None
    assert (found.figure.value, found.figure.low, found.figure.bound) == (0.445, 0.395, 0.455)
    assert [one.figure.low for one in told.clauses if one.number == "use" and one.figure] == [0.15] * 3
    leaking = {**RUNS, "low": 0.5, "is_kept": False}
    assert clause(nist_226(case(epsilon=1.0, audit={"shadow_runs": leaking})), "μ").outcome == "not met"
    # What nobody measured is said as such.
    bare = nist_226(case(epsilon=1.0))
    assert {clause(bare, one).verdict for one in ("composition", "μ", "use")} == {Verdict.NOT_MEASURED}


BOUND = {"of": "k", "least": 5, "most": None, "value": 5, "holds": True}


def test_release_needs_everything_measured_and_everything_stated() -> None:
    context = ReleaseContext(**{**STATED.stated(), "environment": "contract", "harm": "moderate"})
    full: dict[str, Any] = {"attacks": SAFE_ATTACKS, "bounds": [BOUND], "context": context, "reviewer": "H. Sato"}
    assert decide(case(**full), has_sensitive=True).outcome == RELEASE
    # Each of these alone takes the release back to conditions, and never to safe.
    lesser: list[dict[str, Any]] = [
        {"attacks": SAFE_ATTACKS[1:]},
        {"attacks": SAFE_ATTACKS[:1] + SAFE_ATTACKS[2:]},
        {"attacks": SAFE_ATTACKS[:2]},
        {"bounds": []},
        {"reviewer": None},
        {"context": ReleaseContext(**{**context.stated(), "most_gain": None})},
        {"context": ReleaseContext(**{**context.stated(), "review_on": "2026-11-18"})},
        {"context": ReleaseContext(**{**context.stated(), "environment": "public", "harm": "severe"})},
        {"attacks": [*SAFE_ATTACKS, attack("record-linkage", "certain", value=0.01, interval=[0.001, 0.019])]},
        {"attacks": [*SAFE_ATTACKS, attack("record-linkage", interval=[0.05, 0.2])]},
        {"n_released": 60, "n_unchanged": 60},
        {"loss": 0.9},
    ]
    for less in lesser:
        assert decide(case(**{**full, **less}), has_sensitive=True).outcome == CONDITIONS, less


@pytest.mark.parametrize(
    "bad",
    [
        {"bounds": [{**BOUND, "value": 4, "holds": False}]},
        {"requirements": [{"requirement": "k-anonymity (k 5)", "value": 4, "holds": False}]},
        {"attacks": [attack("record-linkage", value=0.3, interval=[0.2, 0.4])]},
        # k of rows promises nothing to people who have several.
        {"several_rows_by": "patient_id"},
        # Nobody stated a bound: one in eleven refuses in public, and where no environment is stated.
        {"attacks": [attack("record-linkage", value=0.3, interval=[0.2, 0.4])], "context": ReleaseContext()},
        # One in five refuses under a contract, .1 by blind guessing and .2 more.
        {
            "attacks": [attack("record-linkage", value=0.35, interval=[0.31, 0.4])],
            "context": ReleaseContext(environment="contract"),
        },
    ],
)
def test_failed_bound_or_an_attack_beyond_what_it_may_gain_forbids_the_release(bad: dict[str, Any]) -> None:
    found = decide(case(**bad), has_sensitive=True)
    assert found.outcome == REFUSE
    assert len(found.reasons) == 3


def test_decision_has_a_verdict_in_a_word() -> None:
    context = ReleaseContext(**{**STATED.stated(), "environment": "contract", "harm": "moderate"})
    safe: dict[str, Any] = {"attacks": SAFE_ATTACKS, "bounds": [BOUND], "context": context, "reviewer": "H. Sato"}
    several = {"several_rows_by": "ward"}
    for more, verdict in (
        ({}, "safe"),
        # Somebody stated that the column tells no person.
        (several, "safe"),
        ({"loss": 0.8}, "safe"),
        ({"n_released": 60, "n_unchanged": 59}, "safe"),
        ({"reviewer": None}, "not yet"),
        ({"n_released": 60, "n_unchanged": 60}, "not yet"),
        ({"loss": 0.81}, "useless"),
        ({"loss": 0.81, "bounds": [{**BOUND, "value": 4, "holds": False}]}, "unsafe"),
        ({"several_rows_by": "ward", "context": replace(context, several_rows=None)}, "unsafe"),
    ):
        told = decide(case(**{**safe, **more}), has_sensitive=True).as_dict()
        assert told["verdict"] == verdict, more
        assert all(one["mend"] for one in told["conditions"])


@pytest.mark.parametrize("reviewer", ["H. Sato", None])
def test_figure_that_nobody_limited_is_a_condition_that_somebody_must_accept(reviewer: str | None) -> None:
    # As of a release with k = 5: five of 100 are found, one by blind guessing, and nobody stated what may be.
    tried = [attack("record-linkage", value=0.05, interval=[0.04, 0.06], baseline=0.01)]
    found = decide(case(attacks=tried, context=ReleaseContext(), reviewer=reviewer), has_sensitive=True)
    assert found.outcome == CONDITIONS
    first = found.conditions[0]
    told = first.said.format(**first.values)
    assert "5 of 100 people found is acceptable (by blind guessing 1)" in told
    assert ("H. Sato has to decide" in told) == (reviewer is not None)
    # What was stated counts in place of it, either way.
    for most, outcome in ((0.02, REFUSE), (0.06, CONDITIONS)):
        case_with = case(attacks=tried, context=ReleaseContext(most_gain=most))
        assert decide(case_with, has_sensitive=True).outcome == outcome


def test_refusal_has_no_reason_in_favor() -> None:
    tried = [attack("record-linkage", value=0.4, interval=[0.35, 0.45], baseline=0.01)]
    found = decide(case(attacks=tried, context=ReleaseContext(), reviewer=None), has_sensitive=True)
    assert found.outcome == REFUSE
    assert "Groups of 11 (k = 11)" in found.reasons[0].said.format(**found.reasons[0].values)
    assert all(not one.said.startswith(("No attack gains", "All {n} requirements")) for one in found.reasons)


def test_attack_that_finds_no_description_of_one_alone_counts_as_measured() -> None:
    tried = attack("singling-out", inputs={"predicates": 0})
    (found,) = (one for one in gdpr(case(attacks=[tried])).clauses if one.title == "Singling out")
    assert (found.verdict, found.outcome) == (Verdict.MEASURED, None)
    assert found.figure is not None
    assert found.figure.value == 0
    said = "Whether labels single people out was not measured."
    assert said not in [one.said for one in decide(case(attacks=[tried]), has_sensitive=False).conditions]
    assert said in [one.said for one in decide(case(), has_sensitive=False).conditions]


def test_strongest_attack_is_that_which_finds_most_beyond_guessing() -> None:
    tried = [attack("homogeneity", value=0.938, baseline=0.938), attack("record-linkage", value=0.401, baseline=0.254)]
    strongest = decide(case(attacks=tried), has_sensitive=True).strongest
    assert strongest is not None
    told = strongest["values"]
    assert (told["attack"], told["found"], told["blind"]) == ("record-linkage", "40.1", "25.4")
    assert strongest["said"].startswith("The strongest attack: {who} finds the record of {found} of 100 people")
