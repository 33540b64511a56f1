"""What everybody reads: the catalogue, an offer with its predictor, its audit and disclosure, and the watch."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from tokumei.core.errors import NotFound, TokumeiError
from tokumei.platform.access import access
from tokumei.platform.exchange import words
from tokumei.platform.exchange.figure import LogFigure, mark_of, offer_figure
from tokumei.platform.exchange.forms import JoinForm
from tokumei.platform.exchange.models import OfferState, PublishedOffer
from tokumei.platform.exchange.services import looking, trying
from tokumei.platform.exchange.services.offers import document_of, visible_offers
from tokumei.platform.exchange.services.recipients import criteria_for
from tokumei.platform.exchange.views.finding import find, find_logged, frame, levels_of, sliders, viewer
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import describe_error
from tokumei.platform.pages.slots import PageSection

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


def _tried(request: HttpRequest, published: PublishedOffer) -> dict[str, Any]:
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
        "criteria": [(one, words.criterion_name(one)) for one in found_offer.criteria],
        "criterion": criterion,
        "lots": [f"{100 * share:.3g} %" for share in (found_offer.lots.allowed, found_offer.lots.discretion)],
        "is_served": is_served,
        "attempt": attempt,
        "zone_name": words.zone_name(attempt.zone),
        "tag": words.TAG_OF_ZONE[attempt.zone],
        "why": words.why(attempt),
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
