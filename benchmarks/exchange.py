"""Answering on ten million rows against Polars' own group-by, trying levels, and the quadrants of made services."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path

import polars as pl

from benchmarks.measure import Figure, best_seconds, in_new_process
from tokumei.data.files.keys import PrivateKey, write_keys
from tokumei.data.made_services import OLDEST, PREFECTURES, SEXES, make_census, make_service, make_services
from tokumei.data.made_survey import make_survey
from tokumei.exchange.answer import Desk, answer
from tokumei.exchange.counted_table import CountedTable, secret_of
from tokumei.exchange.desk import DeskFolder, open_desk
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import Lots, Offer, Words
from tokumei.exchange.offering import OfferTerms, make_offer
from tokumei.exchange.request import Request, try_node
from tokumei.hierarchies.builders.from_data import FromData
from tokumei.hierarchies.builders.people import JapanAge, JapanPrefecture, Sex
from tokumei.hierarchies.lattice import Lattice, Node
from tokumei.predictors.predictor import Quadrants

N_ROWS = 10_000_000
N_SERVICES = 20
WORDS = Words("A shop", "Research", "None", "Ages of customers.")
AGES = JapanAge(bands=(9, 5, 3)).build("age", pl.Series(range(OLDEST + 1)))
PLACES = [Sex().build("sex", pl.Series(SEXES)), JapanPrefecture().build("prefecture", pl.Series(PREFECTURES))]
# Served and refused by the rule alone: these figures are not about lots.
RARE = Lots(1e-9, 1e-9)

POLARS = """
import time
import polars as pl
started = time.perf_counter()
pl.scan_parquet({source!r}).group_by("sex", "age", "prefecture").len().collect()
seconds = time.perf_counter() - started
"""

ANSWER = """
import time
from pathlib import Path
from tokumei.exchange.desk import DeskFolder, answer_request
from tokumei.data.files.keys import read_private
from tokumei.exchange.request import read_request
desk, key = DeskFolder(Path({desk!r})), read_private({key!r})
request, signed = read_request({request!r})
table = desk.table()
started = time.perf_counter()
answer, release = answer_request(desk, request, signed, key=key, table=table)
seconds = time.perf_counter() - started
assert table.n_passes == 1 and answer.body["outcome"] == "served", answer.body
"""


def run() -> list[Figure]:
    return [*_answering(), *_trying(), *_quadrants(), *_usefulness()]


def _answering() -> list[Figure]:
    lattice = Lattice.of([PLACES[0], AGES, PLACES[1]])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = str(folder / "people.parquet")
        people = make_service(N_ROWS // 10, service=1, seed=1)
        pl.concat([people.sample(fraction=1, shuffle=True, seed=part) for part in range(10)]).write_parquet(source)
        key = PrivateKey.fresh()
        write_keys(folder / "shop", key)
        table = CountedTable(lattice, source)
        secret = secret_of(key, table)
        terms = OfferTerms([Criterion("own", 50)], lots=RARE, predictor="margins")
        offer, text = make_offer("people", WORDS, table, terms, secret)
        assert table.n_passes == 1
        seconds = []
        for number in range(3):
            at = folder / f"desk{number}"
            desk = open_desk(at, offer, text, source, {}, key, secret=secret, table=table.digest)
            request = _write_request(desk, offer, folder / f"{number}.json", key)
            code = ANSWER.format(desk=str(desk.folder), key=str(folder / "shop.key"), request=request)
            seconds.append(in_new_process(code)[0])
        polars = min(in_new_process(POLARS.format(source=source))[0] for _ in range(3))
    return [
        Figure("10 M rows: Polars' own group-by of sex, age, prefecture", polars, "s"),
        Figure("10 M rows: a request answered, logged and signed", min(seconds), "s"),
        Figure("  ratio to Polars", min(seconds) / polars, "×", 2),
    ]


def _write_request(desk: DeskFolder, offer: Offer, path: Path, key: PrivateKey) -> str:
    _, offered = desk.offer()
    allowed = [node for node in offer.lattice if offer.zone(node, offer.k_p).zone == "allowed"]
    finest = max(allowed, key=offer.lattice.class_count)
    Request(offered.digest, offer.lattice.levels(finest), "own", "a user", "a study").signed(key).write(path)
    return str(path)


def _trying() -> list[Figure]:
    """Try every node of nine attributes once, so that nothing was worked out before."""
    survey = make_survey(30_000, seed=1)
    columns = survey.columns[:9]
    table = survey.select(pl.col(columns).cast(pl.String))
    lattice = Lattice.of([FromData().build(column, table[column]) for column in columns])
    terms = OfferTerms([Criterion("own", 5)], is_vetted=False, predictor="margins")
    offer, _ = make_offer("people", WORDS, CountedTable(lattice, table), terms, b"secret")
    fresh = Offer(**{name: getattr(offer, name) for name in Offer.__dataclass_fields__})
    nodes = sorted(lattice, key=lambda node: (lattice.class_count(node), node))
    times = []
    for node in nodes[:: max(1, len(nodes) // 300)]:
        started = time.perf_counter()
        try_node(fresh, node)
        times.append(time.perf_counter() - started)
    again = best_seconds(lambda: try_node(fresh, nodes[0]))
    times.sort()
    return [
        Figure("trying a node of nine attributes, half take less", times[len(times) // 2] * 1000, "ms", 50),
        Figure("  99 of 100 take less", times[int(len(times) * 0.99)] * 1000, "ms", 50),
        Figure("  a node tried before", again * 1000, "ms", 50),
    ]


def _quadrants() -> list[Figure]:
    """α, β and γ of each kind of offer, over the census and made services and three k, in percent of 31 nodes."""
    tables = _tables(N_SERVICES)
    groups = {"census": tables[:1], "S1–S10": tables[1:11], "S11–S20": tables[11:]}
    figures = []
    for k in (50, 10, 2):
        for group, members in groups.items():
            sums = dict.fromkeys(KINDS, Quadrants(0, 0, 0, 0))
            for table in members:
                sums = {kind: sums[kind] + _quadrants_of(kind, table, k) for kind in KINDS}
            for kind, found in sums.items():
                shares = {name: 100 * share for name, share in found.shares.items()}
                note = f"α {shares['alpha']:.1f}, γ {shares['gamma']:.1f}, δ {shares['delta']:.1f}"
                limit = 12.0 if kind == "margins" and group != "census" else None
                figures.append(Figure(f"k = {k}, {group}, {kind}: β", shares["beta"], "%", limit, note))
    return figures


KINDS = ("margins", "margins, vetted", "law", "law, vetted", "law, served by k itself")


def _quadrants_of(kind: str, table: CountedTable, k: int) -> Quadrants:
    """Return the quadrants of one kind of offer: what its rule allows, or what the law's k alone would."""
    method, _, how = kind.partition(", ")
    terms = OfferTerms(
        [Criterion("own", k)],
        predictor="margins" if method == "margins" else "power-law",
        is_vetted=how == "vetted",
        lots=RARE,
    )
    offer, _ = make_offer("service", WORDS, table, terms, b"benchmark")
    ks = {node: table.k(node) for node in table.lattice if table.lattice.class_count(node) > 1}
    if how == "served by k itself":
        return Quadrants.of((offer.predict(node).k >= k, true >= k) for node, true in ks.items())
    return Quadrants.of((offer.zone(node, k).zone == "allowed", true >= k) for node, true in ks.items())


