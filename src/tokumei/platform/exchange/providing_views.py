"""What providers do: publish offers or have them hosted, look at requests, agree to them, learn from answers."""

from __future__ import annotations

import math
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from tokumei.core.errors import TokumeiError
from tokumei.core.text import Json
from tokumei.data.files.keys import fingerprint
from tokumei.exchange.offer import Offer
from tokumei.platform.access import UserRequest, access, redirect_saying
from tokumei.platform.exchange import trying
from tokumei.platform.exchange.desk_work import Wish
from tokumei.platform.exchange.figure import learning_figure
from tokumei.platform.exchange.forms import HostForm, PublishForm, SignedForm, TrustForm
from tokumei.platform.exchange.models import OPEN_STATES, LevelRequest, OfferState, PublishedOffer, RequestState
from tokumei.platform.exchange.reading_views import find, find_desk_request, frame
from tokumei.platform.exchange.services import answering, hosting, offers, requesting
from tokumei.platform.exchange.services import looking as lessons
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import TooMany, describe_error
from tokumei.platform.teams.services import teams_of
from tokumei.platform.workbench.handing_over import handed_over

ON_A_PAGE = 30


@access("user")
def mine(request: UserRequest) -> HttpResponse:
    """List the offers of one's teams, with what waits at each."""
    listed = [
        {"published": one, "n_waiting": one.requests.filter(state__in=OPEN_STATES).count()}
        for one in offers.offers_of(request.user)
    ]
    shown = {"listed": listed, "has_team": teams_of(request.user).exists()}
    return render(request, "exchange/mine.html", shown)


@access("user", methods="GET POST")
def publish(request: UserRequest) -> HttpResponse:
    """Publish an offer that was made and signed at home."""
    form = PublishForm(request.POST or None, uploads_of(request) or None, user=request.user)
    if form.is_valid():
        given = form.cleaned_data
        try:
            made = offers.publish(
                request.user,
                form.chosen_team,
                slug=given["slug"],
                offer_text=offers.text_of(given["offer"], "offer.json", offers.LARGEST_OFFER),
                first_release=offers.text_of(given["first_release"], "first-release.csv", offers.LARGEST_RELEASE),
                log=offers.text_of(given["log"], "public.jsonl", offers.LARGEST_LOG),
                head=offers.text_of(given["head"], "public.head.json", offers.LARGEST_LOG),
            )
        except TooMany:
            raise
        except TokumeiError as error:
            form.add_error(None, describe_error(error))
        else:
            messages.success(request, _("The offer is published. Start your own process now, to answer requests."))
            return redirect("exchange:desk", published=made.slug)
    shown = {"form": form, "has_team": bool(form.teams)}
    return render(request, "exchange/publish.html", shown, status=400 if form.errors else 200)


@access("user", methods="GET POST")
def host(request: UserRequest) -> HttpResponse:
    """Have the platform host a table and make the offer."""
    files: object = request.FILES if uploads_of(request) else None
    handed = handed_over(request)
    begun = None if handed is None else handed.for_offer()
    begun = _typed_before(request) or begun
    form = HostForm(request.POST or None, files, user=request.user, initial=begun, is_handed_over=handed is not None)
    if form.is_valid():
        given = form.cleaned_data
        wish = Wish(
            name=given["name"],
            words={name: given[name] for name in ("provider", "purpose", "terms", "summary")},
            criteria=given["criteria"],
            predictor=given["predictor"],
            first_levels=given["first_levels"],
            epsilon=given["epsilon"],
            person=given["person"],
            other_people=given["other_people"],
            has_discretion=given["has_discretion"],
            approvals_needed=given["approvals_needed"],
            approvers=given["approvers"],
        )
        try:
            made = hosting.host(
                request.user,
                form.chosen_team,
                slug=given["slug"],
                wish=wish,
                table=given["table"] if handed is None else handed.file(),
                hierarchies=given["hierarchies"] if handed is None else handed.hierarchies(),
            )
        except TooMany:
            raise
        except TokumeiError as error:
            form.add_error(None, describe_error(error))
        else:
            messages.success(request, _("The offer is being made; it is published when that is done."))
            return redirect("exchange:desk", published=made.slug)
    shown = {"form": form, "has_team": bool(form.teams), "handed": handed}
    return render(request, "exchange/host.html", shown, status=400 if form.errors else 200)


def _typed_before(request: UserRequest) -> Json | None:
    """Return what was typed for an offer that could not be made, so that only its files are sent again."""
    failed = offers.offers_of(request.user).filter(slug=request.GET.get("again", ""), state=OfferState.FAILED).first()
    if failed is None or not failed.wanted:
        return None
    wanted = dict(failed.wanted)
    words = wanted.pop("words", {})
    levels = ",".join(f"{name}={level}" for name, level in (wanted.pop("first_levels", None) or {}).items())
    told = {**wanted, **words, "first_levels": levels, "criteria": ",".join(wanted.get("criteria", []))}
    return told | {"slug": f"{failed.slug}-2", "team": failed.team.slug}


