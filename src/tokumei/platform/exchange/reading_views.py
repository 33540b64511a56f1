"""What everybody reads: the catalogue, an offer with its predictor, its audit and disclosure, and the watch.

`find` and `frame` come first: every page of an offer finds what its address names by them.
"""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import ngettext

from tokumei.core.errors import NotFound, TokumeiError
from tokumei.core.text import Json
from tokumei.data.files.keys import fingerprint
from tokumei.exchange.offer import Offer
from tokumei.hierarchies.lattice import Node
from tokumei.platform.access import UserRequest, access
from tokumei.platform.accounts.models import User
from tokumei.platform.exchange import trying
from tokumei.platform.exchange.figure import LogFigure, mark_of, offer_figure
from tokumei.platform.exchange.forms import JoinForm
from tokumei.platform.exchange.models import OfferState, PublishedOffer
from tokumei.platform.exchange.services import looking
from tokumei.platform.exchange.services.answering import find_pending
from tokumei.platform.exchange.services.offers import (
    document_of,
    find_logged_offer,
    find_offer,
    find_own_offer,
    offers_of,
    visible_offers,
)
from tokumei.platform.exchange.services.requesting import criteria_for, find_request
from tokumei.platform.exchange.trying import first_levels, given
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import describe_error
from tokumei.platform.pages.apps import PageSection

LABELS_SHOWN = 6


def viewer(request: HttpRequest) -> User | None:
    """Return the logged-in user, if any."""
    return request.user if isinstance(request.user, User) else None


def find(request: HttpRequest, level: str, published: str, **_: object) -> dict[str, PublishedOffer]:
    """Find an offer that everybody may see; for members, one of their teams whatever its state."""
    try:
        if level == "member" and isinstance(request.user, User):
            return {"published": find_own_offer(request.user, published)}
        return {"published": find_offer(published)}
    except NotFound:
        raise Http404 from None


def find_logged(request: HttpRequest, level: str, published: str, **_: object) -> dict[str, object]:
    """Find an offer whose log everybody may see: also one that was removed."""
    try:
        return {"published": find_logged_offer(published)}
    except NotFound:
        raise Http404 from None


def find_desk_request(request: UserRequest, level: str, published: str, key: str, **_: object) -> dict[str, object]:
    """Find a request at an offer of one's own team."""
    try:
        own = find_own_offer(request.user, published)
        return {"published": own, "key": find_pending(own, key)}
    except NotFound:
        raise Http404 from None


def find_own_request(request: UserRequest, level: str, key: str, **_: object) -> dict[str, object]:
    """Find a request of one's own."""
    try:
        return {"key": find_request(request.user, key)}
    except NotFound:
        raise Http404 from None


def frame(request: HttpRequest, published: PublishedOffer) -> Json:
    """Return the context of the head of every offer page."""
    user = viewer(request)
    return {
        "published": published,
        "is_provider": user is not None and offers_of(user).filter(pk=published.pk).exists(),
        "signed_by": fingerprint(published.public_key) if published.public_key else "",
    }


def levels_of(chosen: QueryDict, published: PublishedOffer, criterion: str | None) -> Node:
    """Read the levels that were chosen, l0 for the first column and so on; what cannot be read is as suggested."""
    offer, _signed = document_of(published)
    node = []
    for place, hierarchy in enumerate(offer.hierarchies):
        text = chosen.get(f"l{place}", "")
        if not text.isdecimal() or len(text) > 3 or int(text) > hierarchy.height:
            return first_levels(offer, criterion, given(published, offer))
        node.append(int(text))
    return tuple(node)


def sliders(offer: Offer, node: Node) -> list[Json]:
    """Return a slider for each column: its levels in words, the finest at the left."""
    shown = []
    for place, (hierarchy, level) in enumerate(zip(offer.hierarchies, node, strict=True)):
        levels = [
            {
                "number": number,
                "n_labels": len(each.labels),
                "says": ngettext("%(n)s group", "%(n)s groups", len(each.labels)) % {"n": len(each.labels)},
                "labels": list(each.labels[:LABELS_SHOWN]),
                "n_more": max(0, len(each.labels) - LABELS_SHOWN),
            }
            for number, each in enumerate(hierarchy.levels)
        ]
        shown.append(
            {
                "name": f"l{place}",
                "attribute": hierarchy.attribute,
                "level": level,
                "levels": levels,
                "at": levels[level],
            }
        )
    return shown


ON_A_PAGE = 20
ON_HOME = 4
LARGEST_OWN_FILE = 8 * 1024 * 1024


@access("anyone")
def catalogue(request: HttpRequest) -> HttpResponse:
    """List offers, those with all the words that are looked for."""
    search = request.GET.get("q", "")[:200].replace("\0", "")
    page = Paginator(visible_offers(search), ON_A_PAGE).get_page(request.GET.get("page"))
    listed = [{"published": one, "offer": document_of(one)[0]} for one in page.object_list]
    return render(request, "exchange/catalogue.html", {"page": page, "listed": listed, "search": search})


def on_home(request: HttpRequest) -> PageSection | None:
    """Show the newest offers on the home page."""
    found = list(visible_offers().filter(state=OfferState.OPEN)[:ON_HOME])
    listed = [{"published": one, "offer": document_of(one)[0]} for one in found]
    return PageSection("exchange/on_home.html", {"listed": listed}) if listed else None


@access("anyone", of=find)
def offer(request: HttpRequest, published: PublishedOffer) -> HttpResponse:
    """Show an offer, with levels to try."""
    return render(request, "exchange/offer.html", frame(request, published) | _tried(request, published))


