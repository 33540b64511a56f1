from __future__ import annotations

from datetime import date, time
from pathlib import Path

import polars as pl
import pytest

from tokumei.core.errors import Fault, InputError
from tokumei.data.files.strict import CUSTOMER, PRICE, PSEUDONYM, StrictFile, write_date, write_price, write_time

FORM = StrictFile({"customer": PSEUDONYM, "price": PRICE}, may_delete=True)


def test_dates_times_and_prices_are_written_without_needless_zeros() -> None:
    frame = pl.DataFrame(
        {
            "date": [date(2010, 12, 1), date(2011, 1, 31), None],
            "time": [time(9, 5), time(10, 0), None],
            "price": [10.95, 8.5, None],
        }
    ).select(write_date(pl.col("date")), write_time(pl.col("time")), write_price(pl.col("price")))
    assert frame.rows() == [("2010/12/1", "9:05", "10.95"), ("2011/1/31", "10:00", "8.5"), (None, None, None)]


@pytest.mark.parametrize(
    ("price", "text"),
    [(12.0, "12"), (0.42, "0.42"), (0.0, "0"), (100.0, "100"), (99999.99, "99999.99"), (0.1 + 0.2, "0.3")],
)
def test_price_loses_only_the_noise_of_floating_point(price: float, text: str) -> None:
    assert pl.select(write_price(pl.lit(price))).item() == text


def test_write_refuses_what_could_not_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    frame = pl.DataFrame({"customer": ["a", "b c", None, None], "price": [0.125, 1.0, None, 2.0]})
    with pytest.raises(InputError) as caught:
        FORM.write(frame, path)
    assert caught.value.faults == (
        Fault(PRICE.expected, str(path), 1, "price", "0.125"),
        Fault(PSEUDONYM.expected, str(path), 2, "customer", "b c"),
        Fault("nothing in a deleted row", str(path), 4, "price", "2"),
    )
    assert not path.exists()


def test_write_of_seconds_is_refused_not_cut(tmp_path: Path) -> None:
    assert pl.select(write_time(pl.lit(time(9, 5, 7)))).item() == "9:05:07"


def test_write_without_a_column_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found 'price'"):
        FORM.write(pl.DataFrame({"customer": ["a"]}), tmp_path / "out.csv")


def test_write_takes_only_the_columns_of_the_file_and_numbers_too(tmp_path: Path) -> None:
    form = StrictFile({"customer": CUSTOMER, "price": PRICE})
    form.write(pl.DataFrame({"price": [1], "extra": ["x"], "customer": [7]}), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b"7,1\r\n"


def test_write_of_a_line_too_long_is_refused(tmp_path: Path) -> None:
    form = StrictFile({"customer": PSEUDONYM, "price": PRICE}, longest_line=10)
    form.write(pl.DataFrame({"customer": ["a" * 8], "price": ["1"]}), tmp_path / "out.csv")
    with pytest.raises(InputError, match="line 1, column customer: found '11', expected lines of at most 10 bytes"):
        form.write(pl.DataFrame({"customer": ["a" * 9], "price": ["1"]}), tmp_path / "out.csv")
