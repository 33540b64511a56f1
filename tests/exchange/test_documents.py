"""Signed documents: what is changed, missing, doubled or strange is named."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from tokumei.core.errors import InputError, MissingExtra, NotAllowed, PromiseBroken
from tokumei.data.files.keys import PrivateKey, is_signed_by, read_private, read_public, write_keys
from tokumei.exchange.documents import Document, parse_signed, read_json, read_signed, sign


def test_signed_document_comes_back_as_it_was(key: PrivateKey, tmp_path: Path) -> None:
    signed = sign("note", 1, {"text": "ねこ", "number": 0.1}, key)
    signed.write(tmp_path / "note.json")
    assert read_signed(tmp_path / "note.json", "note", 1) == signed


def test_changed_letter_breaks_the_signature(key: PrivateKey) -> None:
    text = sign("note", 1, {"text": "yes"}, key).text()
    with pytest.raises(PromiseBroken, match="changed after it was signed"):
        parse_signed(text.replace("yes", "no"), "note", 1)


def test_signature_of_another_key_does_not_fit(key: PrivateKey) -> None:
    other = PrivateKey.fresh()
    text = sign("note", 1, {}, key).text().replace(key.public, other.public)
    with pytest.raises(PromiseBroken):
        parse_signed(text, "note", 1)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "JSON"),
        ("[]", "an object"),
        ('{"a": 1, "a": 2}', "each name once"),
        ('{"a": NaN}', "a finite number"),
        ("[" * 100_000, "sensible depth"),
        ('{"a": ' + "9" * 5_000 + "}", "sensible length"),
    ],
)
def test_strange_json_is_refused_with_what_is_wrong(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        parse_signed(text, "note", 1, file="note.json")


def test_other_kind_version_and_further_fields_are_named(key: PrivateKey) -> None:
    shape = json.loads(sign("note", 1, {}, key).text())
    for change, named in (({"tokumei": "offer"}, "tokumei"), ({"version": 2}, "version"), ({"more": 1}, "more")):
        with pytest.raises(InputError, match=named):
            parse_signed(json.dumps(shape | change), "note", 1)


def test_fields_name_the_index_and_what_was_expected() -> None:
    fields = Document({"a": {"b": -1}, "c": [{"d": "x"}]}, "f.json")
    with pytest.raises(InputError, match=r"f.json, column a.b: found '-1', expected a whole number from 0"):
        fields.inside("a").whole("b")
    with pytest.raises(InputError, match=r"column c\[0\].d"):
        fields.objects("c")[0].number("d", least=0, most=1)
    with pytest.raises(InputError, match="a key that is known: none at all"):
        Document({"z": 1}).finish()
    with pytest.raises(InputError, match="column gone: expected text"):
        fields.text("gone")


def test_true_is_no_number() -> None:
    fields = Document(read_json('{"n": true}'))
    with pytest.raises(InputError):
        fields.whole("n")


def test_private_key_is_its_owners_alone_and_never_overwritten(tmp_path: Path) -> None:
    key = PrivateKey.fresh()
    private, public = write_keys(tmp_path / "me", key)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert read_private(private) == key
    assert read_public(public) == key.public
    assert key.secret.hex() not in repr(key)
    with pytest.raises(NotAllowed, match="never overwritten"):
        write_keys(tmp_path / "me", key)
    private.chmod(0o644)
    with pytest.raises(NotAllowed, match="chmod 600"):
        read_private(private)


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pub").write_text("tokumei-ed25519 AAAA\n")
    with pytest.raises(InputError, match="a key written by"):
        read_public(tmp_path / "a.pub")
    assert not is_signed_by("no base64!", b"", "")


def test_without_cryptography_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    with pytest.raises(MissingExtra, match=r"tokumei\[exchange\]"):
        PrivateKey.fresh()
