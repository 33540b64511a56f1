"""An offer for the demo: made-up customers of a service, hosted by the platform, with a request that was served."""

from __future__ import annotations

import io
from collections.abc import Sequence

from django.core.files.uploadedfile import SimpleUploadedFile

from tokumei.data.made.services import make_service
from tokumei.hierarchies.builders.japan_age import JapanAge
from tokumei.hierarchies.builders.japan_prefecture import JapanPrefecture
from tokumei.hierarchies.builders.sex import Sex
from tokumei.hierarchies.hierarchy import Hierarchy
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange.desk_work import Wish
from tokumei.platform.exchange.models import OfferState, PublishedOffer
from tokumei.platform.exchange.services import hosting, offers, recipients, requesting, trying
from tokumei.platform.jobs.queue import next_jobs
from tokumei.platform.jobs.running import run_here
from tokumei.platform.jobs.work import EXCHANGE
from tokumei.platform.teams.models import Team

SLUG = "demo-customers"
N_PEOPLE, SEED = 60_000, 1
WORDS = {
    "provider": "Sakura Mart (made up)",
    "purpose": "Research on shops and regions; planning of services. 店舗・地域の研究、サービスの企画。",
    "terms": "Do not try to find anybody, and do not pass it on. 再識別と再提供を禁じます。",
    "summary": (
        "We share how many customers of our service live where, by sex and age group, never who they are. "
        "どの地域に、どの性別・年代のお客様が何人いるかだけを共有し、個人は共有しません。"
    ),
}
PURPOSE = "A study of age groups by region. 地域別の年齢構成の調査。"


def set_up(user: User, team: Team, asking: Sequence[User] = ()) -> list[str]:
    """Make the demo's offer for a team, once, and let some users ask for levels; give a line to print."""
    published = PublishedOffer.objects.filter(slug=SLUG).first()
    if published is None:
        published = _host(user, team)
    _do_jobs()
    published.refresh_from_db()
    for each in asking:
        if recipients.recipient_of(each) is None:
            recipients.introduce(each, organization=f"{each.display_name} Lab")
        if published.state == OfferState.OPEN and not requesting.requests_of(each).filter(offer=published).exists():
            # The finest that the offer allows beside what is out by now.
            document, _signed = offers.document_of(published)
            node = trying.first_levels(document, out=trying.given(published, document))
            wanted = dict(zip(document.lattice.attributes, node, strict=True))
            requesting.ask(published, each, levels=wanted, criterion=None, purpose=PURPOSE)
            _do_jobs()
            published.refresh_from_db()
    _do_jobs()
    return [f"An offer to try levels on: /exchange/{SLUG}"]


def _do_jobs() -> None:
    """Do the work of the exchange now, while no worker runs that would."""
    for job in next_jobs([EXCHANGE], most=50):
        run_here(job)


def _host(user: User, team: Team) -> PublishedOffer:
    people = make_service(N_PEOPLE, service=1, seed=SEED)
    packed = io.BytesIO()
    people.write_parquet(packed)
    built = [
        Sex().build("sex", people["sex"]),
        JapanAge().build("age", people["age"]),
        JapanPrefecture().build("prefecture", people["prefecture"]),
    ]
    return hosting.host(
        user,
        team,
        slug=SLUG,
        wish=Wish(name="Customers of a service 顧客データ", words=WORDS, criteria=["public=10", "trusted=3"]),
        table=SimpleUploadedFile("customers.parquet", packed.getvalue()),
        hierarchies=[SimpleUploadedFile(f"{each.attribute}.csv", _text(each)) for each in built],
    )


def _text(hierarchy: Hierarchy) -> bytes:
    """Serialize a hierarchy as its file."""
    rows = zip(*(hierarchy.labels_at(level) for level in range(len(hierarchy.levels))), strict=True)
    return "".join(";".join(row) + "\n" for row in rows).encode()
