"""The data of PWSCUP 2017: tables 1 and 2 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar

import polars as pl

from tokumei.contest.editions.pwscup2016 import files as pwscup2016
from tokumei.contest.editions.pwscup2017 import files as pwscup2017
from tokumei.data.files.formats import read_parquet
from tokumei.data.history import History
from tokumei.data.online_retail import clean_retail, to_history
from tokumei_studies.study import Findings, StudyLine

RETAIL = "online_retail/online_retail_full.parquet"
DAY_ONE = datetime(2010, 12, 1)  # noqa: DTZ001 - The data has no time zone.
FIRST, LAST = datetime(2010, 12, 1, 8, 26), datetime(2011, 12, 9, 12, 50)  # noqa: DTZ001


@dataclass(frozen=True)
class Pwscup2017Data:
    """Counts what the contest's data was drawn from, and what was drawn.

    The contest took the Online Retail data of UCI, whose 541,909 rows it cleaned; table 2 says what was left, table 1
    what the editions of 2016 and 2017 gave to the teams. Here the raw data is cleaned again: a row is kept when its
    customer is known, its quantity and price are above 0, its item is not a bank charge or a pad and its country is
    known. The paper does not say how it cleaned; these are the rules that lead to its numbers.
    """

    title: ClassVar[str] = "The data of PWSCUP 2017"
    source: ClassVar[str] = "Kikuchi, Oguri et al., PWSCUP2017 (CSS 2017), tables 1 and 2"
    needs: ClassVar[tuple[str, ...]] = (RETAIL, "pwscup2016/T.csv.gz", "pwscup2017/T.csv.gz")
    is_quick: ClassVar[bool] = True

    def run(self, data: Path) -> Findings:
        """Clean and count."""
        retail = to_history(clean_retail(read_parquet(data / RETAIL)))
        moments = retail.frame.select(pl.col("date").dt.combine(pl.col("time")).alias("moment"))["moment"].sort()
        set2016 = pwscup2016.read_history(data / "pwscup2016" / "T.csv.gz")
        set2017 = pwscup2017.read_history(data / "pwscup2017" / "T.csv.gz")
        return Findings(
            (
                _count("records m", 397_625, retail.n_rows),
                _count("customers n", 4_333, len(retail.customers)),
                _count("items", 3_663, retail.frame["item"].n_unique()),
                _count("first purchase, minutes after 2010/12/1 0:00 (8:26)", _minutes(FIRST), _minutes(moments[0])),
                _count(
                    "last purchase, minutes after 2010/12/1 0:00 (2011/12/9 12:50)",
                    _minutes(LAST),
                    _minutes(moments[-1]),
                ),
                *_table_1(set2016, set2017),
            )
        )


def _table_1(set2016: History, set2017: History) -> list[StudyLine]:
    return [
        _count("customers of 2017", 500, len(set2017.customers)),
        _count("records of 2017", 44_917, set2017.n_rows),
        _count("customers of 2016", 400, len(set2016.customers)),
        _count(
            "records of 2016",
            18_524,
            set2016.n_rows,
            why="The 400 customers with the smallest ids have 38,087 records in the cleaned data, which is also what "
            "Ito, Kikuchi and Nakagawa print for the 400 customers of the contest (PWS 2017). Table 1 does not say "
            "which of them its 18,524 are.",
        ),
    ]


def _count(what: str, published: int, computed: int, why: str = "A count: it is the same or it is not.") -> StudyLine:
    return StudyLine.near(what, published, computed, within=0, why=why, digits=0)


def _minutes(moment: datetime) -> int:
    return int((moment - DAY_ONE).total_seconds() // 60)