@access("anyone", of=find)
def try_levels(request: HttpRequest, published: PublishedOffer) -> JsonResponse:
    """Return what the offer says of levels, for the sliders."""
    shown = _tried(request, published)
    attempt: trying.OfferTrial = shown["attempt"]
    return JsonResponse(
        trying.as_dict(attempt)
        | {
            "zone_name": shown["zone_name"],
            "tag": shown["tag"],
            "why": shown["why"],
            "mark": shown["mark"],
            "at": [each["at"] for each in shown["sliders"]],
            "can_ask": shown["can_ask"],
            "judged": attempt.tried.judged.low,
        }
    )


@access("anyone", of=find, methods="GET POST")
def join(request: HttpRequest, published: PublishedOffer) -> HttpResponse:
    """Find the levels at which somebody's own column connects; what they send is not kept."""
    found_offer, _signed = document_of(published)
    form = JoinForm(offer=found_offer)
    connections: list[Any] = []
    if request.method == "POST":
        form = JoinForm(request.POST, uploads_of(request), offer=found_offer)
        if form.is_valid():
            file = form.cleaned_data["file"]
            content = None if file is None else file.read(LARGEST_OWN_FILE)
            try:
                connections = trying.connect(
                    found_offer, form.cleaned_data["attribute"], form.cleaned_data["values"], content
                )
            except TokumeiError as error:
                form.add_error(None, describe_error(error))
    hierarchy = None
    if connections:
        place = found_offer.lattice.attributes.index(connections[0].attribute)
        hierarchy = found_offer.hierarchies[place]
    rows = [
        {
            "connection": each,
            "labels": hierarchy.levels[each.level].labels[:6] if hierarchy else (),
            "n_labels": len(hierarchy.levels[each.level].labels) if hierarchy else 0,
        }
        for each in connections
    ]
    shown = frame(request, published) | {"form": form, "rows": rows, "offer": found_offer}
    return render(request, "exchange/join.html", shown, status=400 if form.errors else 200)


@access("anyone", of=find)
def document(request: HttpRequest, published: PublishedOffer) -> FileResponse:
    """Send the offer as it was signed."""
    return _send(published, "offer.json", f"{published.slug}.offer.json")


@access("anyone", of=find)
def first_release(request: HttpRequest, published: PublishedOffer) -> FileResponse:
    """Send the first release."""
    return _send(published, "first-release.csv", f"{published.slug}.first-release.csv")


@access("anyone", of=find_logged)
def audit(request: HttpRequest, published: PublishedOffer) -> HttpResponse:
    """Show the public log, and whether all of it is as it was signed."""
    found = looking.audit(published)
    page = Paginator(found.lines[::-1], 50).get_page(request.GET.get("page"))
    shown = frame(request, published) | {"audit": found, "page": page}
    return render(request, "exchange/audit.html", shown)


@access("anyone", of=find_logged)
def audit_files(request: HttpRequest, published: PublishedOffer) -> FileResponse:
    """Send all that is public, for anybody to verify."""
    packed = looking.pack_public(published)
    return FileResponse(packed, as_attachment=True, filename=f"{published.slug}.zip", content_type="application/zip")


@access("anyone", of=find)
def disclosure(request: HttpRequest, published: PublishedOffer) -> HttpResponse:
    """Show the public what was given, to whom and by which standard."""
    found_offer, _signed = document_of(published)
    shown = frame(request, published) | {
        "offer": found_offer,
        "given": looking.disclosed(published),
        "n_elsewhere": looking.n_served_elsewhere(published),
        "n_requests": published.requests.count(),
    }
    return render(request, "exchange/disclosure.html", shown)


@access("anyone")
def watch(request: HttpRequest) -> HttpResponse:
    """Look over all offers."""
    return render(request, "exchange/watch.html", {"watched": looking.watch()})


def _tried(request: HttpRequest, published: PublishedOffer) -> Json:
    """Try the levels in the address, or some to begin with."""
    found_offer, signed = document_of(published)
    user = viewer(request)
    own = criteria_for(published, user)
    # Everybody may look by any criterion, and ask by those that they are served by.
    named = request.GET.get("c", "") or own[-1].name
    try:
        criterion = found_offer.criterion(named)
    except NotFound:
        criterion = own[-1]
    node = levels_of(request.GET, published, criterion.name)
    attempt = trying.try_levels(published, node, criterion.name)
    figure: LogFigure = offer_figure(found_offer, criterion.name)
    is_served = criterion.name in {one.name for one in own}
    return {
        "offer": found_offer,
        "digest": signed.digest,
        "criteria": [(one, trying.criterion_name(one)) for one in found_offer.criteria],
        "criterion": criterion,
        "lots": [f"{100 * share:.3g} %" for share in (found_offer.lots.allowed, found_offer.lots.discretion)],
        "is_served": is_served,
        "attempt": attempt,
        "zone_name": trying.zone_name(attempt.zone),
        "tag": trying.TAG_OF_ZONE[attempt.zone],
        "why": trying.why(attempt),
        "figure": figure,
        "mark": mark_of(figure, attempt.tried),
        "sliders": sliders(found_offer, node),
        "can_ask": is_served and attempt.zone != "refused" and published.state == OfferState.OPEN,
    }


def _send(published: PublishedOffer, name: str, called: str) -> FileResponse:
    path = published.folder / name
    if not path.is_file():
        raise NotFound("")
    kind = "application/json" if name.endswith(".json") else "text/csv"
    return FileResponse(path.open("rb"), as_attachment=True, filename=called, content_type=kind)
