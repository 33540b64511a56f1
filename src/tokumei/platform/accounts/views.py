"""The pages of accounts: signing up, logging in and out, forgotten passwords, one's settings, and people for admins."""

from __future__ import annotations

import time

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth import logout as end_session
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django_otp.plugins.otp_totp.models import TOTPDevice

from tokumei.platform.access import UserRequest, access, next_page, redirect_saying
from tokumei.platform.accounts import authentication, forms, services
from tokumei.platform.accounts.models import User
from tokumei.platform.accounts.services import delete_account, welcome_to

# Seconds between the password and the code.
TIME_FOR_CODE = 600


@access("anyone", methods="GET POST")
def sign_up(request: HttpRequest) -> HttpResponse:
    """Make an account."""
    if request.user.is_authenticated:
        return redirect(next_page(request))
    if request.method == "POST":
        services.throttle_sign_up(request)
    form = forms.SignUpForm(request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        services.sign_up(
            request,
            username=given["username"],
            email=given["email"],
            display_name=given["display_name"],
            password=given["password"],
        )
        return redirect_saying(request, _("Welcome! Your account is ready."), next_page(request))
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
    form = forms.LogInForm(request.POST or None, request=request)
    if form.is_valid() and form.user is not None:
        if not authentication.has_second_factor(form.user):
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
    form = forms.CodeForm(request.POST or None)
    if form.is_valid():
        if authentication.passes_second_factor(user, form.cleaned_data["code"]):
            services.enter(request, user)
            return redirect(next_page(request))
        form.add_error("code", _("The code is wrong, or was used before."))
    return render(request, "accounts/code.html", {"form": form, "next": next_page(request)})


@access("user", methods="POST")
def log_out(request: UserRequest) -> HttpResponse:
    """End the session."""
    end_session(request)
    return redirect_saying(request, _("You are logged out."), "pages:home")


@access("anyone", methods="GET POST")
def ask_for_reset(request: HttpRequest) -> HttpResponse:
    """Send a link to set a new password."""
    form = forms.AskForResetForm(request.POST or None)
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
    form = forms.ResetForm(request.POST or None, user=found)
    if form.is_valid():
        services.reset_password(found, form.cleaned_data["password"])
        return redirect_saying(request, _("The new password is set. You can log in with it now."), "accounts:login")
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


PEOPLE_A_PAGE = 50
SETTING_UP = "second_factor_begun"


@access("user", methods="GET POST")
def profile(request: UserRequest) -> HttpResponse:
    """Change name, address, language and time zone."""
    form = forms.ProfileForm(request.POST or None, user=request.user)
    if form.is_valid():
        given = form.cleaned_data
        names = ("display_name", "email", "language", "time_zone")
        services.change_profile(request.user, **{name: given[name] for name in names})
        return redirect_saying(request, _("Saved."), "accounts:settings")
    has_second_factor = authentication.has_second_factor(request.user)
    return render(request, "accounts/settings.html", {"form": form, "has_second_factor": has_second_factor})


@access("user", methods="POST")
def ask_for_verification(request: UserRequest) -> HttpResponse:
    """Send the link that shows the address to be the user's."""
    services.ask_for_verification(request, request.user)
    return redirect_saying(request, _("A letter is on its way."), "accounts:settings")


@access("user", methods="GET POST")
def password(request: UserRequest) -> HttpResponse:
    """Change the password; other sessions end."""
    form = forms.ChangePasswordForm(request.POST or None, user=request.user)
    if form.is_valid():
        services.change_password(request, request.user, form.cleaned_data["password"])
        messages.success(request, _("The password is changed. Everywhere else you are logged out."))
        return redirect("accounts:settings")
    return render(request, "accounts/password.html", {"form": form})


@access("user", methods="GET POST")
def set_up_second_factor(request: UserRequest) -> HttpResponse:
    """Ask for the password, show a new secret, and switch the second factor on once a code shows that the app has it.

    Only the session that gave the password goes on to the code, so that no passer-by learns the secret or sets one.
    """
    if authentication.has_second_factor(request.user):
        return redirect("accounts:settings")
    if "code" in request.POST:
        return _finish_second_factor(request)
    asking = forms.OwnPasswordForm(request.POST or None, user=request.user)
    if not asking.is_valid():
        return render(request, "accounts/second_factor_password.html", {"form": asking})
    device = authentication.begin_second_factor(request.user)
    request.session[SETTING_UP] = device.pk
    return _show_second_factor(request, device, forms.CodeForm())


def _finish_second_factor(request: UserRequest) -> HttpResponse:
    device = authentication.begun_second_factor(request.user, request.session.get(SETTING_UP))
    if device is None:
        return redirect("accounts:second_factor")
    form = forms.CodeForm(request.POST)
    if form.is_valid():
        codes = authentication.confirm_second_factor(device, form.cleaned_data["code"])
        if codes is not None:
            del request.session[SETTING_UP]
            services.end_other_sessions(request, request.user)
            return render(request, "accounts/backup_codes.html", {"codes": codes})
        form.add_error("code", _("The code is wrong, or was used before."))
    return _show_second_factor(request, device, form)


def _show_second_factor(request: UserRequest, device: TOTPDevice, form: forms.CodeForm) -> HttpResponse:
    side, path = authentication.qr_of(device)
    shown = {"form": form, "side": side, "path": path, "secret": authentication.secret_of(device)}
    return render(request, "accounts/second_factor.html", shown)


@access("user", methods="GET POST")
def renew_backup_codes(request: UserRequest) -> HttpResponse:
    """Make new backup codes."""
    if not authentication.has_second_factor(request.user):
        return redirect("accounts:settings")
    form = forms.OwnPasswordForm(request.POST or None, user=request.user)
    if form.is_valid():
        return render(request, "accounts/backup_codes.html", {"codes": authentication.renew_codes(request.user)})
    return render(request, "accounts/renew_backup_codes.html", {"form": form})


@access("user", methods="GET POST")
def switch_off_second_factor(request: UserRequest) -> HttpResponse:
    """Ask for the password, then for no code any more."""
    if not authentication.has_second_factor(request.user):
        return redirect("accounts:settings")
    form = forms.OwnPasswordForm(request.POST or None, user=request.user)
    if form.is_valid():
        authentication.remove_second_factor(request.user)
        services.end_other_sessions(request, request.user)
        return redirect_saying(request, _("Two-factor login is off."), "accounts:settings")
    return render(request, "accounts/second_factor_off.html", {"form": form})


@access("user", methods="GET POST")
def delete(request: UserRequest) -> HttpResponse:
    """Ask for the password, then delete the account for good."""
    form = forms.OwnPasswordForm(request.POST or None, user=request.user)
    if form.is_valid():
        delete_account(request.user)
        logout(request)
        return redirect_saying(request, _("The account is deleted."), "pages:home")
    return render(request, "accounts/delete.html", {"form": form})


@access("admin")
def people(request: HttpRequest) -> HttpResponse:
    """List the accounts."""
    wanted = request.GET.get("q", "").strip()[:254]
    found = User.objects.filter(deleted_at=None).order_by("username")
    if wanted:
        found = found.filter(
            Q(username__icontains=wanted) | Q(display_name__icontains=wanted) | Q(email__icontains=wanted)
        )
    page = Paginator(found, PEOPLE_A_PAGE).get_page(request.GET.get("page"))
    shown = {
        "page": page,
        "wanted": wanted,
        "with_second_factor": authentication.who_has_second_factor(page.object_list),
    }
    return render(request, "accounts/people.html", shown)


@access("admin", methods="POST")
def change_person(request: UserRequest, username: str) -> HttpResponse:
    """Make somebody an organizer or not, close or open an account, confirm an address, reset a second factor."""
    user = User.objects.filter(username__iexact=username).first()
    if user is None:
        raise Http404
    if request.POST.get("do") == "send_confirmation":
        services.ask_for_verification(request, user)
        return redirect_saying(request, _("A letter is on its way."), "accounts:people")
    services.change_rights(request.user, user, request.POST.get("do", ""))
    return redirect_saying(request, _("Saved."), "accounts:people")


app_name = "accounts"
urlpatterns = [
    path("sign-up", sign_up, name="sign_up"),
    path("login", log_in, name="login"),
    path("login/code", code, name="code"),
    path("logout", log_out, name="logout"),
    path("reset", ask_for_reset, name="ask_for_reset"),
    path("reset/sent", reset_sent, name="reset_sent"),
    path("reset/<str:user>/<str:token>", reset, name="reset"),
    path("account/verify", ask_for_verification, name="ask_for_verification"),
    path("verify/<str:token>", verify, name="verify"),
    path("account", profile, name="settings"),
    path("account/password", password, name="password"),
    path("account/delete", delete, name="delete"),
    path("account/second-factor", set_up_second_factor, name="second_factor"),
    path("account/second-factor/codes", renew_backup_codes, name="backup_codes"),
    path("account/second-factor/off", switch_off_second_factor, name="second_factor_off"),
    path("people", people, name="people"),
    path("people/<str:username>", change_person, name="person"),
]
