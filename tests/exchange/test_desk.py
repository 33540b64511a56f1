"""A provider's desk: answers, logs, approvals and the folder transport."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import polars as pl
import pytest
from tests.exchange.people import LATTICE, WORDS, node, people

from tokumei.core.chain import digest_of
from tokumei.core.errors import InputError, NotAllowed, PromiseBroken
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.answer import REFUSED
from tokumei.exchange.audit_log import disclosure, disclosure_text
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.desk import DeskFolder, answer_request, open_desk, remembered
from tokumei.exchange.documents import Criterion, Signed
from tokumei.exchange.offer import Lots, Recipient
from tokumei.exchange.offering import OfferTerms
from tokumei.exchange.opening import open_offer
from tokumei.exchange.request import Approval, Request
from tokumei.exchange.transport import FolderTransport, serve
from tokumei.exchange.watch import check_answer, verify_desk

RARE = Lots(1e-9, 1e-9)


def make_desk(folder: Path, key: PrivateKey, **terms: object) -> DeskFolder:
    source = folder / "people.parquet"
    people(200, 3).write_parquet(source)
    table = CountedTable(LATTICE, str(source))
    decided = OfferTerms([Criterion("own", 3)], **{"predictor": "margins", "lots": RARE, **terms})  # type: ignore[arg-type]
    opened = open_offer(
        *(folder / "desk", "people", WORDS, table, decided), key=key, source=str(source), reading={}, registry=None
    )
    return opened.desk


@pytest.fixture
def desk(tmp_path: Path, key: PrivateKey) -> DeskFolder:
    return make_desk(tmp_path, key)


def request(
    desk: DeskFolder, levels: dict[str, int], user: PrivateKey, purpose: str = "study"
) -> tuple[Request, Signed]:
    _, offered = desk.offer()
    made = Request(offered.digest, LATTICE.levels(node(levels)), "own", "a user", purpose)
    return made, made.signed(user)


def ask(desk: DeskFolder, key: PrivateKey, levels: dict[str, int], purpose: str = "study") -> tuple[Signed, str | None]:
    return answer_request(desk, *request(desk, levels, PrivateKey.fresh(), purpose), key=key, table=desk.table())


def test_an_answer_is_signed_logged_twice_and_verified(desk: DeskFolder, key: PrivateKey, tmp_path: Path) -> None:
    found, release = ask(desk, key, {"age": 2})
    assert found.body["outcome"] == "served"
    assert release is not None
    assert found.body["release"] == digest_of(release.encode())
    refused, nothing = ask(desk, key, {"age": 0, "sex": 0, "town": 0})
    assert (refused.body["outcome"], refused.body["message"], nothing) == ("refused", REFUSED, None)
    assert verify_desk(desk) == {"revision": 1, "lines": 3, "served": 1, "refused": 1}
    refused.write(tmp_path / "answer.json")
    assert check_answer(tmp_path / "answer.json", key.public, desk.public_log.path)["log_line"] == 3


def test_the_public_log_tells_outcome_and_digests_and_nothing_else(desk: DeskFolder, key: PrivateKey) -> None:
    ask(desk, key, {"age": 0, "sex": 0, "town": 0})
    says = json.loads(desk.public_log.path.read_text().splitlines()[-1])["payload"]
    assert set(says) == {"what", "request", "outcome", "release", "time"}
    private = json.loads(desk.private_log.path.read_text().splitlines()[-1])["payload"]
    assert private["quadrant"] == "delta"
    assert private["joints"][0]["counted"] == 1


def test_what_is_the_providers_alone_nobody_else_can_read(desk: DeskFolder) -> None:
    private = desk.folder / "private"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert stat.S_IMODE((private / "source.json").stat().st_mode) == 0o600
    assert "people.parquet" not in (desk.folder / "offer.json").read_text()


def test_what_is_out_is_remembered_from_the_log(desk: DeskFolder, key: PrivateKey) -> None:
    ask(desk, key, {"age": 2})
    assert [each.node for each in remembered(desk.private_log.read(key.public)).given] == [node({"age": 2})]
    offer, _ = desk.offer()
    # Each alone is allowed, but not beside the other.
    late = [
        at
        for at in LATTICE
        if offer.zone(at, 3).zone == "allowed" and offer.zone(offer.joint(at, node({"age": 2})), 3).zone == "refused"
    ]
    for at in late:
        assert ask(desk, key, LATTICE.levels(at))[0].body["outcome"] == "refused"
    assert late


def change_line(path: Path, line: int, old: str, new: str) -> None:
    lines = path.read_text().split("\n")
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    path.write_text("\n".join(lines))


def test_a_changed_line_is_found_and_nothing_is_answered(desk: DeskFolder, key: PrivateKey) -> None:
    ask(desk, key, {"age": 2})
    ask(desk, key, {"sex": 0})
    change_line(desk.public_log.path, 2, '"served"', '"refused"')
    with pytest.raises(PromiseBroken, match=r"public.jsonl, line 3: does not follow"):
        verify_desk(desk)
    with pytest.raises(PromiseBroken):
        ask(desk, key, {"town": 1})


def test_lines_missing_at_the_end_are_found(desk: DeskFolder, key: PrivateKey) -> None:
    ask(desk, key, {"age": 2})
    lines = desk.private_log.path.read_text().splitlines(keepends=True)
    desk.private_log.path.write_text("".join(lines[:-1]))
    with pytest.raises(PromiseBroken, match="missing at the end"):
        verify_desk(desk)


def test_a_log_made_anew_by_its_provider_is_found_by_who_has_an_answer(
    desk: DeskFolder, key: PrivateKey, tmp_path: Path
) -> None:
    found, _ = ask(desk, key, {"age": 2})
    found.write(tmp_path / "answer.json")
    log = desk.public_log
    links = log.lines()[:1]
    log.path.write_text("".join(f"{link.line}\n" for link in links))
    log.append({"what": "answer", "outcome": "refused"}, key, links=links)
    with pytest.raises(PromiseBroken, match="line 2: was changed"):
        check_answer(tmp_path / "answer.json", key.public, log.path)


def test_a_release_or_head_that_was_changed_is_found(desk: DeskFolder, key: PrivateKey) -> None:
    ask(desk, key, {"age": 2})
    release = next((desk.folder / "private" / "releases").iterdir())
    before = release.read_text()
    release.write_text(before + "x")
    with pytest.raises(PromiseBroken, match="not as it was given"):
        verify_desk(desk)
    release.write_text(before)
    desk.private_log._sign_head(desk.private_log.lines()[-1], PrivateKey.fresh())
    with pytest.raises(PromiseBroken, match="not by the provider"):
        verify_desk(desk)


def test_a_machine_that_stopped_between_the_logs_is_caught_up_with(desk: DeskFolder, key: PrivateKey) -> None:
    ask(desk, key, {"age": 2})
    lines = desk.public_log.path.read_text().splitlines(keepends=True)
    desk.public_log.path.write_text("".join(lines[:-1]) + lines[-1][:20])
    desk.public_log._sign_head(desk.public_log.lines()[-1], key)
    ask(desk, key, {"age": 2}, "again")
    assert verify_desk(desk)["lines"] == 3


def test_the_same_request_is_answered_once_and_one_for_another_offer_never(desk: DeskFolder, key: PrivateKey) -> None:
    asked = request(desk, {"age": 2}, PrivateKey.fresh())
    answer_request(desk, *asked, key=key, table=desk.table())
    with pytest.raises(NotAllowed, match="answered already"):
        answer_request(desk, *asked, key=key, table=desk.table())
    foreign = Request("0" * 64, LATTICE.levels(LATTICE.top), "own", "a", "b")
    with pytest.raises(InputError, match="the digest of this offer"):
        answer_request(desk, foreign, foreign.signed(key), key=key, table=desk.table())
    with pytest.raises(NotAllowed, match="not the one that signed"):
        answer_request(desk, *asked, key=PrivateKey.fresh(), table=desk.table())


def test_only_named_others_can_approve(tmp_path: Path, key: PrivateKey) -> None:
    second, user, stranger = (PrivateKey.fresh() for _ in range(3))
    listed = [Recipient(user.public, "a user", "own")]
    desk = make_desk(tmp_path, key, approvals_needed=1, approvers=[second.public], recipients=listed)
    made, signed = request(desk, {"age": 2}, user)
    for votes in ([], [(Approval(signed.digest, True), stranger)], [(Approval("0" * 64, True), second)]):
        given = [(each, each.signed(by)) for each, by in votes]
        found, _ = answer_request(desk, made, signed, key=key, table=desk.table(), approvals=given)
        assert found.body["outcome"] == "waiting"
    yes = Approval(signed.digest, True)
    found, _ = answer_request(desk, made, signed, key=key, table=desk.table(), approvals=[(yes, yes.signed(second))])
    assert found.body["outcome"] == "served"
    assert desk.private_log.lines()[-1].payload["approved"] == [second.public]
    made, signed = request(desk, {"sex": 0}, user)
    no = Approval(signed.digest, False)
    found, _ = answer_request(desk, made, signed, key=key, table=desk.table(), approvals=[(no, no.signed(second))])
    assert (found.body["outcome"], found.body["message"]) == ("refused", REFUSED)


def test_folders_carry_requests_in_and_answers_out(desk: DeskFolder, key: PrivateKey, tmp_path: Path) -> None:
    inbox, outbox = tmp_path / "in", tmp_path / "out"
    inbox.mkdir()
    outbox.mkdir()
    _, signed = request(desk, {"age": 2}, PrivateKey.fresh())
    signed.write(inbox / "a.request.json")
    (inbox / "b.request.json").write_text('{"tokumei": "request"')
    (inbox / "c.request.json").symlink_to(desk.folder / "private" / "source.json")
    (inbox / "d.request.json").write_bytes(b"x" * 2_000_000)
    assert serve(desk, FolderTransport(inbox, outbox), key) == 3
    assert (outbox / "a.release.csv").is_file()
    assert check_answer(outbox / "a.answer.json", key.public)["outcome"] == "served"
    assert "expected JSON" in (outbox / "b.problem.txt").read_text()
    assert not list(outbox.glob("c.*"))
    # What was answered is not answered again.
    assert serve(desk, FolderTransport(inbox, outbox), key) == 0


def test_a_broken_log_stops_the_service_and_tells_users_nothing(
    desk: DeskFolder, key: PrivateKey, tmp_path: Path
) -> None:
    inbox = tmp_path / "in"
    inbox.mkdir()
    request(desk, {"age": 2}, PrivateKey.fresh())[1].write(inbox / "a.request.json")
    change_line(desk.private_log.path, 1, '"offer"', '"other"')
    with pytest.raises(PromiseBroken):
        serve(desk, FolderTransport(inbox, inbox), key)
    assert not list(inbox.glob("*.problem.txt"))


def test_the_public_is_told_what_was_given_without_the_recipe(desk: DeskFolder, key: PrivateKey) -> None:
    ask(desk, key, {"age": 2}, "a [study](http://x) of\n# ages")
    offer, _ = desk.offer()
    told = disclosure(offer, key.public, desk.private_log.read(key.public))
    assert told["given"][0]["groups"] == {"age": 2, "sex": 1, "town": 1}
    assert (told["given"][0]["k"], told["n_requests"]) == (3, 1)
    text = disclosure_text(offer, key.public, desk.private_log.read(key.public))
    assert "age in 2 groups" in text
    assert r"\[study\](http://x) of \# ages" in text
    assert "secret" not in json.dumps(told)


def test_a_desk_needs_a_folder_of_its_own(desk: DeskFolder, key: PrivateKey) -> None:
    offer, _ = desk.offer()
    with pytest.raises(NotAllowed, match="a folder of its own"):
        open_desk(desk.folder, offer, "", "x", {}, key, secret=b"", table="")
    with pytest.raises(InputError, match="a desk made by"):
        DeskFolder(desk.folder / "private").source  # noqa: B018 - reading it is what is tested.


def test_releases_hold_no_order_that_rows_could_be_matched_by(desk: DeskFolder, key: PrivateKey) -> None:
    _, release = ask(desk, key, {"age": 2})
    assert release is not None
    frame = pl.read_csv(release.encode(), infer_schema=False)
    assert frame.equals(frame.sort(frame.columns[:-1]))
    assert frame.height == frame.unique(frame.columns[:-1]).height


def test_a_full_disk_leaves_the_log_as_it_was(
    desk: DeskFolder, key: PrivateKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = desk.public_log
    links, before, head = log.lines(), log.path.read_bytes(), log.head_path.read_bytes()

    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", refuse)
        with pytest.raises(OSError, match="No space"):
            log.append({"what": "answer"}, key, links=links)
    assert (log.path.read_bytes(), log.head_path.read_bytes()) == (before, head)
    assert log.lines() == links
