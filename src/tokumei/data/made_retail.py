"""A year of made-up purchases with the shape of UCI Online Retail.

The shop is one and the same for any number of customers, and customers are made in blocks, each with its own
random stream. So a full block comes out the same however many follow it (given the same mean of rows a customer),
and a file of any length is written without holding it. Numbers below are fitted to the 2016 and 2017 contest sets.
"""

from __future__ import annotations

import datetime
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from tokumei.core.errors import InputError
from tokumei.core.progress import step
from tokumei.core.seeds import generator
from tokumei.data.files.disk import atomic_path

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SCHEMA = {
    "customer": pl.String,
    "invoice": pl.String,
    "date": pl.Date,
    "time": pl.Time,
    "item": pl.String,
    "price": pl.Float64,
    "quantity": pl.Int64,
}
ORDER = ("date", "time", "invoice")
FIRST_DAY = datetime.date(2010, 12, 1)
FIRST_CUSTOMER = 10_001
FIRST_INVOICE = 536_365  # Where the numbers of Online Retail begin.
MONTHS = 12
WEEKS = 53  # The last has the one day that 52 leave over.
MINUTES_A_DAY = 24 * 60

# Large enough that the work is done in vectors, small enough that a block takes under 200 MB.
BLOCK_CUSTOMERS = 5_000
ROW_GROUP = 250_000
MEAN_ROWS = 95
# Log-normal: a quarter of the customers has under 21 rows, one in a hundred over 480.
ROWS_SPREAD = 1.2
# Lines in a customer's baskets: customers differ (log-normal), and so do the baskets of one (gamma): 22 on average.
USUAL_BASKET = 27
BASKET_SPREAD = 0.6
BASKET_SHAPE = 2.0

N_ITEMS = 3_700
N_AISLES = 40
# Zipf's law with a flat head and a cut tail. These three and the shares of taste and re-buying below were
# chosen together for 65 items a customer and a mean Jaccard similarity of 0.03 between customers.
HEAD_WIDTH = 8.0
HEAD_SLOPE = 0.65
TAIL_LENGTH = 1_150.0
FAVORITE_AISLES = 3
TASTE_SHARE = 0.5
REBUY_SHARE = 0.23
LETTER_SHARE = 0.13
# Most codes of the real shop begin with 20 to 23, so that two characters say little about an item.
COMMON_CODES = range(20_000, 24_000)
COMMON_CODE_SHARE = 0.7

# Share of the rows in December 2010 … November 2011: shops stock up for Christmas from September on.
SEASON = (0.068, 0.055, 0.050, 0.071, 0.056, 0.073, 0.072, 0.069, 0.072, 0.107, 0.130, 0.177)
# Gamma: small enough that a customer has months of its own, large enough that it comes in nearly three on average.
MONTH_SHAPE = 2.5
WEEKDAYS = (0.16, 0.17, 0.175, 0.195, 0.14, 0.0, 0.16)  # Monday first; closed on Saturdays.
CLOSED = (datetime.date(2010, 12, 24), datetime.date(2011, 1, 3))
FIRST_HOUR = 8
HOURS = (0.025, 0.065, 0.105, 0.125, 0.17, 0.16, 0.135, 0.115, 0.06, 0.03, 0.01)

# The price points that goods are sold at, in pounds.
PRICES = (
    *(0.19, 0.29, 0.39, 0.42, 0.55, 0.65, 0.72, 0.85, 1.06, 1.25, 1.45, 1.65, 1.95, 2.10, 2.55, 2.95, 3.25, 3.75),
    *(4.25, 4.95, 5.95, 6.75, 7.95, 8.50, 9.95, 10.95, 12.75, 14.95, 16.95, 19.95, 24.95, 29.95, 39.95, 49.95),
)
MEDIAN_PRICE = 1.85
PRICE_SPREAD = 0.9
# Pieces from which an item is one price point cheaper; two from four times as many. The last means never.
BREAKS = (12, 24, 48, 10**9)
BREAK_SHARES = (0.2, 0.25, 0.2, 0.35)
SECOND_BREAK = 4