@access("member", of=find)
def desk(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Show what waits at an offer, and what was answered."""
    return _desk_page(request, published)


@access("member", of=find_desk_request, methods="POST")
def vote(request: UserRequest, published: PublishedOffer, key: LevelRequest) -> HttpResponse:
    """Agree to a request or not, as the second person that the offer asks for."""
    upload = uploads_of(request).get("document")
    if upload is not None:
        requesting.vote_signed(key, request.user, offers.text_of(upload, "approval.json", 100_000))
    else:
        requesting.vote(key, request.user, is_approved=request.POST.get("says") == "yes")
    return redirect_saying(request, _("Noted."), "exchange:desk", published=published.slug)


@access("member", of=find_desk_request)
def desk_document(request: UserRequest, published: PublishedOffer, key: LevelRequest) -> HttpResponse:
    """Send a request as it was signed, for approval at home."""
    response = HttpResponse(key.document, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{key.key}.request.json"'
    return response


@access("member", of=find)
def learning(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Show how the formula did on what was counted; for a table that is not here, how to see that at home."""
    shown: dict[str, object] = {"learning": None, "figures": []}
    if published.is_hosted and published.is_published:
        found = lessons.learn(published)
        offer, _signed = offers.document_of(published)
        shown = {
            "learning": found,
            "figures": [(each, learning_figure(found, each)) for each in found.learned],
            "counted": [_counted_in_words(offer, each) for each in found.counted],
        }
    return render(request, "exchange/learning.html", frame(request, published) | shown)


@access("member", of=find, methods="POST")
def tighten(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Publish a steeper formula."""
    lessons.tighten(published)
    return redirect_saying(request, _("The offer has a new revision."), "exchange:learning", published=published.slug)


@access("member", of=find, methods="POST")
def trust(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Serve somebody by a criterion that is not everybody's."""
    form = _trust_form(published, request.POST)
    if form.is_valid():
        try:
            requesting.trust(published, request.user, **form.cleaned_data)
        except TokumeiError as error:
            form.add_error("username", describe_error(error))
        else:
            return redirect_saying(request, _("Saved."), "exchange:desk", published=published.slug)
    return _desk_page(request, published, form)


@access("member", of=find, methods="POST")
def distrust(request: UserRequest, published: PublishedOffer, trusted: int) -> HttpResponse:
    """Serve somebody by the strictest criterion again."""
    requesting.distrust(published, trusted)
    return redirect_saying(request, _("Saved."), "exchange:desk", published=published.slug)


@access("member", of=find, methods="POST")
def serve(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Have the requests at a hosted offer answered now."""
    answering.answer_now(published)
    return redirect_saying(request, _("What waits is being answered."), "exchange:desk", published=published.slug)


@access("member", of=find, methods="POST")
def close(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Take no more requests, or take them again."""
    offers.close(published, is_open=request.POST.get("open") == "yes")
    return redirect_saying(request, _("Saved."), "exchange:desk", published=published.slug)


@access("member", of=find, methods="POST")
def remove(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Remove an offer for good, with its table."""
    hosting.remove_offer(published, request.user, typed=request.POST.get("typed", ""))
    return redirect_saying(request, _("The offer is removed for good. Its log stays, and says so."), "exchange:mine")


def _desk_page(request: UserRequest, published: PublishedOffer, form: TrustForm | None = None) -> HttpResponse:
    shown: dict[str, object] = frame(request, published)
    if published.is_published:
        offer, _signed = offers.document_of(published)
        waiting = published.requests.filter(state__in=OPEN_STATES).select_related("user").order_by("sent")
        done = published.requests.exclude(state__in=OPEN_STATES).exclude(state=RequestState.WITHDRAWN)
        page = Paginator(done, ON_A_PAGE).get_page(request.GET.get("page"))
        shown |= {
            "offer": offer,
            "needs_approval": offer.approvals_needed > 0 or (offer.has_discretion and bool(offer.approvers)),
            "waiting": [
                {
                    "asked": one,
                    "votes": list(one.votes.select_related("by")),
                    **_in_words(offer, one),
                    **_vote_rights(one, request),
                }
                for one in waiting[:ON_A_PAGE]
            ],
            "page": page,
            "answered": [{"asked": one, **_in_words(offer, one)} for one in page.object_list],
            "trusted": published.trusted.select_related("user"),
            "trust_form": form or (_trust_form(published) if _lists_recipients(published, offer) else None),
            "recipients": [one.as_dict() | {"short_key": fingerprint(one.key)} for one in offer.recipients],
            "signed_form": SignedForm(),
            "server": request.build_absolute_uri("/").rstrip("/"),
        }
    return render(request, "exchange/desk.html", shown, status=400 if form is not None and form.errors else 200)


def _counted_in_words(offer: Offer, counted: Any) -> dict[str, object]:
    told = trying.levels_in_words(offer, offer.lattice.levels(counted.node))
    return {"told": told, "class_count": counted.class_count, "k": counted.k, "low": counted.low}


def _in_words(offer: Offer, asked: LevelRequest) -> dict[str, object]:
    """Describe a request in labels, with its largest risk and how much it reveals."""
    k = offer.criterion(asked.criterion).k
    node = offer.lattice.node(asked.levels)
    n_groups = [len(hierarchy.levels[level].labels) for hierarchy, level in zip(offer.hierarchies, node, strict=True)]
    return {
        "levels": trying.levels_in_words(offer, asked.levels),
        "criterion_name": trying.criterion_name(offer.criterion(asked.criterion)),
        "k": k,
        "risk": 1 / k,
        "n_cells": math.prod(n_groups),
    }


def _vote_rights(asked: LevelRequest, request: UserRequest) -> dict[str, bool]:
    has_voted = asked.votes.filter(by=request.user).exists()
    return {
        "may_vote": requesting.may_vote(asked, request.user) and not has_voted,
        "is_own": asked.user == request.user,
    }


def _trust_form(published: PublishedOffer, given: object = None) -> TrustForm:
    if not published.is_published:
        return TrustForm(given, criteria=[])
    offer, _signed = offers.document_of(published)
    # Where others must agree, only those who are listed can ask, also by the strictest.
    listed = offer.criteria if offer.approvals_needed else offer.criteria[1:]
    return TrustForm(given, criteria=[(one.name, trying.criterion_name(one)) for one in listed])


def _lists_recipients(published: PublishedOffer, offer: Offer) -> bool:
    return published.is_hosted and (len(offer.criteria) > 1 or offer.approvals_needed > 0)
