"""What users do: say who they are, ask for levels, and get what they are given."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from tokumei.core.errors import TokumeiError
from tokumei.data.files.keys import HEADER, fingerprint
from tokumei.exchange.transport import LARGEST_REQUEST
from tokumei.platform.access import UserRequest, access, redirect_saying
from tokumei.platform.exchange import trying
from tokumei.platform.exchange.forms import AskForm, RecipientForm, SignedForm
from tokumei.platform.exchange.models import LevelRequest, OfferState, PublishedOffer, RequestState
from tokumei.platform.exchange.reading_views import find, find_own_request, frame, levels_of, sliders
from tokumei.platform.exchange.services import looking, requesting
from tokumei.platform.exchange.services.offers import document_of, text_of
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.messages import TooMany, describe_error

ON_A_PAGE = 30


@access("user", methods="GET POST")
def profile(request: UserRequest) -> HttpResponse:
    """Edit the user's profile for providers; the first time, this makes their signing key."""
    known = requesting.recipient_of(request.user)
    initial = {"organization": known.organization, "about": known.about} if known else {}
    form = RecipientForm(request.POST or None, initial=initial)
    if form.is_valid():
        requesting.introduce(request.user, **form.cleaned_data)
        messages.success(request, _("Saved."))
        after = request.GET.get("next", "")
        if not url_has_allowed_host_and_scheme(after, allowed_hosts={request.get_host()}):
            after = reverse("exchange:profile")
        return redirect(after)
    shown = {"form": form, "recipient": known, "fingerprint": fingerprint(known.public_key) if known else ""}
    return render(request, "exchange/profile.html", shown, status=400 if form.errors else 200)


@access("user")
def public_key(request: UserRequest) -> HttpResponse:
    """Send the public half of the key that signs for the user here, to be named in an offer."""
    known = requesting.recipient_of(request.user)
    if known is None:
        return redirect("exchange:profile")
    response = HttpResponse(f"{HEADER}{known.public_key}\n", content_type="text/plain")
    response["Content-Disposition"] = f'attachment; filename="{request.user.username}.pub"'
    return response


@access("user", of=find, methods="GET POST")
def ask(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Ask for levels."""
    known = requesting.recipient_of(request.user)
    if known is None:
        here = request.get_full_path() if request.method == "GET" else published_path(published)
        messages.info(request, _("Say first who you are to providers."))
        return redirect(f"{reverse('exchange:profile')}?{_query(next=here)}")
    offer, _signed = document_of(published)
    own = requesting.criteria_for(published, request.user)
    chosen = request.GET.get("c", "")
    criterion = next((one for one in own if one.name == chosen), own[-1])
    node = levels_of(request.GET, published, criterion.name)
    form = AskForm(
        request.POST or None,
        criteria=[(one.name, trying.criterion_name(one)) for one in own],
        initial={"criterion": criterion.name},
    )
    if form.is_valid():
        try:
            made = requesting.ask(
                published,
                request.user,
                levels=offer.lattice.levels(node),
                criterion=form.cleaned_data["criterion"],
                purpose=form.cleaned_data["purpose"],
            )
        except TooMany:
            raise
        except TokumeiError as error:
            form.add_error(None, describe_error(error))
        else:
            return redirect_saying(request, _("The request is sent."), "exchange:request", key=made.key)
    attempt = trying.try_levels(published, node, criterion.name)
    shown = frame(request, published) | {
        "form": form,
        "signed_form": SignedForm(),
        "offer": offer,
        "attempt": attempt,
        "criterion": criterion,
        "zone_name": trying.zone_name(attempt.zone),
        "tag": trying.TAG_OF_ZONE[attempt.zone],
        "why": trying.why(attempt),
        "sliders": sliders(offer, node),
        "can_ask": attempt.tried.zone != "refused",
        "recipient": requesting.name_of(known),
        "levels": ",".join(f"{name}={level}" for name, level in offer.lattice.levels(node).items()),
    }
    return render(request, "exchange/ask.html", shown, status=400 if form.errors else 200)


@access("user", of=find, methods="POST")
def ask_signed(request: UserRequest, published: PublishedOffer) -> HttpResponse:
    """Pass on a request that was signed at home."""
    try:
        text = text_of(uploads_of(request).get("document"), "request.json", LARGEST_REQUEST)
        made = requesting.ask_signed(published, request.user, text)
    except TooMany:
        raise
    except TokumeiError as error:
        messages.error(request, describe_error(error))
        return redirect("exchange:ask", published=published.slug)
    return redirect_saying(request, _("The request is sent."), "exchange:request", key=made.key)


@access("user")
def requests(request: UserRequest) -> HttpResponse:
    """List one's own requests."""
    page = Paginator(requesting.requests_of(request.user), ON_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "exchange/requests.html", {"page": page, "requests": page.object_list})


@access("user", of=find_own_request)
def request_page(request: UserRequest, key: LevelRequest) -> HttpResponse:
    """Show what became of a request."""
    is_there = key.offer.state != OfferState.REMOVED
    offer = document_of(key.offer)[0] if is_there else None
    shown = frame(request, key.offer) | {
        "asked": key,
        "offer": offer,
        "sliders": [] if offer is None else sliders(offer, offer.lattice.node(key.levels)),
        "n_fetched": key.fetched.count(),
        "table": None,
    }
    if key.state == RequestState.SERVED and key.release_path.is_file():
        header, rows, n_rows = looking.release_rows(key.release_path.read_text("utf-8"))
        shown["table"] = {"header": header, "rows": rows, "n_rows": n_rows, "n_more": n_rows - len(rows)}
    return render(request, "exchange/request.html", shown)


@access("user", of=find_own_request)
def state(request: UserRequest, key: LevelRequest) -> JsonResponse:
    """Return whether there is an answer, for the waiting page."""
    is_final = key.state != request.GET.get("was", key.state) or not key.is_open
    return JsonResponse({"is_final": is_final, "says": key.get_state_display(), "progress": {}})


@access("user", of=find_own_request)
def release(request: UserRequest, key: LevelRequest) -> FileResponse:
    """Send a release to who asked for it; each time is noted."""
    path = requesting.fetch_release(key)
    return FileResponse(
        path.open("rb"), as_attachment=True, filename=f"{key.offer.slug}-{key.key}.csv", content_type="text/csv"
    )


@access("user", of=find_own_request)
def answer(request: UserRequest, key: LevelRequest) -> HttpResponse:
    """Send the signed answer, to be held against the public log."""
    return _document(key.answer, f"{key.key}.answer.json")


@access("user", of=find_own_request)
def request_document(request: UserRequest, key: LevelRequest) -> HttpResponse:
    """Send the request as it was signed."""
    return _document(key.document, f"{key.key}.request.json")


@access("user", of=find_own_request, methods="POST")
def withdraw(request: UserRequest, key: LevelRequest) -> HttpResponse:
    """Take a request back."""
    requesting.withdraw(key)
    return redirect_saying(request, _("The request is withdrawn."), "exchange:requests")


def published_path(published: PublishedOffer) -> str:
    """Return the address of an offer's page."""
    return reverse("exchange:offer", kwargs={"published": published.slug})


def _document(text: str, name: str) -> HttpResponse:
    if not text:
        raise Http404
    response = HttpResponse(text, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _query(**parts: str) -> str:
    return urlencode(parts)
