"""A count that may be one is written through `counted`, so that nobody reads of 1 rows."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "tokumei"
# The number of what stands before these words is any, and a sentence of an error or a result begins or ends with it.
NOUNS = "rows|cells|lines|customers|classes|columns|nodes|labels|releases|guesses|requests|pseudonyms|studies"
FOUND = re.compile(rf"(?:value|found|said) \+?= ?f?\"\{{[^}}]*\}} (?:{NOUNS})\b|value=f\"\{{[^}}]*\}} (?:{NOUNS})\b")
REPR = re.compile(rf"return f\"[A-Z]\w+\([^\"]*\{{[^}}]*(?::,)?\}} (?:{NOUNS})\b")


def test_no_found_value_and_no_repr_writes_a_plural_by_hand() -> None:
    wrong = [
        f"{file.relative_to(SOURCE)}: {match[0]}"
        for file in SOURCE.rglob("*.py")
        for pattern in (FOUND, REPR)
        for match in pattern.finditer(file.read_text(encoding="utf-8"))
        # "3 of 5 rows" is right for one, too.
        if "counted(" not in match[0] and not re.search(r"\} of \{", match[0])
    ]
    assert not wrong
