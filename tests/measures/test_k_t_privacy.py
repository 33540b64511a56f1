from __future__ import annotations

import datetime
import random

import polars as pl
import pytest

from tokumei.core.errors import InputError
from tokumei.data.history import History
from tokumei.measures.safety.k_t_privacy import KTPrivacy

Visit = tuple[int, str, str]


def history(visits: list[Visit]) -> History:
    first = datetime.date(2011, 1, 1)
    rows = [(first + datetime.timedelta(day), who, where) for day, who, where in visits]
    schema = {"date": pl.Date, "customer": pl.String, "item": pl.String}
    return History.of(pl.DataFrame(rows, schema=schema, orient="row").with_columns(price=1.0, quantity=1))


def plain(visits: list[Visit], t: int) -> int:
    """Follow everybody by hand: who was met may be the person, and so may whoever those met."""
    found = []
    for start, who, _ in visits:
        maybe = {who}
        for day in range(start, start + t):
            grew = True
            while grew:
                places = {where for at, one, where in visits if at == day and one in maybe}
                more = {one for at, one, where in visits if at == day and where in places}
                grew = not more <= maybe
                maybe |= more
        reached = set()
        for one in maybe:
            days = [at for at, other, _ in visits if other == one and at >= start + t]
            reached |= {where for at, other, where in visits if other == one and days and at == min(days)}
        if reached:
            found.append(len(reached))
    return min(found, default=0)


MET = [(1, "p", "a"), (1, "q", "a"), (2, "p", "b"), (2, "q", "c")]


def test_k_t_privacy_of_the_worked_example() -> None:
    assert KTPrivacy(2, 1).measure(history(MET)).value == 2
    assert KTPrivacy(2, 1).holds(history(MET))
    apart = [(1, "p", "a"), (1, "q", "x"), (2, "p", "b"), (2, "q", "c")]
    assert KTPrivacy(2, 1).measure(history(apart)).value == 1
    assert not KTPrivacy(2, 1).holds(history(apart))


def test_nobody_who_buys_no_more_is_followed() -> None:
    assert KTPrivacy(2, 5).measure(history(MET)).value == 0
    assert KTPrivacy(2, 5).holds(history(MET))
    assert KTPrivacy(2, 1).measure(history([])).value == 0


@pytest.mark.slow
def test_k_t_privacy_equals_following_everybody_by_hand() -> None:
    for seed in range(60):
        draw = random.Random(seed)
        n = draw.randrange(1, 12)
        visits = sorted({(draw.randrange(5), draw.choice("pqrs"), draw.choice("abc")) for _ in range(n)})
        for t in (1, 2, 3):
            assert KTPrivacy(1, t).measure(history(visits)).value == plain(visits, t), (seed, t)


def test_bad_options_are_named() -> None:
    with pytest.raises(InputError, match="option t"):
        KTPrivacy(1, 0)