def _tables(n_services: int) -> list[CountedTable]:
    """Return the census and services of sex, nine ages and 47 prefectures."""
    lattice = Lattice.of([PLACES[0], AGES.from_level(1), PLACES[1]])
    nine = pl.Series("age", AGES.labels_at(1))
    people = [make_census(seed=1), *(people for _, people in make_services(n_services, seed=1))]
    return [CountedTable(lattice, each.with_columns(age=nine.gather(each["age"]))) for each in people]


def _usefulness() -> list[Figure]:
    """How many of 24 offers serve something beyond their first release, asked for the finest first, and why not."""
    figures = []
    for method in ("power-law", "margins"):
        n_served, why = [], Counter[str]()
        for table in _tables(24)[1:]:
            terms = OfferTerms([Criterion("own", 10)], predictor=method)
            secret = secret_of(PrivateKey(b"k" * 32), table)
            offer, _ = make_offer("service", WORDS, table, terms, secret)
            nodes = sorted(table.lattice, key=table.lattice.class_count, reverse=True)
            desk, served = Desk(), set[Node]()
            for node in (each for each in nodes if each != offer.first_node):
                found = answer(offer, node, 10, desk=desk, table=table, secret=secret)
                desk = found.desk
                served |= {node} if found.outcome == "served" else set()
                if found.outcome != "served":
                    why[try_node(offer, node, given=served).why or f"{found.reason}, at the desk alone"] += 1
            n_served.append(len(served))
        figures.append(Figure(f"24 offers, {method}: serve nothing beyond the first", n_served.count(0), "", 0))
        figures.append(Figure("  releases served beyond it, all offers", sum(n_served), ""))
        figures += [Figure(f"  refused: {reason}", n, "") for reason, n in why.most_common()]
    return figures
