"""The inbox, its settings and the calendar."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tokumei.platform.access import UserRequest, access, redirect_saying
from tokumei.platform.accounts.services import origin_of
from tokumei.platform.notices import services
from tokumei.platform.notices.models import Mailing, NoticeKind
from tokumei.platform.notices.services import calendar_of, owner_of, token_of

ON_A_PAGE = 30


class PreferencesForm(forms.Form):
    """Asks what is mailed, and when."""

    mailing = forms.ChoiceField(
        label=gettext_lazy("Mail me notices"), choices=Mailing.choices, widget=forms.RadioSelect
    )
    kinds = forms.MultipleChoiceField(
        label=gettext_lazy("Which"), choices=NoticeKind.choices, widget=forms.CheckboxSelectMultiple, required=False
    )


@access("user")
def inbox(request: UserRequest) -> HttpResponse:
    """Show what the user was told."""
    found = services.notices_of(request.user)
    is_unread = request.GET.get("unread") == "1"
    if is_unread:
        found = found.filter(read_at=None)
    page = Paginator(found, ON_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "notices/inbox.html", {"page": page, "is_unread": is_unread})


@access("user", methods="POST")
def read_all(request: UserRequest) -> HttpResponse:
    """Note that the user has seen all."""
    services.mark_read(request.user)
    return redirect("notices:inbox")


@access("user", methods="POST")
def open_one(request: UserRequest, notice: int) -> HttpResponse:
    """Note that the user looked at a notice, and go where it leads."""
    found = services.mark_read(request.user, notice)
    if found is None:
        raise Http404
    return redirect(found.link or "notices:inbox")


@access("user", methods="GET POST")
def settings(request: UserRequest) -> HttpResponse:
    """Choose what is mailed and when; show the address of the calendar."""
    known = services.preferences_of(request.user)
    form = PreferencesForm(request.POST or None, initial={"mailing": known.mailing, "kinds": known.kinds})
    if form.is_valid():
        given = form.cleaned_data
        services.change_preferences(
            request.user, mailing=given["mailing"], kinds=given["kinds"], origin=origin_of(request)
        )
        return redirect_saying(request, _("Saved."), "notices:settings")
    address = origin_of(request) + reverse("notices:calendar", args=[token_of(request.user)])
    shown = {"form": form, "calendar": address}
    return render(request, "notices/settings.html", shown, status=400 if form.errors else 200)


@access("user", methods="POST")
def renew(request: UserRequest) -> HttpResponse:
    """Make a new address for the calendar; the old one is void."""
    services.renew_calendar(request.user)
    messages.success(request, _("The calendar has a new address. The old one shows nothing any more."))
    return redirect("notices:settings")


@access("anyone")
def calendar(request: HttpRequest, token: str) -> HttpResponse:
    """Serve a user's deadlines to a program that knows the address."""
    user = owner_of(token)
    if user is None:
        raise Http404
    with translation.override(user.language or translation.get_language() or "en"):
        written = calendar_of(user, origin_of(request))
    response = HttpResponse(written, content_type="text/calendar; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="tokumei.ics"'
    return response


app_name = "notices"
urlpatterns = [
    path("notices/", inbox, name="inbox"),
    path("notices/read", read_all, name="read_all"),
    path("notices/settings", settings, name="settings"),
    path("notices/calendar", renew, name="renew"),
    path("notices/<int:notice>/open", open_one, name="open"),
    path("calendar/<str:token>.ics", calendar, name="calendar"),
]
