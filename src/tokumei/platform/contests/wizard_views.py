"""Making a contest step by step: every button keeps what was typed, and nothing is seen by others before the end."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.core.errors import InputError, NotAllowed, NotFound, TokumeiError
from tokumei.core.text import Json
from tokumei.platform.access import UserRequest, access, redirect_saying
from tokumei.platform.accounts.models import User
from tokumei.platform.contests import wizard_forms
from tokumei.platform.contests.models import ContestDraft
from tokumei.platform.contests.services import drafts
from tokumei.platform.contests.services.drafts import LOOK, TRIAL, Plan, plan_of
from tokumei.platform.contests.services.rulebook import terms_of
from tokumei.platform.contests.services.visibility import bound_of
from tokumei.platform.contests.words import fault_groups
from tokumei.platform.files.incoming import uploads_of
from tokumei.platform.jobs import queue
from tokumei.platform.messages import describe_error
from tokumei.platform.workbench.handing_over import HandedOver, handed_over
from tokumei.platform.workbench.words import TYPES

TITLES = {
    wizard_forms.WHAT: gettext_lazy("What is played"),
    wizard_forms.DATA: gettext_lazy("Data"),
    wizard_forms.RULES: gettext_lazy("Rules"),
    wizard_forms.DETAILS: gettext_lazy("Texts and dates"),
    wizard_forms.PEOPLE: gettext_lazy("Organizers"),
    wizard_forms.FINISH: gettext_lazy("Publish"),
}


def find_draft(request: UserRequest, level: str, draft: str, **_: object) -> dict[str, object]:
    """Find a draft that somebody makes; of any other they learn nothing."""
    try:
        return {"draft": drafts.find_draft(request.user, draft)}
    except NotFound:
        raise Http404 from None


@access("organizer", methods="GET POST")
def new(request: UserRequest) -> HttpResponse:
    """Begin to make a contest, or go on with one."""
    handed = handed_over(request)
    if request.method == "POST" and handed is not None:
        return _begin_with(request.user, handed)
    form = wizard_forms.WhatForm(request.POST) if request.method == "POST" else wizard_forms.WhatForm()
    if form.is_valid():
        made = drafts.begin_draft(request.user, {"kind": form.cleaned_data["kind"]})
        return redirect("contests:draft", made.key, wizard_forms.DATA)
    shown = {
        "form": form,
        "handed": handed,
        "drafts": drafts.drafts_of(request.user),
        "kept_for": drafts.KEPT_FOR.days,
        "own": _own(),
    }
    return render(request, "contests/new.html", shown, status=400 if form.errors else 200)


def _begin_with(user: User, handed: HandedOver) -> HttpResponse:
    """Begin with the file of a piece of work, and with what is known of its columns."""
    begun = handed.for_contest()
    kind = wizard_forms.OWN_HISTORY if handed.piece.kind == "history" else wizard_forms.OWN_TABLE
    made = drafts.begin_draft(user, {"kind": kind, "own_toml": begun["own_toml"]})
    drafts.store_file(made, handed.file())
    drafts.have_looked_at(made, user)
    return redirect("contests:draft", made.key, wizard_forms.DATA)


def _own() -> list[tuple[str, Any, Any]]:
    return [
        (
            wizard_forms.OWN_TABLE,
            gettext_lazy("My own, with a table"),
            gettext_lazy(
                "A row is a person. You say which columns tell of whom, what counts as use, and how teams are ranked."
            ),
        ),
        (
            wizard_forms.OWN_HISTORY,
            gettext_lazy("My own, with purchases"),
            gettext_lazy(
                "A row is a purchase of a customer, with date and item. You say what counts and how teams are ranked."
            ),
        ),
    ]


@access("organizer", of=find_draft, methods="GET POST")
def step(request: UserRequest, draft: ContestDraft, step: str) -> HttpResponse:
    """Show a step, or keep what was typed there and go where the button says."""
    if step not in wizard_forms.STEPS:
        raise Http404
    if request.method != "POST":
        return _page(request, draft, step)
    form, fault = _save(request, draft, step)
    if request.headers.get("X-Autosave"):
        return HttpResponse(status=204)
    go = request.POST.get("go", "next")
    try:
        if fault:
            return _page(request, draft, step, form=form, fault=fault)
        return _go(request, draft, step, go, form)
    except TokumeiError as error:
        return _page(request, draft, step, form=form, fault=describe_error(error))


def _save(request: UserRequest, draft: ContestDraft, step: str) -> tuple[forms.Form | None, str]:
    """Keep what was typed, valid or not; says what is wrong with a file that could not be kept."""
    look = plan_of(draft).look
    try:
        if step == wizard_forms.DATA and (sent := uploads_of(request).get("source")) is not None:
            drafts.store_file(draft, sent)
            typed = request.POST.copy()
            for name in ("encoding", "sheet"):
                typed[name] = ""
            typed["origin"] = "file"
        else:
            typed = request.POST.copy()
        form = wizard_forms.make_form(step, draft.answers, look=look, typed=typed)
        if form is not None:
            drafts.save_answers(draft, wizard_forms.kept(form))
    except InputError as error:
        return wizard_forms.make_form(step, draft.answers, look=look, typed=request.POST), describe_error(error)
    return form, ""


def _go(request: UserRequest, draft: ContestDraft, step: str, go: str, form: forms.Form | None) -> HttpResponse:
    user = request.user
    change, mark, named = go.partition(":")
    if step == wizard_forms.PEOPLE and (request.POST.get("username", "").strip() or mark):
        # A name that was typed counts, whichever button is pressed.
        _change_organizers(draft, "" if mark else request.POST["username"], named)
        if go in wizard_forms.STEPS and go != wizard_forms.PEOPLE:
            return redirect("contests:draft", draft.key, go)
    if change in ("add", "remove"):
        return redirect("contests:draft", draft.key, wizard_forms.PEOPLE)
    if go == "publish":
        if request.POST.get("sure") != "yes":
            raise NotAllowed(_("Tick that you want to publish it."))
        made = drafts.publish(draft, user)
        messages.success(request, _("The contest is being prepared; it opens when that is done."))
        return redirect("contests:organize", contest=made.slug)
    if go == "renew":
        drafts.save_answers(draft, {"own_toml": plan_of(draft).look.get("own_toml", "")})
    is_new = drafts.have_looked_at(draft, user)
    if go == "next":
        if form is not None and not form.is_valid():
            return _page(request, draft, step, form=form)
        # Whoever sent a file sees what is in it before anything else.
        target = step if step == wizard_forms.DATA and not _is_ready(draft, is_new=is_new) else _after(step)
    else:
        target = go if go in wizard_forms.STEPS else step
    if go == "try" or target in (wizard_forms.RULES, wizard_forms.FINISH):
        drafts.have_tried_out(draft, user, again=go == "try")
    return redirect("contests:draft", draft.key, target)


def _is_ready(draft: ContestDraft, *, is_new: bool) -> bool:
    return not is_new and plan_of(draft).is_data_ready


def _after(step: str) -> str:
    return wizard_forms.STEPS[min(wizard_forms.STEPS.index(step) + 1, len(wizard_forms.STEPS) - 1)]


def _change_organizers(draft: ContestDraft, added: str, removed: str) -> None:
    found = User.objects.filter(username__iexact=(added or removed).strip(), is_active=True).first()
    if found is None:
        raise NotAllowed(_("There is nobody of this name."))
    if removed:
        draft.co_organizers.remove(found)
    else:
        drafts.add_co_organizer(draft, found)


@access("organizer", of=find_draft)
def state(request: UserRequest, draft: ContestDraft) -> JsonResponse:
    """Return whether the work is done, for the waiting page."""
    job = drafts.busy_job(draft)
    return JsonResponse({"says": _says(job), "is_final": job is None, "progress": {}})


def _says(job: Any) -> str:
    if job is None:
        return ""
    return _("The data are being read.") if job.kind == LOOK else _("The contest is being tried out.")


@access("organizer", of=find_draft, methods="POST")
def delete(request: UserRequest, draft: ContestDraft) -> HttpResponse:
    """Delete a draft."""
    drafts.delete_draft(draft, request.user)
    return redirect_saying(request, _("The draft is deleted."), "contests:new")


def _page(
    request: UserRequest, draft: ContestDraft, step: str, *, form: forms.Form | None = None, fault: str = ""
) -> HttpResponse:
    """Show a step with what was typed there."""
    plan = plan_of(draft)
    form = form if form is not None else plan.forms.get(step)
    job = drafts.busy_job(draft)
    shown: Json = {
        "draft": draft,
        "step": step,
        "title": TITLES[step],
        "steps": _steps(plan, step),
        "form": form,
        "fault": fault,
        "busy": None if job is None else {"says": _says(job)},
        "file": draft.answers.get("file"),
        "expires": draft.changed_at + drafts.KEPT_FOR,
        "is_owner": draft.by_id == request.user.pk,
        "own": _own(),
        "is_own": draft.answers.get("kind") in wizard_forms.OWN,
    }
    if step == wizard_forms.DATA:
        columns = plan.look.get("columns", ())
        shown |= {
            "look": plan.look,
            "groups": _groups(plan.look),
            "columns": [one | {"type_said": TYPES.get(one["type"], one["type"])} for one in columns],
        }
    if step in (wizard_forms.RULES, wizard_forms.FINISH):
        shown |= _rules(plan)
    if step == wizard_forms.DETAILS and isinstance(form, wizard_forms.DetailsForm):
        shown["texts"] = [draft.answers.get(name) or "" for name in ("description", "description_ja")]
    if step in (wizard_forms.PEOPLE, wizard_forms.FINISH):
        shown["co_organizers"] = draft.co_organizers.filter(is_active=True)
    is_refused = bool(fault) or (request.method == "POST" and form is not None and not form.is_valid())
    return render(request, f"contests/draft_{step}.html", shown, status=400 if is_refused else 200)


def _rules(plan: Plan) -> Json:
    """Return the rules as teams will see them, and the outcome of the trial run."""
    contest = plan.contest
    if contest is None:
        return {}
    terms = terms_of(contest)
    trial = drafts.found_of(plan.draft, TRIAL, plan.trial_of)
    return {
        "contest": contest,
        "terms": terms,
        "bound": bound_of(contest, len(terms.knowledge_files), 0),
        "trial": trial,
        "groups": _groups(trial or {}),
        "failure": _(queue.in_words(trial["failure"])) if trial and trial.get("failure") else "",
    }


def _groups(told: Json) -> list[Any]:
    """Group faults of the data by kind, in the reader's language."""
    return fault_groups(told["groups"], None) if told.get("groups") else []


def _steps(plan: Plan, here: str) -> list[dict[str, object]]:
    """Return the steps of the wizard and whether each is answered well."""
    ready = {step: plan.is_valid(step) for step in (wizard_forms.WHAT, wizard_forms.RULES, wizard_forms.DETAILS)} | {
        wizard_forms.DATA: plan.is_data_ready,
        wizard_forms.PEOPLE: True,
    }
    trial = drafts.found_of(plan.draft, TRIAL, plan.trial_of) or {}
    ready[wizard_forms.FINISH] = all(ready.values()) and "standing" in trial
    return [
        {"name": one, "title": TITLES[one], "is_ready": ready[one], "is_here": one == here}
        for one in wizard_forms.STEPS
    ]
