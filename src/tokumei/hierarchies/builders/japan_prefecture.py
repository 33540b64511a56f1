"""The prefectures of Japan in regions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.hierarchies.leaves import check_covers, hierarchy_of

# Region in Japanese and English, and its prefectures in the order of their JIS codes, which run on from region to
# region. Mie lies in Chubu, not in Kinki: only so is the thesis's k of 54,556 thousand for two classes, the mean of
# the men and of the west, right.
REGIONS: tuple[tuple[str, str, str], ...] = (
    ("北海道", "Hokkaido", "北海道 Hokkaido"),
    (
        "東北",
        "Tohoku",
        "青森県 Aomori 岩手県 Iwate 宮城県 Miyagi 秋田県 Akita 山形県 Yamagata 福島県 Fukushima",
    ),
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
