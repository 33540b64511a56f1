"""Answering on ten million rows against Polars' own group-by, trying levels, and the quadrants of made services."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import polars as pl

from benchmarks.measure import Figure, best_seconds, in_new_process
from tokumei.counting.count import count_classes
from tokumei.data.made.population import OLDEST, PREFECTURES, SEXES
from tokumei.data.made.services import make_service, make_services
from tokumei.data.made.survey import make_survey
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.criteria import Criterion
from tokumei.exchange.desk import DeskFolder, open_desk
from tokumei.exchange.keys import PrivateKey, write_keys
from tokumei.exchange.learning import rule_quadrants
from tokumei.exchange.noise import secret_of
from tokumei.exchange.offer import FirstRelease, Lots, Offer, Words
from tokumei.exchange.offering import SPREAD, Terms, make_offer
from tokumei.exchange.request import Request
from tokumei.exchange.trying import try_node
from tokumei.hierarchy.build.from_data import FromData
from tokumei.hierarchy.build.japan_age import JapanAge
from tokumei.hierarchy.build.japan_prefecture import JapanPrefecture
from tokumei.hierarchy.build.sex import Sex
from tokumei.hierarchy.lattice import Lattice
from tokumei.predict.counted_nodes import roll_up_counter
from tokumei.predict.methods.margins import Margins
from tokumei.predict.quadrants import Quadrants

N_ROWS = 10_000_000
N_SERVICES = 20
WORDS = Words("A shop", "Research", "None", "Ages of customers.")
AGES = JapanAge(bands=(9, 5, 3)).build("age", pl.Series(range(OLDEST + 1)))
PLACES = [Sex().build("sex", pl.Series(SEXES)), JapanPrefecture().build("prefecture", pl.Series(PREFECTURES))]
# Served and refused by the rule alone: these figures are not about lots.
RARE = Lots(1e-9, 1e-9)
NOTHING = FirstRelease({"sex": 1, "age": 3, "prefecture": 3}, "")

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
from tokumei.exchange.keys import read_private
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
    return [*_answering(), *_trying(), *_quadrants()]


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
        terms = Terms([Criterion("own", 50)], lots=RARE, predictor="margins")
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
    terms = Terms([Criterion("own", 5)], is_vetted=False, predictor="margins")
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
    """γ and β of the formula and of the whole rule, over made services and three k."""
    lattice = Lattice.of([PLACES[0], AGES.from_level(1), PLACES[1]])
    counted = [
        count_classes(people, ["sex", "age", "prefecture"], recodings=[AGES.recoding(1)])
        for _, people in make_services(N_SERVICES, seed=1)
    ]
    figures = []
    for k in (2, 10, 50):
        formula = rule = Quadrants(0, 0, 0, 0)
        for counts in counted:
            count = roll_up_counter(lattice, counts)
            ks = {node: count(node).k for node in lattice if lattice.class_count(node) > 1}
            margins = Margins(k_p=k, two_way=False, spread=SPREAD).fit(lattice, counts)
            offer = Offer("service", WORDS, lattice.hierarchies, margins.knowledge, (Criterion("own", k),), NOTHING)
            by_formula, by_rule = rule_quadrants(offer, ks, k)
            formula, rule = formula + by_formula, rule + by_rule
        figures += [
            Figure(f"{N_SERVICES} services, k = {k}: γ", 100 * formula.shares["gamma"], "%", 2),
            Figure(f"{N_SERVICES} services, k = {k}: β of the formula", 100 * formula.shares["beta"], "%", 10),
            Figure(f"{N_SERVICES} services, k = {k}: β of the whole rule", 100 * rule.shares["beta"], "%"),
        ]
    return figures
