from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tokumei.core.errors import InputError
from tokumei.data.frames import as_frame, as_lazy

COLUMNS = {"age": [30, 40], "city": ["Tokyo", None]}
FRAME = pl.DataFrame(COLUMNS)


@pytest.mark.parametrize(
    "data",
    [FRAME, FRAME.lazy(), COLUMNS, pd.DataFrame(COLUMNS), pa.table(COLUMNS), pa.record_batch(COLUMNS)],
    ids=["polars", "lazy", "columns", "pandas", "arrow_table", "arrow_batch"],
)
def test_frame_of_any_kind_is_taken(data: object) -> None:
    assert as_frame(data).equals(FRAME)
    assert as_lazy(data).collect().equals(FRAME)


def test_lazy_frame_stays_the_same_object() -> None:
    lazy = FRAME.lazy()
    assert as_lazy(lazy) is lazy


@pytest.mark.parametrize("data", [[1, 2], "text", None])
def test_what_is_no_frame_is_refused(data: object) -> None:
    with pytest.raises(InputError, match="a Polars, pandas or Arrow frame"):
        as_frame(data)
