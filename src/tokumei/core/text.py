"""Sentences that keep their form and what stands in it, so that they can be said in another language.

Nobody has to recognize an English sentence again: whoever shows it asks for the form. Numbers with their nouns, and
lists to choose from, are worded alike everywhere.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from typing import Any, Self, TypeAlias

# An object of JSON: whoever reads a value of it knows what stands there.
Json: TypeAlias = dict[str, Any]
# The same where it is only read.
JsonView: TypeAlias = Mapping[str, Any]


class Text(str):
    """A sentence in English, made of a form and what stands in its {names}; another text may stand there, too.

    >>> said = Text("{kind}: {n:,} different words", kind=Text("ages"), n=1200)
    >>> said
    'ages: 1,200 different words'
    >>> said.in_words({"{kind}: {n} different words": "{kind}：{n} 種類の語", "ages": "年齢"})
    '年齢：1,200 種類の語'
    """

    form: str
    values: Mapping[str, Any]

    def __new__(cls, form: str, /, **values: object) -> Self:
        """Put the values into the form; a form without values is the sentence itself, braces and all."""
        made = super().__new__(cls, form.format(**values) if values else form)
        made.form, made.values = form, values
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        # What is handed to another process keeps its form, too.
        return (self.form,), dict(self.values)

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def in_words(self, words: Mapping[str, str]) -> str | None:
        """Translate by the form without how numbers are written; None where words are missing."""
        if not self.values:
            return words.get(self.form)
        parts = list(string.Formatter().parse(self.form))
        wanted = words.get("".join(part + ("" if name is None else f"{{{name}}}") for part, name, _, _ in parts))
        if wanted is None:
            return None
        said = {name: _in_words(self.values[name], f"{{:{how}}}", words) for _, name, how, _ in parts if name}
        return None if None in said.values() else wanted.format(**said)


def _in_words(value: object, how: str, words: Mapping[str, str]) -> str | None:
    """Translate what stands in a form: a text in words, a name or number as it is written in English."""
    return value.in_words(words) if isinstance(value, Text) else how.format(value)


def to_json(value: object) -> Any:
    """Convert texts to what JSON can hold and `from_json` reads; all other values stay as they are."""
    if isinstance(value, Text):
        return {"said": value.form, "values": {name: to_json(one) for name, one in value.values.items()}}
    if isinstance(value, Mapping):
        return {str(key): to_json(one) for key, one in value.items()}
    return [to_json(one) for one in value] if isinstance(value, (list, tuple)) else value


def from_json(found: dict[str, Any]) -> Any:
    """Read a text back: what `to_json` gave, or as the `object_hook` of `json.loads` all of a file."""
    if set(found) != {"said", "values"}:
        return found
    values = {name: from_json(one) if isinstance(one, dict) else one for name, one in found["values"].items()}
    return Text(found["said"], **values)


def counted(n: int, noun: str, plural: str | None = None) -> Text:
    """Format a count with its noun; give the plural where it does not take an s.

    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class", "classes")
    ('1 row', '2,000 rows', '0 classes')
    """
    return Text(f"{{n:,}} {noun if n == 1 else plural or noun + 's'}", n=n)


def choice_of(names: Iterable[object]) -> Text:
    """List the names of which one is expected.

    >>> choice_of(["first", "best"])
    'one of first, best'
    """
    return Text("one of {names}", names=", ".join(map(str, names)))