RETAIL_PACKS = (1, 2, 3, 4, 5, 6, 8, 10)
RETAIL_SHARES = (0.25, 0.22, 0.12, 0.13, 0.03, 0.16, 0.04, 0.05)
DOZEN = 12
WHOLESALE_PACKS = (12, 16, 18, 20, 24, 25, 36, 48)
WHOLESALE_SHARES = (0.53, 0.03, 0.02, 0.04, 0.22, 0.04, 0.06, 0.06)
# Log odds of a wholesale pack: shops differ, and cheap goods go by the dozen.
WHOLESALE_LEVEL = -0.6
WHOLESALE_SPREAD = 1.4
WHOLESALE_PRICE_SLOPE = 1.6
# A wholesale pack in fourteen is very large (Pareto).
BULK_SHARE = 0.07
BULK_TAIL = 1.5
BULK_DOZENS = 5.0
# The contests read quantities of up to six digits.
LARGEST_QUANTITY = 999_999

# As in the 2017 contest's master table.
SEX_SHARES = {"f": 0.86, "m": 0.14}
DECADE_SHARES = {1930: 0.03, 1940: 0.12, 1950: 0.36, 1960: 0.34, 1970: 0.13, 1980: 0.02}
COUNTRY_SHARES = {"United Kingdom": 0.93, "France": 0.01, "Germany": 0.02, "Others": 0.04}


def make_retail(n_customers: int = 400, *, n_rows: int | None = None, seed: int) -> pl.DataFrame:
    """Make the purchases of a year in order of time; every customer has at least one row."""
    shop = _open_shop(seed)
    blocks = [_make_block(shop, block, seed) for block in _blocks(n_customers, n_rows)]
    return pl.concat(blocks).sort(ORDER, maintain_order=True)


def make_master(customers: Sequence[str] | pl.Series, *, seed: int) -> pl.DataFrame:
    """Make sex, birth decade and country for each distinct customer, in the order given.

    No customer is the only one with these three, as in the contest: who would be takes those of whom is nearest. Only a
    single customer has nobody to be like.
    """
    ids = pl.Series("customer", customers, dtype=pl.String).unique(maintain_order=True)
    rng = generator(seed, "retail", "master")
    births = {f"{decade}/1/1": share for decade, share in DECADE_SHARES.items()}
    traits = {"sex": SEX_SHARES, "birth": births, "country": COUNTRY_SHARES}
    drawn = {name: rng.choice(list(shares), len(ids), p=list(shares.values())) for name, shares in traits.items()}
    master = pl.DataFrame({"customer": ids, **drawn}, schema=dict.fromkeys(("customer", *traits), pl.String))
    return _without_uniques(master, list(traits))


def _without_uniques(master: pl.DataFrame, traits: list[str]) -> pl.DataFrame:
    """Replace unique combinations of traits by those of others: as many in common as can be, then the first."""
    rows = master.select(traits).rows()
    counts = Counter(rows)
    changed: dict[tuple[str, ...], tuple[str, ...]] = {}
    for row in sorted(row for row, count in counts.items() if count == 1):
        others = sorted(other for other, count in counts.items() if count and other != row)
        if counts[row] == 1 and others:
            nearest = max(others, key=lambda other: sum(one == two for one, two in zip(other, row, strict=True)))
            changed[row] = nearest
            counts[nearest] += 1
            counts[row] = 0
    kept = [changed.get(row, row) for row in rows]
    columns = {name: [row[at] for row in kept] for at, name in enumerate(traits)}
    return pl.DataFrame({"customer": master["customer"], **columns}, schema=master.schema)


