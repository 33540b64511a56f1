"""Row numbers read at once against reading them cell by cell."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokumei.core.errors import InputError
from tokumei.data.files.strict import ROWS, _are_plain, read_rows

LINES = st.lists(st.integers(0, 10**9 + 5).map(str) | st.text('0129\n\r, "-', max_size=3), max_size=5)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"]))
@example(["1", "2"], "\n", "\n")
@example(["01"], "\n", "\n")
@example(["999999999", "1000000000"], "\n", "\n")
@example([""], "\n", "\n")
def test_rows_read_at_once_are_those_read_cell_by_cell(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], line_end: str, last: str
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows"
    path.write_bytes((line_end.join(lines) + last).encode())
    try:
        plain = ROWS.read(path)["row"].to_list()
    except InputError as error:
        with pytest.raises(InputError, match=re.escape(str(error))):
            read_rows(path)
    else:
        assert read_rows(path).to_list() == plain


def test_plain_lines_are_told_from_others() -> None:
    assert _are_plain(b"1\n20\n")
    assert not any(
        map(_are_plain, [b"", b"\n", b"1", b"1\r\n", b"01\n", b"1,2\n", b"1\n\n", b"1234567890\n", b"\x001\n"])
    )
