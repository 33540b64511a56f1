"""Ages in the bands of the thesis on predicting k."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.leaves import check_covers, number_leaves, unreadable

OLDEST_BUILT, OLDEST_ALLOWED = 119, 999


@dataclass(frozen=True)
class JapanAge:
    """Ages become nine, five or three bands (Oguri's thesis, table 7).

    | bands | labels                                                 |
    |-------|--------------------------------------------------------|
    | 9     | 0s, 10s, 20s, 30s, 40s, 50s, 60s, 70s, 80+             |
    | 5     | 0-29, 30s, 40s, 50s, 60+                               |
    | 3     | minor (below 20), adult (20 to 59), senior (60 and up) |

    Five and three cross, as 20 to 29 lies in two bands of the three: both levels follow from the nine, neither from
    the other. The thesis names the three bands without their bounds. Here they are unions of the nine, and they
    give what it prints: k of 22,782 thousand for three classes are the people below 20, and k of 332 thousand for
    three bands by nine regions are those below 20 in Okinawa, where only 242 thousand are 65 or older.
    """

    bands: tuple[int, ...] = field(
        default=(9, 5), metadata={"help": "The levels by their number of bands, among 9, 5 and 3, finest first."}
    )

    def __post_init__(self) -> None:
        is_falling = all(fine > coarse for fine, coarse in zip(self.bands, self.bands[1:], strict=False))
        if not is_falling or not set(self.bands) <= set(LABELS):
            given = ", ".join(str(n) for n in self.bands)
            raise InputError.of("some of 9, 5 and 3, in this order", option="bands", value=given)

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of all ages from 0 to 119, or to the largest in the column."""
        numbers = number_leaves(attribute, values)
        refused = [text for age, text in numbers if age.denominator != 1 or not 0 <= age <= OLDEST_ALLOWED]
        if refused:
            raise unreadable(attribute, refused, f"an age in whole years from 0 to {OLDEST_ALLOWED}")
        ages = range(max(OLDEST_BUILT, int(numbers[-1][0])) + 1)
        columns = [[str(age) for age in ages]]
        columns += [[LABELS[n_bands](age) for age in ages] for n_bands in self.bands]
        # Levels may cross here, and nowhere else among the builders.
        hierarchy = Hierarchy.of_levels(attribute, [*columns, [SUPPRESSED] * len(ages)])
        return check_covers(hierarchy, values)


def _of_nine(age: int) -> str:
    return "80+" if age >= 80 else f"{age // 10 * 10}s"


def _of_five(age: int) -> str:
    if age < 30:
        return "0-29"
    return "60+" if age >= 60 else f"{age // 10 * 10}s"


def _of_three(age: int) -> str:
    if age < 20:
        return "minor"
    return "senior" if age >= 60 else "adult"


LABELS: dict[int, Callable[[int], str]] = {9: _of_nine, 5: _of_five, 3: _of_three}