def write_retail(out: Path, n_customers: int = 400, *, n_rows: int | None = None, seed: int) -> None:
    """Write the rows of `make_retail`, in its order, to a file of any length: CSV by its suffix, else Parquet.

    Memory holds one block of customers, then one week of all customers: ten million rows need about 400 MB.
    """
    from polars.io.plugins import register_io_source

    blocks = list(_blocks(n_customers, n_rows))
    shop = _open_shop(seed)
    with (
        atomic_path(out) as draft,
        tempfile.TemporaryDirectory(prefix=".retail.", dir=Path(out).parent) as parts,
        step("making purchases", len(blocks) + WEEKS) as bar,
    ):
        for block in blocks:
            purchases = _make_block(shop, block, seed)
            # They are in order of time, so each week is a slice.
            ends = np.searchsorted((purchases["date"] - FIRST_DAY).dt.total_days() // 7, range(WEEKS), side="right")
            for week, start, end in zip(range(WEEKS), (0, *ends), ends, strict=False):
                purchases[start:end].write_parquet(Path(parts) / f"{week:02}-{block.number:06}.parquet")
            bar.advance()

        def weeks(*_pushed_down: object) -> Iterator[pl.DataFrame]:
            for week in range(WEEKS):
                paths = sorted(Path(parts).glob(f"{week:02}-*.parquet"))
                yield pl.concat([pl.read_parquet(path) for path in paths]).sort(ORDER, maintain_order=True)
                bar.advance()

        # The writer asks for the next week only once the last is on its way to the disk.
        rows = register_io_source(weeks, schema=SCHEMA)
        if Path(out).suffix == ".csv":
            rows.sink_csv(draft, time_format="%H:%M:%S")
        else:
            rows.sink_parquet(draft, row_group_size=ROW_GROUP)


@dataclass(frozen=True)
class _Block:
    """Some customers made together, with the rows they must have between them."""

    number: int
    first_customer: int
    n_customers: int
    first_row: int
    n_rows: int


@dataclass(frozen=True)
class _Shop:
    """The goods on sale, aisle by aisle."""

    codes: pl.Series
    ladder: Floats  # See `_ladder`; its groups are the aisles.
    aisle_ends: Floats  # The share of all sales up to and with each aisle.
    price_points: Ints
    breaks: Ints


def _blocks(n_customers: int, n_rows: int | None) -> Iterator[_Block]:
    """Cut the customers into blocks, each with its share of the rows."""
    if n_customers < 1:
        raise InputError.of("at least 1 customer", option="n_customers", value=n_customers)
    if n_rows is None:
        n_rows = MEAN_ROWS * n_customers
    if n_rows < n_customers:
        raise InputError.of(f"at least a row for each of {n_customers} customers", option="n_rows", value=n_rows)
    for number, first in enumerate(range(0, n_customers, BLOCK_CUSTOMERS)):
        after = min(first + BLOCK_CUSTOMERS, n_customers)
        # Whole numbers throughout, so that the blocks' rows add up.
        first_row, row_after = n_rows * first // n_customers, n_rows * after // n_customers
        yield _Block(number, first, after - first, first_row, row_after - first_row)


def _open_shop(seed: int) -> _Shop:
    """Make the goods: codes, aisles, popularity, prices and the quantities that make them cheaper."""
    rng = generator(seed, "retail", "shop")
    n_common = round(N_ITEMS * COMMON_CODE_SHARE)
    common = rng.choice(np.array(COMMON_CODES), n_common, replace=False)
    other = rng.choice(np.arange(COMMON_CODES.stop, 100_000), N_ITEMS - n_common, replace=False)
    numbers = rng.permutation(np.concatenate([common, other]))
    letters = np.where(rng.random(N_ITEMS) < LETTER_SHARE, rng.choice(list("ABCDEFGL"), N_ITEMS), "")
    rank = rng.permutation(N_ITEMS)
    weights: Floats = np.power(rank + HEAD_WIDTH, -HEAD_SLOPE) * np.exp(-rank / TAIL_LENGTH)
    aisles = np.sort(rng.integers(0, N_AISLES, N_ITEMS))
    prices = MEDIAN_PRICE * np.exp(PRICE_SPREAD * rng.standard_normal(N_ITEMS))
    return _Shop(
        codes=pl.Series("item", numbers).cast(pl.String) + pl.Series(letters.tolist()),
        ladder=_ladder(weights, aisles),
        aisle_ends=np.cumsum(np.bincount(aisles, weights)) / weights.sum(),
        price_points=np.minimum(np.searchsorted(PRICES, prices), len(PRICES) - 1),
        breaks=rng.choice(BREAKS, N_ITEMS, p=BREAK_SHARES),
    )


def _make_block(shop: _Shop, block: _Block, seed: int) -> pl.DataFrame:
    """Make all purchases of one block of customers, in order of time."""
    rng = generator(seed, "retail", block.number)
    rows_of = _share_out(block, rng)
    customers = np.repeat(np.arange(block.n_customers), rows_of)
    baskets, minutes = _draw_baskets(rows_of, customers, rng)
    items = _draw_items(shop, customers, baskets, rng)
    quantities = _draw_quantities(shop, customers, items, rng)
    breaks = shop.breaks[items]
    n_steps = np.where(quantities < breaks, 0, np.where(quantities < SECOND_BREAK * breaks, 1, 2))
    prices = np.array(PRICES)[np.maximum(shop.price_points[items] - n_steps, 0)]

    # Baskets get their numbers in order of time; the rows before this block bound the numbers used before.
    used, basket_of_row = np.unique(baskets, return_inverse=True)
    rank = np.empty(len(used), np.int64)
    rank[np.argsort(minutes[used], kind="stable")] = np.arange(len(used))
    order = np.argsort(rank[basket_of_row], kind="stable")
    minutes = minutes[baskets][order]
    first_day = (FIRST_DAY - datetime.date(1970, 1, 1)).days
    return pl.DataFrame(
        {
            "customer": pl.Series(FIRST_CUSTOMER + block.first_customer + customers[order]).cast(pl.String),
            "invoice": pl.Series(FIRST_INVOICE + block.first_row + rank[basket_of_row][order]).cast(pl.String),
            "date": pl.Series(first_day + minutes // MINUTES_A_DAY).cast(pl.Int32).cast(pl.Date),
            "time": pl.Series(minutes % MINUTES_A_DAY * 60_000_000_000).cast(pl.Time),
            "item": shop.codes.gather(items[order]),
            "price": prices[order],
            "quantity": quantities[order],
        },
        schema=SCHEMA,
    )


def _share_out(block: _Block, rng: np.random.Generator) -> Ints:
    """Divide a block's rows among its customers: few with many, many with few, none without."""
    weights = np.cumsum(np.exp(ROWS_SPREAD * rng.standard_normal(block.n_customers)))
    ends = np.floor(weights / weights[-1] * (block.n_rows - block.n_customers)).astype(np.int64)
    rows_of: Ints = 1 + np.diff(ends, prepend=0)
    return rows_of


def _draw_baskets(rows_of: Ints, customers: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw the basket of each row, ascending within and between customers, and the minute of each basket."""
    usual = USUAL_BASKET * np.exp(BASKET_SPREAD * rng.standard_normal(len(rows_of)))
    n_baskets = np.maximum(np.rint(rows_of / usual), 1).astype(np.int64)
    owners = np.repeat(np.arange(len(rows_of)), n_baskets)
    baskets = np.sort(_draw(_ladder(rng.gamma(BASKET_SHAPE, size=len(owners)), owners), customers, rng))

    liking = np.array(SEASON) * rng.gamma(MONTH_SHAPE, size=(len(rows_of), MONTHS))
    months = _draw(_ladder(liking.ravel(), np.repeat(np.arange(len(rows_of)), MONTHS)), owners, rng) % MONTHS
    days = _draw(_ladder(*_calendar()), months, rng)
    hours = FIRST_HOUR + rng.choice(len(HOURS), len(owners), p=HOURS)
    minutes = days * MINUTES_A_DAY + hours * 60 + rng.integers(0, 60, len(owners))
    # A customer's later basket gets the later time, so that rows in order of baskets are in order of time.
    return baskets, minutes[np.lexsort((minutes, owners))]


def _calendar() -> tuple[Floats, Ints]:
    """Return the weight of each day of the year and its month, counted from the first."""
    dates = [FIRST_DAY + datetime.timedelta(days) for days in range(365)]
    is_open = [not CLOSED[0] <= date <= CLOSED[1] for date in dates]
    weights = np.array([WEEKDAYS[date.weekday()] for date in dates]) * is_open
    return weights, np.array([date.month % MONTHS for date in dates])


def _draw_items(shop: _Shop, customers: Ints, baskets: Ints, rng: np.random.Generator) -> Ints:
    """Draw the item of each row: some bought before, some from the customer's favorite aisles, some from any."""
    favorites = rng.integers(0, N_AISLES, (customers[-1] + 1, FAVORITE_AISLES))

    def fresh(owners: Ints) -> Ints:
        anywhere = np.minimum(np.searchsorted(shop.aisle_ends, rng.random(len(owners))), N_AISLES - 1)
        favorite = favorites[owners, rng.integers(0, FAVORITE_AISLES, len(owners))]
        aisles = np.where(rng.random(len(owners)) < TASTE_SHARE, favorite, anywhere)
        return _draw(shop.ladder, aisles, rng)

    rows = np.arange(len(customers))
    basket_start = np.searchsorted(baskets, baskets)
    customer_start = np.searchsorted(customers, customers)
    earlier = customer_start + np.floor(rng.random(len(rows)) * (basket_start - customer_start)).astype(np.int64)
    is_rebought = (basket_start > customer_start) & (rng.random(len(rows)) < REBUY_SHARE)
    # Each row points to itself or to an earlier one; following the pointers ends at the first purchase.
    source = np.where(is_rebought, earlier, rows)
    while not np.array_equal(source, source[source]):
        source = source[source]
    items = fresh(customers)[source]
    # Goods that come twice in a basket are drawn again once, which leaves 2 to 3 % of the rows as in the real sets.
    is_double = np.ones(len(rows), bool)
    is_double[np.unique(baskets * N_ITEMS + items, return_index=True)[1]] = False
    items[is_double] = fresh(customers[is_double])
    return items


def _draw_quantities(shop: _Shop, customers: Ints, items: Ints, rng: np.random.Generator) -> Ints:
    """Draw the pieces of each row: single ones and small packs, dozens, and now and then very many."""
    level = WHOLESALE_LEVEL + WHOLESALE_SPREAD * rng.standard_normal(customers[-1] + 1)
    cheapness = np.log(MEDIAN_PRICE / np.array(PRICES))[shop.price_points[items]]
    odds = np.exp(level[customers] + WHOLESALE_PRICE_SLOPE * cheapness)
    is_wholesale = rng.random(len(items)) * (1 + odds) < odds
    retail = rng.choice(RETAIL_PACKS, len(items), p=RETAIL_SHARES)
    wholesale = rng.choice(WHOLESALE_PACKS, len(items), p=WHOLESALE_SHARES)
    bulk = DOZEN * np.ceil(BULK_DOZENS * (1 - rng.random(len(items))) ** (-1 / BULK_TAIL))
    bulk = np.minimum(bulk, LARGEST_QUANTITY).astype(np.int64)
    wholesale = np.where(rng.random(len(items)) < BULK_SHARE, bulk, wholesale)
    return np.where(is_wholesale, wholesale, retail)


def _ladder(weights: Floats, groups: Ints) -> Floats:
    """Stack the cumulative shares of groups into one ascending array: group g climbs from g to g + 1.

    One binary search in it draws a member of any group; `groups` must be ascending from 0 without a gap.
    """
    total = np.cumsum(weights)
    ends = total[np.searchsorted(groups, np.arange(groups[-1] + 1), side="right") - 1]
    starts = np.concatenate([[0.0], ends[:-1]])
    ladder: Floats = groups + (total - starts[groups]) / (ends - starts)[groups]
    return ladder


def _draw(ladder: Floats, groups: Ints, rng: np.random.Generator) -> Ints:
    """Draw one member of each group asked for, as a position in the ladder."""
    # Rounding must not lift a number near 1 onto the next group's rung.
    heights = np.minimum(groups + rng.random(len(groups)), np.nextafter(groups + 1.0, 0.0))
    members: Ints = np.searchsorted(ladder, heights, side="right")
    return members
