"""Every number of a score is explained in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tokumei.attacks.registry import HISTORY_ATTACKS, TABLE_ATTACKS
from tokumei.contest.custom.template import template
from tokumei.contest.edition import Edition, Measure, TeamEntry, files_in
from tokumei.contest.editions.pwscup2015.edition import Pwscup2015
from tokumei.contest.editions.pwscup2016.edition import Pwscup2016
from tokumei.contest.editions.pwscup2017.edition import Pwscup2017
from tokumei.contest.editions.pwscup2018.edition import Pwscup2018
from tokumei.contest.measures import ATTACKS, LOSSES, attack_measure, loss_measure
from tokumei.contest.setting import parse_setting
from tokumei.measures.registry import HISTORY_UTILITIES, TABLE_UTILITIES

# Names that only lead to numbers: parts of a score, and levels of knowledge.
PARTS = {"utility", "safety", "attribution", "reidentification", "row_map"}


EDITIONS: dict[str, Edition] = {
    "2015": Pwscup2015(n_rows=40),
    "2016": Pwscup2016(n_customers=6),
    "2017": Pwscup2017(n_customers=6, known=(50, 100)),
    "2018": Pwscup2018(n_customers=6),
    "own table": parse_setting(template("table")),
    "own history": parse_setting(template("history")),
}


def names_of(details: Mapping[str, Any]) -> set[str]:
    """Return every name in a score, however deep, but those of levels of knowledge."""
    found = {name for name in details if not name.isdigit()}
    for below in details.values():
        found |= names_of(below) if isinstance(below, Mapping) else set()
    return found


@pytest.mark.parametrize("edition", EDITIONS.values(), ids=EDITIONS)
def test_every_number_of_a_score_has_its_measure(edition: Edition, tmp_path: Path) -> None:
    terms = edition.terms
    explained = {measure.name for measure in terms.measures}
    folders = {name: tmp_path / name for name in ("data", "known", "release", "published", "truth", "guess")}
    for folder in folders.values():
        folder.mkdir()
    edition.make_data(folders["data"], seed=1)
    data = files_in(folders["data"], terms.data_files)
    edition.draw_knowledge(data, folders["known"], seed=1)
    known = files_in(folders["known"], terms.all_knowledge_files)
    edition.anonymize(edition.anonymizers()[0], data, folders["release"], seed=1)
    release = files_in(folders["release"], terms.release_files)
    score = edition.score(data, known, release)
    parts = {name for name in PARTS if isinstance(score.details.get(name), Mapping)}
    assert names_of(score.details) - parts <= explained

    edition.publish(data, release, folders["published"], folders["truth"], seed=1)
    seen = files_in(folders["published"], terms.published_files)
    level = next(iter(terms.knowledge_files))
    part = {role.name: known[role.name] for role in terms.knowledge_files[level]}
    edition.attack(edition.attacks()[0], data, part, seen, folders["guess"], seed=1)
    guess = files_in(folders["guess"], terms.guess_files)
    judged = edition.judge(data, seen, files_in(folders["truth"], terms.truth_files), guess)
    assert names_of(judged.details) <= explained
    (standing,) = edition.rank([TeamEntry("red", score)])
    assert set(standing.numbers) <= explained


def test_every_registered_part_is_explained() -> None:
    assert set(HISTORY_UTILITIES) | set(TABLE_UTILITIES) <= set(LOSSES)
    assert set(HISTORY_ATTACKS) | set(TABLE_ATTACKS) <= set(ATTACKS)


@pytest.mark.parametrize("measure", [loss_measure(name, name) for name in LOSSES], ids=lambda one: one.name)
def test_loss_says_what_its_ends_mean(measure: Measure) -> None:
    for said in (measure.says, measure.says_ja):
        assert "0" in said
        assert "1" in said or "upper end" in said or "上限" in said


def test_part_of_another_package_is_explained_by_its_docstring() -> None:
    assert loss_measure("mine", "nobody-has-this", "Share lost: 0 if none.\n\nMore.").says == "Share lost: 0 if none."
    assert attack_measure("mine", "nobody-has-this", "Looks hard.").says_ja == "Looks hard."
