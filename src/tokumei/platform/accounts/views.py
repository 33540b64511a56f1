"""Signing up, logging in and out, and forgotten passwords."""

from __future__ import annotations

import time

from django.contrib import messages
from django.contrib.auth import logout as end_session
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from tokumei.platform.access import UserRequest, access
from tokumei.platform.accounts import second_factor, services
from tokumei.platform.accounts.forms import AskForResetForm, CodeForm, LogInForm, ResetForm, SignUpForm
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.welcome import welcome_to
from tokumei.platform.addresses import next_page

# Seconds between the password and the code.
TIME_FOR_CODE = 600


@access("anyone", methods="GET POST")
def sign_up(request: HttpRequest) -> HttpResponse:
    """Make an account."""
    if request.user.is_authenticated:
        return redirect(next_page(request))
    if request.method == "POST":
        services.throttle_sign_up(request)
    form = SignUpForm(request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        services.sign_up(
            request,
            username=given["username"],
            email=given["email"],
            display_name=given["display_name"],
            password=given["password"],
        )
        messages.success(request, _("Welcome! Your account is ready."))
        return redirect(next_page(request))
    return render(request, "accounts/sign_up.html", {"form": form} | _going_on(request))


@access("anyone")
def verify(request: HttpRequest, token: str) -> HttpResponse:
    """Take the word of a link that an address is its user's."""
    if services.verify_address(token) is None:
        raise Http404
    messages.success(request, _("Thank you: the address is yours."))
    return redirect("accounts:settings" if request.user.is_authenticated else "accounts:login")


@access("anyone", methods="GET POST")
def log_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password."""
    if request.user.is_authenticated:
        return redirect(next_page(request))
    if request.method == "POST":
        services.refuse_after_many_failures(request)
    form = LogInForm(request.POST or None, request=request)
    if form.is_valid() and form.user is not None:
        if not second_factor.is_on(form.user):
            services.enter(request, form.user)
            return redirect(next_page(request))
        _await_code(request, form.user)
        return redirect(f"{reverse('accounts:code')}?{urlencode({'next': next_page(request)})}")
    if form.is_bound:
        services.note_failure(request)
    return render(request, "accounts/login.html", {"form": form} | _going_on(request))


@access("anyone", methods="GET POST")
def code(request: HttpRequest) -> HttpResponse:
    """Ask for the code of the second factor, after the password was right."""
    user = _who_awaits_code(request)
    if user is None:
        return redirect("accounts:login")
    form = CodeForm(request.POST or None)
    if form.is_valid():
        if second_factor.passes(user, form.cleaned_data["code"]):
            services.enter(request, user)
            return redirect(next_page(request))
        form.add_error("code", _("The code is wrong, or was used before."))
    return render(request, "accounts/code.html", {"form": form, "next": next_page(request)})


@access("user", methods="POST")
def log_out(request: UserRequest) -> HttpResponse:
    """End the session."""
    end_session(request)
    messages.success(request, _("You are logged out."))
    return redirect("pages:home")


@access("anyone", methods="GET POST")
def ask_for_reset(request: HttpRequest) -> HttpResponse:
    """Send a link to set a new password."""
    form = AskForResetForm(request.POST or None)
    if form.is_valid():
        services.ask_for_reset(request, form.cleaned_data["email"])
        return redirect("accounts:reset_sent")
    return render(request, "accounts/ask_for_reset.html", {"form": form})


@access("anyone")
def reset_sent(request: HttpRequest) -> HttpResponse:
    """Show that a link was sent, whether or not there is such an account."""
    return render(request, "accounts/reset_sent.html")


@access("anyone", methods="GET POST")
def reset(request: HttpRequest, user: str, token: str) -> HttpResponse:
    """Set a new password by a link."""
    found = services.user_of_reset(user, token)
    if found is None:
        return render(request, "accounts/reset_void.html", status=404)
    form = ResetForm(request.POST or None, user=found)
    if form.is_valid():
        services.reset_password(found, form.cleaned_data["password"])
        messages.success(request, _("The new password is set. You can log in with it now."))
        return redirect("accounts:login")
    return render(request, "accounts/reset.html", {"form": form})


def _going_on(request: HttpRequest) -> dict[str, str]:
    """Return where the user goes next, and that page in words."""
    return {"next": next_page(request), "welcome": welcome_to(next_page(request))}


def _await_code(request: HttpRequest, user: User) -> None:
    request.session.cycle_key()
    # The hash changes with the password, so that a change of it meanwhile voids this too.
    request.session["awaits_code"] = [user.pk, user.get_session_auth_hash(), int(time.time()) + TIME_FOR_CODE]


def _who_awaits_code(request: HttpRequest) -> User | None:
    pk, password_hash, until = request.session.get("awaits_code", (None, "", 0))
    user = User.objects.filter(pk=pk, is_active=True).first()
    if user is None or time.time() > until or user.get_session_auth_hash() != password_hash:
        return None
    return user
