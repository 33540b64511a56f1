"""The public half of a desk, and answers that are given again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.exchange.people import LATTICE, WORDS, people

from tokumei.core.errors import PromiseBroken
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.desk import DeskFolder, answer_request
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import Lots
from tokumei.exchange.offering import OfferTerms
from tokumei.exchange.opening import open_offer
from tokumei.exchange.request import make_request
from tokumei.exchange.transport import Incoming, repeat_answer
from tokumei.exchange.watch import verify_public


@pytest.fixture
def desk(tmp_path: Path, key: PrivateKey) -> DeskFolder:
    people(400, 1).write_csv(tmp_path / "people.csv")
    source = str(tmp_path / "people.csv")
    terms = OfferTerms([Criterion("own", 3)], lots=Lots(1e-9, 1e-9), predictor="margins")
    table = CountedTable(LATTICE, source)
    return open_offer(
        *(tmp_path / "desk", "people", WORDS, table, terms), key=key, source=source, reading={}, registry=None
    ).desk


def public_half(desk: DeskFolder, folder: Path) -> Path:
    """Copy what everybody may have."""
    shutil.copytree(desk.folder, folder, ignore=shutil.ignore_patterns("private"))
    return folder


def test_public_half_is_verified_without_the_private_one(desk: DeskFolder, tmp_path: Path) -> None:
    copy = public_half(desk, tmp_path / "copy")
    assert verify_public(copy) == {"revision": 1, "lines": 1, "served": 0, "refused": 0}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("public.jsonl", '"revision":1', '"revision":2'),
        ("first-release.csv", "n_rows", "rows"),
        ("revisions/0001.json", "A shop", "B shop"),
        ("public.head.json", '"number":1', '"number":2'),
    ],
)
def test_public_half_with_a_changed_file_is_refused(
    desk: DeskFolder, tmp_path: Path, name: str, old: str, new: str
) -> None:
    copy = public_half(desk, tmp_path / "copy")
    text = (copy / name).read_text()
    assert old in text
    (copy / name).write_text(text.replace(old, new, 1))
    with pytest.raises(PromiseBroken):
        verify_public(copy)


def test_answer_is_repeated_to_the_letter_and_only_where_there_was_one(desk: DeskFolder, key: PrivateKey) -> None:
    offer, offered = desk.offer()
    levels = offer.lattice.levels(offer.lattice.top) | {"sex": 0}
    user = PrivateKey.fresh()
    made = make_request(offer, offered.digest, levels, signer=user.public, user="one", purpose="a study")
    signed = made.signed(user)
    incoming = Incoming("one", signed.text())
    assert repeat_answer(desk, incoming, key) is None
    answer, release = answer_request(desk, made, signed, key=key, table=desk.table())
    again = repeat_answer(desk, incoming, key)
    assert again is not None
    assert again.answer is not None
    assert (again.answer.text(), again.release) == (answer.text(), release)
    assert answer.body["outcome"] == "served"
    assert repeat_answer(desk, Incoming("two", "{}"), key) is None
