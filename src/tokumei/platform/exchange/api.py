"""The exchange for programs: what a provider's own process and users do by a token."""

from __future__ import annotations

from django.http import FileResponse
from django.utils.translation import gettext as _
from ninja import Status

from tokumei.core.errors import InputError, NotFound
from tokumei.core.text import Json
from tokumei.data.files.keys import fingerprint
from tokumei.exchange.transport import LARGEST_REQUEST
from tokumei.platform.api.bearer import READ, SUBMIT, ApiRequest
from tokumei.platform.api.operations import SENDS_A_FILE, Limit, Offset, router, send
from tokumei.platform.api.schemas import Key, Line, Slug
from tokumei.platform.exchange import schemas, trying
from tokumei.platform.exchange.models import LevelRequest, PublishedOffer, Recipient
from tokumei.platform.exchange.services import answering, offers, requesting
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.teams.services import teams_of

TAGS, PROVIDERS = ["exchange"], ["exchange: providers"]


def _files(description: str) -> Json:
    schema = {"type": "object", "additionalProperties": {"type": "string", "format": "binary"}}
    body = {"required": True, "description": description, "content": {"multipart/form-data": {"schema": schema}}}
    return {"requestBody": body}


@router.get("/exchange/catalogue", auth=READ, tags=TAGS, response={200: schemas.Offers})
def catalogue(request: ApiRequest, q: Line = "", limit: Limit = 50, offset: Offset = 0) -> schemas.Offers:
    """List the offers that everybody may see, those with all words of `q`."""
    found = offers.visible_offers(q)
    return schemas.Offers(n=found.count(), offers=[_offer(one) for one in found[offset : offset + limit]])


@router.post("/exchange/catalogue/{slug}/try", auth=READ, tags=TAGS, response={200: schemas.TryOut})
def try_levels(request: ApiRequest, slug: Slug, given: schemas.TryIn) -> schemas.TryOut:
    """Try levels on an offer: nothing is counted, and nobody is asked."""
    published = offers.find_offer(slug)
    levels = _levels(published, given.levels)
    return schemas.TryOut(**trying.as_dict(trying.try_levels(published, list(levels.values()), given.criterion)))


@router.post("/exchange/catalogue/{slug}/requests", auth=SUBMIT, tags=TAGS, response={201: schemas.RequestOut})
def ask_for_levels(request: ApiRequest, slug: Slug, given: schemas.AskIn) -> Status[schemas.RequestOut]:
    """Ask for levels, signed by the key that signs for the user on this platform."""
    published = offers.find_offer(slug)
    levels = _levels(published, given.levels)
    made = requesting.ask(published, request.auth.user, levels=levels, criterion=given.criterion, purpose=given.purpose)
    return Status(201, _request(made))


@router.post(
    "/exchange/catalogue/{slug}/signed-requests",
    auth=SUBMIT,
    tags=TAGS,
    response={201: schemas.RequestOut},
    openapi_extra=_files("A part `request`: the file of `tokumei exchange request`."),
)
def send_signed_request(request: ApiRequest, slug: Slug) -> Status[schemas.RequestOut]:
    """Send a request that the user signed with a key of their own."""
    published = offers.find_offer(slug)
    text = offers.text_of(uploads_of(request).get("request"), "request", LARGEST_REQUEST)
    return Status(201, _request(requesting.ask_signed(published, request.auth.user, text)))


@router.get("/exchange/requests", auth=READ, tags=TAGS, response={200: schemas.Requests})
def level_requests(request: ApiRequest, limit: Limit = 50, offset: Offset = 0) -> schemas.Requests:
    """List the user's own requests, newest first."""
    found = requesting.requests_of(request.auth.user)
    return schemas.Requests(n=found.count(), requests=[_request(one) for one in found[offset : offset + limit]])


@router.get("/exchange/requests/{key}", auth=READ, tags=TAGS, response={200: schemas.RequestOut})
def level_request(request: ApiRequest, key: Key) -> schemas.RequestOut:
    """Show one of the user's own requests, with its signed answer."""
    return _request(requesting.find_request(request.auth.user, key))


