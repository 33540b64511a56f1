"""Hierarchies of people in the thesis on predicting k: sex, ages in bands, the prefectures of Japan in regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from tokumei.core.errors import InputError
from tokumei.hierarchies.hierarchy import SUPPRESSED, Hierarchy
from tokumei.hierarchies.leaves import check_covers, hierarchy_of, number_leaves, unreadable


@dataclass(frozen=True)
class Sex:
    """Sex is told or not told: male and female become *.

    The values are always all there, so that a table of women only has the same levels as any other.
    """

    values: tuple[str, ...] = field(
        default=("male", "female"), metadata={"help": "The values as the column writes them."}
    )

    def __post_init__(self) -> None:
        if len(set(self.values)) < 2 or len(set(self.values)) < len(self.values):
            raise InputError.of("two or more values that differ", option="values", value=", ".join(self.values))

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column that holds no other value."""
        return check_covers(hierarchy_of(attribute, [self.values]), values)


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


# Region in Japanese and English, and its prefectures in the order of their JIS codes, which run on from region to
# region. Mie lies in Chubu, not in Kinki: only so is the thesis's k of 54,556 thousand for two classes, the mean of
# the men and of the west, right.
REGIONS: tuple[tuple[str, str, str], ...] = (
    ("北海道", "Hokkaido", "北海道 Hokkaido"),
    ("東北", "Tohoku", "青森県 Aomori 岩手県 Iwate 宮城県 Miyagi 秋田県 Akita 山形県 Yamagata 福島県 Fukushima"),
    (
        "関東",
        "Kanto",
        "茨城県 Ibaraki 栃木県 Tochigi 群馬県 Gunma 埼玉県 Saitama 千葉県 Chiba 東京都 Tokyo 神奈川県 Kanagawa",
    ),
    (
        "中部",
        "Chubu",
        "新潟県 Niigata 富山県 Toyama 石川県 Ishikawa 福井県 Fukui 山梨県 Yamanashi 長野県 Nagano 岐阜県 Gifu "
        "静岡県 Shizuoka 愛知県 Aichi 三重県 Mie",
    ),
    ("近畿", "Kinki", "滋賀県 Shiga 京都府 Kyoto 大阪府 Osaka 兵庫県 Hyogo 奈良県 Nara 和歌山県 Wakayama"),
    ("中国", "Chugoku", "鳥取県 Tottori 島根県 Shimane 岡山県 Okayama 広島県 Hiroshima 山口県 Yamaguchi"),
    ("四国", "Shikoku", "徳島県 Tokushima 香川県 Kagawa 愛媛県 Ehime 高知県 Kochi"),
    (
        "九州",
        "Kyushu",
        "福岡県 Fukuoka 佐賀県 Saga 長崎県 Nagasaki 熊本県 Kumamoto 大分県 Oita 宮崎県 Miyazaki 鹿児島県 Kagoshima",
    ),
    ("沖縄", "Okinawa", "沖縄県 Okinawa"),
)
EAST = ("Hokkaido", "Tohoku", "Kanto", "Chubu")


@dataclass(frozen=True)
class JapanPrefecture:
    """The 47 prefectures become nine regions, then east and west (Oguri's thesis, table 7).

    | prefecture | region | half   |
    |------------|--------|--------|
    | 東京都      | 関東    | 東日本  |
    | 大阪府      | 近畿    | 西日本  |

    East are Hokkaido, Tohoku, Kanto and Chubu (with Mie). All 47 are always there, so that tables of any part of the
    country have the same levels.
    """

    names: Literal["ja", "en", "code"] = field(
        default="ja", metadata={"help": "How the column names them: 東京都, Tokyo or the JIS code 13."}
    )

    def build(self, attribute: str, values: pl.Series) -> Hierarchy:
        """Make the hierarchy of a column that names prefectures."""
        leaves, regions, halves = [], [], []
        for region_ja, region_en, listed in REGIONS:
            words = listed.split()
            named = words[::2] if self.names == "ja" else words[1::2]
            leaves += named
            regions += [region_ja if self.names == "ja" else region_en] * len(named)
            half = ("東日本", "East Japan") if region_en in EAST else ("西日本", "West Japan")
            halves += [half[self.names != "ja"]] * len(named)
        if self.names == "code":
            width = 2 if _has_leading_zeros(values) else 1
            leaves = [f"{code:0{width}}" for code in range(1, len(leaves) + 1)]
        return check_covers(hierarchy_of(attribute, [leaves, regions, halves]), values)


def _has_leading_zeros(values: pl.Series) -> bool:
    """Whether codes are text and written as 01: then all are expected so."""
    if isinstance(values.dtype, (pl.Categorical, pl.Enum)):
        values = values.cast(pl.String)
    return values.dtype == pl.String and bool(values.str.starts_with("0").any())
