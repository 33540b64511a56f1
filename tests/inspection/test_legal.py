"""Each legal item is met by one table and not by another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from tokumei.inspection.legal import LegalCase, safe_harbor, wp216
from tokumei.inspection.legal_japan import anonymously_processed, pseudonymously_processed

SAFE = {"sex": ["f", "m"] * 10, "年代": ["30代", "30代", "40代", "40代"] * 5, "illness": ["flu", "cold"] * 10}
HOLDS = [{"bound": "k at least 2", "holds": True}]


def case(more: dict[str, Any] | None = None, **options: Any) -> LegalCase:
    given: dict[str, Any] = {"k": 5, "bounds": HOLDS, "is_secret_apart": True, "secrets": ["seed.json"]}
    return LegalCase(pl.DataFrame({**SAFE, **(more or {})}, strict=False), ["sex", "年代"], **(given | options))


def finding(page: dict[str, Any], ending: str) -> str:
    return next(
        str(one["finding"]) for one in page["items"] if one["article"].endswith(ending) or one["item"] == ending
    )


def attack(name: str, certain: float) -> dict[str, Any]:
    scores = {"certain": {"value": certain, "interval": [certain, certain + 0.001]}}
    return {"threat": "rival", "attack": name, "sensitive": None, "known": ["sex"], "scores": scores}


def downcoding(found: float, low: float, high: float, blind: float) -> dict[str, Any]:
    score = {"value": found, "interval": [low, high], "baseline": blind}
    return {"threat": "rival", "attack": "downcoding", "known": ["sex"], "scores": {"singled-out": score}}


NUMBERS = [f"{n:03}" for n in range(20)]
BROKEN: list[tuple[Callable[[LegalCase], dict[str, Any]], str, LegalCase]] = [
    (anonymously_processed, "第34条第1号", case({"連絡": [f"p{n}@mail.example.org" for n in NUMBERS]})),
    (anonymously_processed, "第34条第2号", case({"旅券番号": [f"TK1234{n}" for n in NUMBERS]})),
    (anonymously_processed, "第34条第3号", case({"customer_id": [f"C{n}" for n in NUMBERS]})),
    (anonymously_processed, "第34条第4号", case({"job": ["clerk"] * 19 + ["astronaut"]})),
    (anonymously_processed, "第34条第5号", case(k=1)),
    (anonymously_processed, "規則第35条", case(is_secret_apart=False)),
    (pseudonymously_processed, "第31条第1号", case({"電話": [f"090-1234-5{n}" for n in NUMBERS]})),
    (pseudonymously_processed, "第31条第2号", case({"旅券番号": [f"TK1234{n}" for n in NUMBERS]})),
    (pseudonymously_processed, "第31条第3号", case({"card number": [f"4111-1111-1111-1{n}" for n in NUMBERS]})),
    (pseudonymously_processed, "規則第32条", case(is_secret_apart=False)),
    (wp216, "singling out", case(k=1)),
    (wp216, "singling out", case(attacks=[downcoding(0.45, 0.43, 0.47, 0.28)])),
    (wp216, "linkability (rival)", case(attacks=[attack("record-linkage", 0.1)])),
    (wp216, "inference (rival)", case(attacks=[attack("homogeneity", 0.1)])),
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
ATTACKED: dict[str, Any] = {
    "attacks": [attack("record-linkage", 0.0), attack("homogeneity", 0.0), downcoding(0.23, 0.22, 0.24, 0.23)]
}


@pytest.mark.parametrize(("check", "item", "broken"), BROKEN, ids=[f"{c.__name__} {i}" for c, i, _ in BROKEN])
def test_legal_item_is_met_by_a_safe_table_and_not_by_a_broken_one(
    check: Callable[[LegalCase], dict[str, Any]], item: str, broken: LegalCase
) -> None:
    assert finding(check(case(**ATTACKED)), item) == "met"
    assert finding(check(broken), item) == "not met"


def test_what_only_people_can_know_is_theirs_to_judge() -> None:
    assert finding(safe_harbor(case()), "164.514(b)(2)(ii)") == "yours to judge"
    assert finding(anonymously_processed(case(bounds=[], **ATTACKED)), "第34条第5号") == "yours to judge"
    few = case({"income": [30.5] * 18 + [31.5, 1160.5]})
    assert finding(anonymously_processed(few), "第34条第4号") == "yours to judge"
    assert finding(anonymously_processed(case(is_secret_apart=None)), "規則第35条") == "yours to judge"


def test_tight_ranges_are_told_whatever_attacks_found() -> None:
    items = wp216(case(**ATTACKED, ranges="tight"))["items"]
    assert items[1]["finding"] == "yours to judge"
    assert "both ends of each are values of people" in items[1]["evidence"]
    assert wp216(case(**ATTACKED, ranges="grid")) == wp216(case(**ATTACKED))


def test_no_criterion_is_met_by_counting_alone() -> None:
    for criterion in ("singling out", "linkability", "inference"):
        assert finding(wp216(case()), criterion) == "not measured"
    # Neither by a k of a thousand and bounds that hold.
    assert finding(anonymously_processed(case(k=1000)), "第34条第5号") == "not measured"
    uncounted: dict[str, Any] = {"attacks": [{**attack("record-linkage", 0.0), "scores": {}}]}
    assert finding(wp216(case(**uncounted)), "linkability (rival)") == "not measured"
    assert finding(anonymously_processed(case(**uncounted)), "第34条第5号") == "not measured"


def score(low: float, high: float, blind: float | None) -> dict[str, Any]:
    return {"value": (low + high) / 2, "interval": [low, high]} | ({} if blind is None else {"baseline": blind})


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (score(0.22, 0.24, 0.23), "met"),
        (score(0.10, 0.12, 0.23), "met"),
        (score(0.22, 0.26, 0.23), "yours to judge"),
        (score(0.26, 0.30, 0.23), "not met"),
        (score(0.0, 0.001, None), "yours to judge"),
        ({"value": 0.0, "baseline": 0.23}, "yours to judge"),
    ],
)
@pytest.mark.parametrize(
    ("name", "kind", "criterion"),
    [
        ("downcoding", "singled-out", "singling out"),
        ("record-linkage", "success", "linkability (rival)"),
        ("linkage", "row", "linkability (rival)"),
        ("homogeneity", "success", "inference (rival)"),
    ],
)
def test_each_criterion_is_judged_by_its_interval_against_chance(
    name: str, kind: str, criterion: str, found: dict[str, Any], expected: str
) -> None:
    tried = {**attack(name, 0.0), "scores": {kind: found}}
    item = next(one for one in wp216(case(attacks=[tried]))["items"] if one["item"] == criterion)
    assert item["finding"] == expected
    # The figure stands beside the finding, with both ends of its interval where it has one.
    for told in (found["value"], *found.get("interval", [])):
        assert f"{told:.3g}" in item["evidence"]


def test_figures_of_singling_out_are_evidence() -> None:
    told = wp216(case(**ATTACKED))["items"][0]
    assert told["evidence"] == (
        "downcoding: the end of a range fits one person in 0.23 (0.22 to 0.24), any value of it in 0.23"
    )


@pytest.mark.parametrize(("zips", "met"), [(["902", "100"], "met"), (["036", "100"], "not met")])
def test_three_digits_of_a_postal_code_may_stay_where_many_live(zips: list[str], met: str) -> None:
    assert finding(safe_harbor(case({"zip": zips * 10})), "(i)(B)") == met


@pytest.mark.parametrize(("ages", "met"), [(["85", "89"], "met"), (["85", "90+"], "met"), (["85", "91"], "not met")])
def test_ages_over_89_are_told_and_an_open_end_is_allowed(ages: list[str], met: str) -> None:
    assert finding(safe_harbor(case({"age": ages * 10})), "(i)(C)") == met


@pytest.mark.parametrize(("years", "met"), [(["1950", "1937"], "met"), (["1950", "1936"], "not met")])
def test_years_of_birth_that_tell_an_age_over_89_are_told(years: list[str], met: str) -> None:
    # In 2026 whoever was born in 1936 is 89 or, for most of the year, 90.
    assert finding(safe_harbor(case({"birth year": years * 10}, year=2026)), "(i)(C)") == met


def test_random_pseudonyms_are_no_linking_code_once_nothing_leads_back() -> None:
    drawn = {"customer": [f"P{n}" for n in range(5)] * 4}
    assert finding(anonymously_processed(case(drawn)), "第34条第3号") == "not met"
    assert finding(anonymously_processed(case(drawn, pseudonyms=["customer"])), "第34条第3号") == "met"
    kept = case(drawn, pseudonyms=["customer"], secrets=["pseudonyms.csv"])
    assert finding(anonymously_processed(kept), "第34条第3号") == "yours to judge"


def test_an_attack_on_a_history_is_told_as_linkability() -> None:
    tried = {"threat": "rival", "attack": "tfidf", "known": 0.25, "scores": {"row": {"value": 0.1}}}
    found = wp216(case(attacks=[tried]))["items"][1]
    assert (found["item"], found["finding"], found["evidence"]) == (
        "linkability (rival)",
        "yours to judge",
        "tfidf: row 0.1",
    )


def test_notices_are_drafted_with_the_released_columns() -> None:
    assert any("illness" in draft for draft in anonymously_processed(case())["drafts"])