@router.get("/exchange/requests/{key}/release", auth=READ, tags=TAGS, response={200: None}, openapi_extra=SENDS_A_FILE)
def level_release(request: ApiRequest, key: Key) -> FileResponse:
    """Send the release of one of the user's own requests."""
    path = requesting.fetch_release(requesting.find_request(request.auth.user, key))
    return send(path.open("rb"), f"{key}.release.csv")


@router.get("/exchange/offers", auth=READ, tags=PROVIDERS, response={200: schemas.Offers})
def own_offers(request: ApiRequest) -> schemas.Offers:
    """List the offers of the user's teams."""
    found = [_offer(one) for one in offers.offers_of(request.auth.user)]
    return schemas.Offers(n=len(found), offers=found)


@router.post(
    "/exchange/offers",
    auth=SUBMIT,
    tags=PROVIDERS,
    response={201: schemas.OfferOut},
    openapi_extra=_files("Parts `offer`, `first_release`, `log` and `head`: the public files of a desk."),
)
def publish_offer(request: ApiRequest, team: Slug, slug: Slug) -> Status[schemas.OfferOut]:
    """Publish an offer that was made and signed at home."""
    membership = teams_of(request.auth.user).filter(team__slug=team).first()
    if membership is None:
        raise NotFound(_("There is no such team."))
    files = uploads_of(request)
    made = offers.publish(
        request.auth.user,
        membership.team,
        slug=slug,
        offer_text=offers.text_of(files.get("offer"), "offer", offers.LARGEST_OFFER),
        first_release=offers.text_of(files.get("first_release"), "first_release", offers.LARGEST_RELEASE),
        log=offers.text_of(files.get("log"), "log", offers.LARGEST_LOG),
        head=offers.text_of(files.get("head"), "head", offers.LARGEST_LOG),
    )
    return Status(201, _offer(made))


@router.get("/exchange/offers/{slug}", auth=READ, tags=PROVIDERS, response={200: schemas.OfferOut})
def own_offer(request: ApiRequest, slug: Slug) -> schemas.OfferOut:
    """Show an offer of one of the user's teams."""
    return _offer(offers.find_own_offer(request.auth.user, slug))


@router.get("/exchange/offers/{slug}/pending", auth=READ, tags=PROVIDERS, response={200: schemas.Pending})
def pending_requests(request: ApiRequest, slug: Slug) -> schemas.Pending:
    """List the requests that want an answer, and the approvals there are."""
    published = _remote(request, slug)
    waiting = [schemas.PendingOut(key=one.key, document=one.document) for one in answering.pending(published)]
    return schemas.Pending(requests=waiting, approvals=answering.approvals(published))


@router.post(
    "/exchange/offers/{slug}/answers/{key}",
    auth=SUBMIT,
    tags=PROVIDERS,
    response={204: None},
    openapi_extra=_files("A part `answer`, with `release` where it is served; or `problem` alone."),
)
def answer_level_request(request: ApiRequest, slug: Slug, key: Key) -> Status[None]:
    """Answer a request: the signed answer, with the release for who asked."""
    found = answering.find_pending(_remote(request, slug), key)
    files = uploads_of(request)
    if "problem" in files:
        answering.take_problem(found, offers.text_of(files["problem"], "problem", 100_000))
        return Status(204, None)
    release = None
    if "release" in files:
        release = offers.text_of(files["release"], "release", offers.LARGEST_RELEASE)
    answering.take_answer(found, offers.text_of(files.get("answer"), "answer", 100_000), release)
    return Status(204, None)


@router.post(
    "/exchange/offers/{slug}/log",
    auth=SUBMIT,
    tags=PROVIDERS,
    response={200: schemas.OfferOut},
    openapi_extra=_files("Parts `log` and `head`, and `revision-0002` and so on for what is new of the offer."),
)
def send_public_log(request: ApiRequest, slug: Slug) -> schemas.OfferOut:
    """Bring the public log up to date, with further revisions of the offer."""
    published = _remote(request, slug)
    files = uploads_of(request)
    revisions = {}
    for name in files:
        if name.startswith("revision-"):
            number = name.removeprefix("revision-")
            if not number.isdecimal() or len(number) > 6:
                raise InputError.of("revision-0002 and so on", column=name)
            revisions[int(number)] = offers.text_of(files[name], name, offers.LARGEST_OFFER)
    offers.receive_log(
        published,
        log=offers.text_of(files.get("log"), "log", offers.LARGEST_LOG),
        head=offers.text_of(files.get("head"), "head", offers.LARGEST_LOG),
        revisions=revisions,
    )
    return _offer(published)


