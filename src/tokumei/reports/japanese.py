"""What the library says, in Japanese: a catalogue of sentences by their forms, which Text carries.

Contexts of the catalogue: sentences of the library have none; `error`, what was expected where something is wrong;
`contest`, what the checks of a contest expect; `method`, `measure`, `attack` and `preparation`, names of parts; `page`
and `law`, the words of dossiers.
"""

from __future__ import annotations

import gettext
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tokumei.core.catalogue import read_po
from tokumei.core.errors import Fault
from tokumei.core.text import Text

LIBRARY = Path(__file__).with_name("locale") / "ja" / "LC_MESSAGES" / "tokumei.po"


class Words(Mapping[str, str]):
    """The Japanese of some contexts; what the first of them has counts before the others."""

    def __init__(self, *contexts: str) -> None:
        self.contexts = contexts

    def __getitem__(self, text: str) -> str:
        for context in self.contexts:
            found = _catalogue().pgettext(context, text) if context else _catalogue().gettext(text)
            if found != MISSING:
                return found
        raise KeyError(text)

    def __iter__(self) -> Iterator[str]:
        known = read_po(LIBRARY.read_text(encoding="utf-8"))
        return iter(dict.fromkeys(one.text for one in known if one.context in self.contexts))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Missing(gettext.NullTranslations):
    """Answers for what the catalogue does not have: gettext would hand the English back."""

    def gettext(self, _message: str) -> str:
        return MISSING

    def pgettext(self, _context: str, _message: str) -> str:
        return MISSING


# No sentence: NUL stands in no catalogue.
MISSING = "\0"


@cache
def _catalogue() -> gettext.GNUTranslations:
    with LIBRARY.with_suffix(".mo").open("rb") as file:
        found = gettext.GNUTranslations(file)
    found.add_fallback(_Missing())
    return found


SENTENCES = Words("error", "")
OF_CONTESTS = Words("contest", "error", "")
MEASURES_AND_ATTACKS = Words("attack", "measure")
OF_DOSSIERS = Words("page", "law", "preparation", "attack", "measure", "method")


def in_japanese(text: str) -> str | None:
    """Translate a sentence of the library by its form, if it has one; None where words are missing.

    >>> in_japanese(Text("{kind}: {reason}", kind=Text("ages"), reason=Text("its header says so")))
    '年齢：見出しがそう示しています'
    """
    return text.in_words(SENTENCES) if isinstance(text, Text) else SENTENCES.get(text)


def expected_in_japanese(fault: Fault) -> str | None:
    """Describe what was expected in Japanese; None where no words are known."""
    return Text(fault.form, **fault.values).in_words(OF_CONTESTS)


def found_in_japanese(fault: Fault) -> str | None:
    """Describe what was found, in Japanese where it comes from the check and not from a cell."""
    return (fault.value.in_words(OF_CONTESTS) if isinstance(fault.value, Text) else None) or fault.value


def sentence_in_japanese(fault: Fault) -> str:
    """Describe a whole fault in Japanese, as `str` does in English."""
    where = {"": fault.file, "オプション ": fault.option, "行 ": fault.line, "列 ": fault.column}
    place = "、".join(f"{what}{one}" for what, one in where.items() if one)
    found = found_in_japanese(fault)
    there = f"「{found}」があります。" if found else ""
    rule = f"（ルール {fault.rule}）" if fault.rule else ""
    said = f"{there}必要なもの：{expected_in_japanese(fault) or fault.wanted}{rule}"
    return f"{place}：{said}" if place else said
