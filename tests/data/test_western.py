"""Western text in cp1252 is told from all that only decodes as it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokumei.cli.main import main
from tokumei.data.files.text_bytes import EUC_JP, SHIFT_JIS, UTF_8, find_encoding

WESTERN = (
    "Müller Groß Zürich Köln Straße Österreich Käthe",
    "Élise Hélène François Noël Genève garçon œuvre où Jérôme l’été",
    "España Muñoz José Málaga ¿Qué? niño Ángel Peñíscola",
    "João São Conceição Magalhães coração avô",
    "Nicolò perché città Forlì più",
    "Malmö Åsa Göteborg Växjö Håkan",
    "Søren Ærø København Åse Bjørn",
)
OTHERS = {
    "cp1250": ("Łódź mały książka żółty", "Dvořák příliš žluťoučký kůň", "Kovačić čovjek šuma", "Erdős Győr ötödik űr"),
    "cp1251": ("Иванов Пётр Москва", "я и ты"),
    "cp1253": ("Αθήνα Γιώργος",),
    "cp1254": ("İstanbul Işık Şahin ağaç",),
    "mac_roman": ("Müller Zürich", "José Muñoz España", "Hélène François"),
    "cp850": ("Müller Zürich", "José Muñoz España", "Hélène François"),
    "gbk": ("北京 张伟", "a 中 b"),
    "big5": ("臺北 陳先生",),
    "euc_kr": ("서울 김철수", "a 한 b"),
}
KANA = "あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんアイウエオー"
KANJI = "日本東京大阪男女年齢都道府県学歴職業患者番号氏名病名住所郵便電話会社佐藤鈴木高橋田中伊渡辺山小林加吉村"


def table(words: str) -> str:
    return "name,age\n" + "".join(f"{word},{20 + at}\n" for at, word in enumerate(words.split()))


@pytest.mark.parametrize("words", WESTERN)
def test_western_text_is_read_as_cp1252(words: str) -> None:
    assert find_encoding(table(words).encode("cp1252")) == "cp1252"


@pytest.mark.parametrize(("encoding", "words"), [(name, words) for name, some in OTHERS.items() for words in some])
def test_text_in_another_encoding_is_not_taken_for_western(encoding: str, words: str) -> None:
    assert find_encoding(table(words).encode(encoding)) != "cp1252"


@given(st.lists(st.sampled_from(" ".join(WESTERN[:5]).split()), min_size=1, max_size=30))
def test_no_western_words_are_ever_read_as_other_text(words: list[str]) -> None:
    text = table(" ".join(words))
    found = find_encoding(text.encode("cp1252"))
    assert found is None or text.encode("cp1252").decode(found) == text


@pytest.mark.parametrize("word", [*KANA, *KANJI])
def test_no_single_character_of_japanese_is_read_as_western(word: str) -> None:
    assert find_encoding(table(word).encode(EUC_JP)) != "cp1252"
    assert find_encoding(table(word).encode(SHIFT_JIS)) != "cp1252"


@given(st.lists(st.text(KANA + KANJI, min_size=1, max_size=8), min_size=1, max_size=20), st.booleans())
def test_japanese_text_is_never_read_as_western(words: list[str], is_euc: bool) -> None:
    text = table(" ".join(words))
    found = find_encoding(text.encode(EUC_JP if is_euc else SHIFT_JIS))
    assert found != "cp1252"
    if not is_euc:
        assert found == SHIFT_JIS


@given(st.lists(st.text(KANA, min_size=2, max_size=8), min_size=3, max_size=20))
def test_japanese_with_kana_in_euc_is_read_as_such(words: list[str]) -> None:
    text = table(" ".join([*words, "都道府県"]))
    assert find_encoding(text.encode(EUC_JP)) == EUC_JP


@given(st.text(KANA + KANJI + "éüñß", min_size=1))
def test_utf8_stays_utf8(text: str) -> None:
    assert find_encoding(text.encode()) == UTF_8


def test_command_reads_western_text_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes(table(WESTERN[0]).encode("cp1252"))
    with pytest.raises(SystemExit, match="0"):
        main(["data", "describe", str(file)])
    printed = capsys.readouterr()
    assert "read as Western text (cp1252); if letters look wrong, give its --encoding" in printed.err
    assert "Österreich" in printed.out or "Zürich" in printed.out