@router.get("/exchange/offers/{slug}/attack", auth=READ, tags=PROVIDERS, response={200: schemas.AttackOut})
def attack_of_last_night(request: ApiRequest, slug: Slug) -> schemas.AttackOut:
    """Show what integer programs prove from all that is out of an offer of one of the user's teams."""
    published = offers.find_own_offer(request.auth.user, slug)
    found = dict(published.attack)
    trouble = str(found.pop("trouble", ""))
    is_safe = not found["proven"] and not found["open"] if "proven" in found else None
    return schemas.AttackOut(attacked=published.attacked, is_safe=is_safe, found=found, trouble=trouble)


@router.get("/exchange/offers/{slug}/recipients", auth=READ, tags=PROVIDERS, response={200: schemas.Recipients})
def recipients_of_offer(request: ApiRequest, slug: Slug) -> schemas.Recipients:
    """List the recipients whom an offer serves by their keys."""
    return _recipients(offers.find_own_offer(request.auth.user, slug))


@router.post("/exchange/offers/{slug}/recipients", auth=SUBMIT, tags=PROVIDERS, response={201: schemas.Recipients})
def list_recipient(request: ApiRequest, slug: Slug, given: schemas.TrustIn) -> Status[schemas.Recipients]:
    """List a user in a hosted offer, with the criterion that they are served by; a revision tells it."""
    published = offers.find_own_offer(request.auth.user, slug)
    requesting.trust(published, request.auth.user, username=given.user, criterion=given.criterion)
    return Status(201, _recipients(published))


@router.delete("/exchange/offers/{slug}/recipients", auth=SUBMIT, tags=PROVIDERS, response={204: None})
def drop_recipient(request: ApiRequest, slug: Slug, user: Line) -> Status[None]:
    """Serve a user of a hosted offer by the strictest criterion again."""
    published = offers.find_own_offer(request.auth.user, slug)
    found = published.trusted.filter(user__username=user).first()
    requesting.distrust(published, 0 if found is None else found.pk)
    return Status(204, None)


def _recipients(published: PublishedOffer) -> schemas.Recipients:
    offer, _signed = offers.document_of(published)
    known = {
        one.public_key: one.user.username
        for one in Recipient.objects.filter(public_key__in=[each.key for each in offer.recipients]).select_related(
            "user"
        )
    }
    return schemas.Recipients(
        recipients=[
            schemas.RecipientOut(name=one.name, key=one.key, criterion=one.criterion, user=known.get(one.key))
            for one in offer.recipients
        ]
    )


def _remote(request: ApiRequest, slug: str) -> PublishedOffer:
    """Find an offer that a process of its team answers; the platform sits at the desks that it hosts itself."""
    found = offers.find_own_offer(request.auth.user, slug)
    if found.is_hosted:
        raise NotFound(_("There is no such offer."))
    return found


def _levels(published: PublishedOffer, levels: dict[str, int]) -> dict[str, int]:
    offer, _signed = offers.document_of(published)
    offer.lattice.node(levels)
    return offer.lattice.levels(offer.lattice.top) | levels


def _offer(published: PublishedOffer) -> schemas.OfferOut:
    return schemas.OfferOut(
        slug=published.slug,
        name=published.name,
        team=published.team.slug,
        state=published.state,
        digest=published.digest,
        revision=published.revision,
        signed_by=fingerprint(published.public_key) if published.public_key else "",
        log_lines=published.log_lines,
        is_hosted=published.is_hosted,
    )


def _request(made: LevelRequest) -> schemas.RequestOut:
    return schemas.RequestOut(
        key=made.key,
        offer=made.offer.slug,
        digest=made.digest,
        levels=made.levels,
        criterion=made.criterion,
        state=made.state,
        sent=made.sent,
        answered=made.answered,
        problem=made.problem,
        answer=made.answer,
    )
