"""Offers for the tests of the exchange: a small table whose formula promises too much, and desks of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from tests.platform.sites import do_jobs

from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.counted_table import CountedTable
from tokumei.exchange.desk import DeskFolder
from tokumei.exchange.documents import Criterion
from tokumei.exchange.offer import Lots, Words
from tokumei.exchange.offering import OfferTerms
from tokumei.exchange.opening import open_offer
from tokumei.hierarchies.files import read_hierarchies
from tokumei.hierarchies.lattice import Lattice
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.desk_work import Wish
from tokumei.platform.exchange.models import PublishedOffer
from tokumei.platform.exchange.services import hosting, offers
from tokumei.platform.teams.models import Team

# Eight women and eight men of each of six ages, but two women of the third; four towns in turn.
COUNTS = {(age, sex): 8 for age in "123456" for sex in "fm"} | {("3", "f"): 2}
TOWNS = "pqrs"
ROWS = [f"{age};{sex};{TOWNS[number % 4]}" for (age, sex), n_rows in COUNTS.items() for number in range(n_rows)]
TABLE = "\n".join(["age;sex;town", *ROWS]) + "\n"
HIERARCHIES = {
    "age": "1;a;*\n2;a;*\n3;b;*\n4;b;*\n5;c;*\n6;c;*\n",
    "sex": "f;*\nm;*\n",
    "town": "p;n;*\nq;n;*\nr;s;*\ns;s;*\n",
}
WORDS = Words("A shop", "Research on ages", "Do not look for anybody.", "We share how many customers are of which age.")
# Practically nothing is refused by lot here, so that what is tested is the rule.
LOTS = Lots(1e-9, 1e-9)


def write_table(folder: Path) -> None:
    """Write the table and its hierarchies."""
    (folder / "people.csv").write_text(TABLE)
    (folder / "hierarchies").mkdir()
    for name, text in HIERARCHIES.items():
        (folder / "hierarchies" / f"{name}.csv").write_text(text)


def make_desk(folder: Path, key: PrivateKey, name: str = "people", **terms: Any) -> DeskFolder:
    """Make a desk at home; by a power law that was not vetted, unless told otherwise."""
    write_table(folder)
    decided: dict[str, Any] = {
        "criteria": [Criterion("own", 5)],
        "predictor": "power-law",
        "first_levels": {"age": 2, "sex": 0, "town": 2},
        # Hardly any noise: what is tested is the rule.
        "epsilon": 100.0,
        "tighten_every": 3,
        "is_vetted": False,
        "lots": LOTS,
    } | terms
    lattice = Lattice.of(list(read_hierarchies(folder / "hierarchies", HIERARCHIES).values()))
    reading: dict[str, Any] = {"engine": "local", "delimiter": ";", "encoding": "utf-8"}
    source = str(folder / "people.csv")
    table = CountedTable(lattice, source, **reading)
    return open_offer(
        *(folder / "desk", name, WORDS, table, OfferTerms(**decided)),
        key=key,
        source=source,
        reading=reading,
        registry=None,
    ).desk


def publish(desk: DeskFolder, user: User, team: Team, slug: str = "people") -> PublishedOffer:
    """Publish a desk's offer."""
    texts = {name: (desk.folder / file).read_text("utf-8") for name, file in PUBLIC.items()}
    return offers.publish(user, team, slug=slug, **texts)


PUBLIC = {
    "offer_text": "offer.json",
    "first_release": "first-release.csv",
    "log": "public.jsonl",
    "head": "public.head.json",
}


def host(user: User, team: Team, slug: str = "hosted", **wish: Any) -> PublishedOffer:
    """Have the platform host the table and make the offer, in this process."""
    decided: dict[str, Any] = {
        "name": "hosted people",
        "words": {"provider": "A shop", "purpose": "Research", "terms": "None.", "summary": "Ages."},
        "criteria": ["own=5"],
        "predictor": "power-law",
        "first_levels": {"sex": 0},
        "epsilon": 100.0,
        "other_people": True,
        "tighten_every": 3,
        "is_vetted": False,
        "lots": (1e-9, 1e-9),
    } | wish
    made = hosting.host(
        user,
        team,
        slug=slug,
        wish=Wish(**decided),
        table=SimpleUploadedFile("people.csv", TABLE.encode()),
        hierarchies=[SimpleUploadedFile(f"{name}.csv", text.encode()) for name, text in HIERARCHIES.items()],
    )
    do_jobs("exchange")
    made.refresh_from_db()
    return made
