# ruff: noqa: SIM905 - many words are read more easily in one text than in a list.
"""Columns of people's names, told by the names that many have and by how names are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from tokumei.core.text import Text
from tokumei.inspection.person_vocabulary import (
    CHINESE_SURNAMES,
    ENGLISH_NAMES,
    GIVEN_SIGNS,
    KANA_GIVEN,
    KOREAN_SURNAMES,
    NOT_IN_NAMES,
    NOT_NAMES,
    SURNAME_SIGNS,
    SURNAMES,
)

_KANJI = r"[一-龯々〆ヶケ髙﨑德]"
_SPACED = re.compile(rf"({_KANJI}|[ぁ-ん]|[ァ-ヴー]){{1,5}}[ 　・]({_KANJI}|[ぁ-ん]|[ァ-ヴー]){{1,5}}")
_TOGETHER = re.compile(rf"{_KANJI}{{1,4}}({_KANJI}{{1,3}}|[ぁ-ん]{{2,4}}|[ァ-ヴー]{{2,4}})")
_KANA = re.compile(r"[ァ-ヴー]{2,6}[ ・]?[ァ-ヴー]{2,6}")
_TITLES = re.compile(
    r"^(mr|mrs|ms|miss|dr|prof|sir|rev)\.? +|,? +(jr|sr|ii|iii|iv|md|phd|dds|dvm|esq)\.?$", re.IGNORECASE
)
_LATIN_WORD = re.compile(
    r"[^\W\d_]+(['’-][^\W\d_]+)*\.?|(van|von|de|der|den|del|della|di|da|dos|la|le|el|al|bin|ibn|mac|mc)"
)
_HONORIFIC = re.compile(r" ?(様|さん|殿|先生|君|氏|ちゃん)$")
_READINGS = tuple(sorted(set(SURNAMES.values()), key=len, reverse=True))
# Shares of values, from which on a column is taken for one of names.
MOST_OTHER_WORDS, MOST_OTHER_ENDS = 0.05, 0.1
LEAST_KNOWN, LEAST_SHAPED, LEAST_UNIQUE = 0.15, 0.8, 0.5
LEAST_KNOWN_ALONE = 0.3
FEWEST = 3
# Towns are called as families are, so that this alone says little of a column of places.
BY_SURNAME = "{n:.0%} begin with a common surname"
# Signs that a full name has on average; words of the same signs are shorter.
FULL_LENGTH = 3.3


def names_seen(values: Sequence[str], share_distinct: float) -> Text | None:
    """Explain why a column seems to hold people's names; None if it does not.

    values: different values, as they are written. share_distinct: how many of the column's rows have a value of their
    own, since names that nobody knows are told only where nearly everybody has one.
    """
    if len(values) < FEWEST:
        return None
    addressed = _share([_HONORIFIC.search(value) is not None for value in values])
    if addressed >= LEAST_SHAPED:
        return Text("{n:.0%} end as people are addressed", n=addressed)
    cleaned = [_HONORIFIC.sub("", unicodedata.normalize("NFKC", value).strip()) for value in values]
    return (
        _japanese(cleaned, share_distinct) or _kana(cleaned, share_distinct) or _latin(cleaned) or _of_one_sign(cleaned)
    )


def holds_known_name(values: Sequence[str]) -> bool:
    """Whether a common name is among values, for columns that have too few to judge by shares."""
    words = [word for value in values for word in _latin_words(value)]
    is_latin = not NOT_NAMES.intersection(words) and any(word in ENGLISH_NAMES or word in _ROMANIZED for word in words)
    return is_latin or any(_starts_with_surname(value) for value in values)


def are_shaped_as_names(values: Sequence[str]) -> bool:
    """Whether most values look like a surname and a given name, for columns whose header says so."""
    cleaned = [_HONORIFIC.sub("", unicodedata.normalize("NFKC", value).strip()) for value in values]
    return bool(cleaned) and (
        _share([_SPACED.fullmatch(value) is not None or len(_latin_words(value)) >= 2 for value in cleaned])
        >= LEAST_SHAPED
    )


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found)


def _japanese(values: Sequence[str], share_distinct: float) -> Text | None:
    if _share([value not in SURNAMES and _is_ended_otherwise(value) for value in values]) > MOST_OTHER_ENDS:
        return None
    surnames = _share([_starts_with_surname(value) for value in values])
    spaced = _share([_SPACED.fullmatch(value) is not None for value in values])
    together = _share([_TOGETHER.fullmatch(value) is not None for value in values])
    kanji = _share([re.search(_KANJI, value) is not None for value in values])
    if kanji < 0.5:
        return None
    if spaced >= LEAST_SHAPED and (
        surnames >= 0.05
        or share_distinct >= LEAST_UNIQUE
        or _share([_is_split(v) for v in values]) > 0.5
        or _is_product([value.split() for value in values if " " in value], least=FEWEST + 1)
    ):
        return Text(
            "{n:.0%} are two words as a surname and a given name, {m:.0%} begin with a common surname",
            n=spaced,
            m=surnames,
        )
    if surnames >= LEAST_KNOWN_ALONE and together + _share([value in SURNAMES for value in values]) >= 0.5:
        return Text(BY_SURNAME, n=surnames)
    is_long = sum(map(len, values)) >= FULL_LENGTH * len(values)
    signs = [sign for value in values for sign in value]
    usual = _share([sign in SURNAME_SIGNS or sign in GIVEN_SIGNS or _is_kana(sign) for sign in signs])
    if together >= LEAST_SHAPED and is_long and usual >= (0.6 if share_distinct >= 0.3 else 0.85):
        return Text(
            "{n:.0%} are written as surname and given name are, {m:.0%} of their signs are usual in names",
            n=together,
            m=usual,
        )
    given = _share([_is_given(value) for value in values])
    if given >= 0.75 and len(values) >= 8:
        return Text("{n:.0%} are written as given names are", n=given)
    return None


def _is_ended_otherwise(value: str) -> bool:
    """Recognize words for what people do, have or live in by their signs and endings."""
    return bool(NOT_IN_NAMES & set(value)) or value.endswith(("市", "町", "村", "郡"))


def _starts_with_surname(value: str) -> bool:
    # A surname of one sign, as 林, only where nothing or a blank follows: 林業 is no name.
    first = re.split(r"[ 　・]", value)[0]
    return first in SURNAMES or (len(value) > 2 and (value[:3] in SURNAMES or value[:2] in SURNAMES))


def _is_split(value: str) -> bool:
    """Whether a value can be cut into signs of surnames and signs of given names."""
    words = re.split(r"[ 　・]", value)
    cuts = (
        [(words[0], words[1])] if len(words) == 2 else [(value[:at], value[at:]) for at in (2, 1, 3) if at < len(value)]
    )
    return any(
        first
        and rest
        and len(rest) <= 3
        and set(first) <= SURNAME_SIGNS
        and (set(rest) <= GIVEN_SIGNS or _is_hiragana(rest))
        for first, rest in cuts
    )


def _is_kana(sign: str) -> bool:
    return "ぁ" <= sign <= "ヶ"


def _is_given(value: str) -> bool:
    return 1 < len(value) <= 3 and set(value) <= GIVEN_SIGNS


def _is_hiragana(value: str) -> bool:
    return re.fullmatch(r"[ぁ-ん]{2,4}|[ァ-ヴー]{2,4}", value) is not None


def _kana(values: Sequence[str], share_distinct: float) -> Text | None:
    """Recognize readings of names: two words of kana, or one that begins with the reading of a common surname."""
    katakana = [_as_katakana(value) for value in values]
    alone = _share([value in _READINGS or value in KANA_GIVEN for value in katakana])
    if alone >= LEAST_KNOWN_ALONE:
        return Text("{n:.0%} are common names in kana", n=alone)
    shaped = _share([_KANA.fullmatch(value) is not None for value in katakana])
    spaced = _share([" " in value or "・" in value for value in katakana])
    known = _share([value.startswith(_READINGS) for value in katakana])
    long = _share(["ー" in value for value in katakana])
    if shaped < LEAST_SHAPED or long > 0.2:
        return None
    if known >= 0.3 or (spaced >= LEAST_SHAPED and (known >= 0.05 or share_distinct >= LEAST_UNIQUE)):
        return Text("{n:.0%} begin with the reading of a common surname", n=known)
    return None


def _as_katakana(value: str) -> str:
    return "".join(chr(ord(sign) + 96) if "ぁ" <= sign <= "ゖ" else sign for sign in value)


def _latin(values: Sequence[str]) -> Text | None:
    words = [_latin_words(value) for value in values]
    shaped = _share([1 <= len(one) <= 5 for one in words])
    if shaped < LEAST_SHAPED:
        return None
    seen = [one for one in words if one]
    if _share([any(word in NOT_NAMES for word in one) for one in seen]) > MOST_OTHER_WORDS:
        return None
    known = _share([any(word in ENGLISH_NAMES or word in _ROMANIZED for word in one) for one in seen])
    several = _share([len(one) >= 2 for one in seen])
    if several >= LEAST_SHAPED and (known >= LEAST_KNOWN or _is_product(seen)):
        return Text(
            "{n:.0%} hold a common name, and {m:.0%} are two words or more as a full name is", n=known, m=several
        )
    if known >= LEAST_KNOWN_ALONE:
        return Text("{n:.0%} are common names", n=known)
    return None


def _of_one_sign(values: Sequence[str]) -> Text | None:
    """Recognize Chinese and Korean names: two or three signs, of which the first is one of few surnames."""
    for shape, surnames in ((r"[一-龯]{2,3}", CHINESE_SURNAMES), (r"[가-힣]{3}", KOREAN_SURNAMES)):
        share = _share([re.fullmatch(shape, value) is not None and value[0] in surnames for value in values])
        if share >= LEAST_SHAPED and len(values) >= FEWEST + 1:
            return Text("{n:.0%} begin with one of the surnames that most people of China or Korea have", n=share)
    return None


def _latin_words(value: str) -> list[str]:
    """Return the words of a possible name; none where a sign or a small letter rules it out."""
    bare = _TITLES.sub("", _TITLES.sub("", value))
    parts = bare.replace(",", " ").split()
    if not all(_LATIN_WORD.fullmatch(part) for part in parts):
        return []
    if not any(part[0].isupper() for part in parts) and not bare.islower():
        return []
    return [part.lower().rstrip(".") for part in parts]


def _is_product(words: Sequence[Sequence[str]], least: int = 8) -> bool:
    """Whether first and last words each come from a crowd of their own and meet freely, as names do."""
    firsts, lasts = {one[0] for one in words}, {one[-1] for one in words}
    most = max(len(firsts), len(lasts))
    return min(len(firsts), len(lasts)) >= least and (
        len(words) >= 2 * most or min(len(firsts), len(lasts)) > len(words) / 2
    )


def _romanized(reading: str) -> str:
    """Write a reading in Latin letters as passports do: サトウ becomes sato.

    >>> _romanized("サトウ"), _romanized("シミズ"), _romanized("ホンジョウ")
    ('sato', 'shimizu', 'honjo')
    """
    text = "".join(_SYLLABLES.get(sign, "") for sign in reading)
    # A small sign takes the vowel of the one before it.
    text = re.sub(r"(sh|ch|j)i~y|i~(y)", lambda found: found[1] or found[2], text)
    return re.sub(r"^oo|ou(?![aeiou])|uu", lambda found: found[0][0], text)


_SYLLABLES = dict(
    zip(
        "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
        "ガギグゲゴザジズゼゾダヂヅデドバビブベボパピプペポャュョッ",
        (
            "a i u e o ka ki ku ke ko sa shi su se so ta chi tsu te to na ni nu ne no ha hi fu he ho "
            "ma mi mu me mo ya yu yo "
            "ra ri ru re ro wa n ga gi gu ge go za ji zu ze zo da ji zu de do ba bi bu be bo pa pi "
            "pu pe po ~ya ~yu ~yo t"
        ).split(),
        strict=True,
    )
)
_ROMANIZED = frozenset(_romanized(reading) for reading in SURNAMES.values())
