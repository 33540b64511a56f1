"""What users change of their own accounts, and what admins change of others'."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import logout
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django_otp.plugins.otp_totp.models import TOTPDevice

from tokumei.platform.access import UserRequest, access
from tokumei.platform.accounts import second_factor, services
from tokumei.platform.accounts.deletion import delete_account
from tokumei.platform.accounts.forms import ChangePasswordForm, CodeForm, OwnPasswordForm, ProfileForm
from tokumei.platform.accounts.models import User

PEOPLE_A_PAGE = 50
SETTING_UP = "second_factor_begun"


@access("user", methods="GET POST")
def profile(request: UserRequest) -> HttpResponse:
    """Change name, address, language and time zone."""
    form = ProfileForm(request.POST or None, user=request.user)
    if form.is_valid():
        given = form.cleaned_data
        names = ("display_name", "email", "language", "time_zone")
        services.change_profile(request.user, **{name: given[name] for name in names})
        messages.success(request, _("Saved."))
        return redirect("accounts:settings")
    has_second_factor = second_factor.is_on(request.user)
    return render(request, "accounts/settings.html", {"form": form, "has_second_factor": has_second_factor})


@access("user", methods="POST")
def ask_for_verification(request: UserRequest) -> HttpResponse:
    """Send the link that shows the address to be the user's."""
    services.ask_for_verification(request, request.user)
    messages.success(request, _("A letter is on its way."))
    return redirect("accounts:settings")


@access("user", methods="GET POST")
def password(request: UserRequest) -> HttpResponse:
    """Change the password; other sessions end."""
    form = ChangePasswordForm(request.POST or None, user=request.user)
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
    if second_factor.is_on(request.user):
        return redirect("accounts:settings")
    if "code" in request.POST:
        return _finish_second_factor(request)
    asking = OwnPasswordForm(request.POST or None, user=request.user)
    if not asking.is_valid():
        return render(request, "accounts/second_factor_password.html", {"form": asking})
    device = second_factor.begin(request.user)
    request.session[SETTING_UP] = device.pk
    return _show_second_factor(request, device, CodeForm())


def _finish_second_factor(request: UserRequest) -> HttpResponse:
    device = second_factor.begun(request.user, request.session.get(SETTING_UP))
    if device is None:
        return redirect("accounts:second_factor")
    form = CodeForm(request.POST)
    if form.is_valid():
        codes = second_factor.confirm(device, form.cleaned_data["code"])
        if codes is not None:
            del request.session[SETTING_UP]
            services.end_other_sessions(request, request.user)
            return render(request, "accounts/backup_codes.html", {"codes": codes})
        form.add_error("code", _("The code is wrong, or was used before."))
    return _show_second_factor(request, device, form)


def _show_second_factor(request: UserRequest, device: TOTPDevice, form: CodeForm) -> HttpResponse:
    side, path = second_factor.qr_of(device)
    shown = {"form": form, "side": side, "path": path, "secret": second_factor.secret_of(device)}
    return render(request, "accounts/second_factor.html", shown)


@access("user", methods="GET POST")
def renew_backup_codes(request: UserRequest) -> HttpResponse:
    """Make new backup codes."""
    if not second_factor.is_on(request.user):
        return redirect("accounts:settings")
    form = OwnPasswordForm(request.POST or None, user=request.user)
    if form.is_valid():
        return render(request, "accounts/backup_codes.html", {"codes": second_factor.renew_codes(request.user)})
    return render(request, "accounts/renew_backup_codes.html", {"form": form})


@access("user", methods="GET POST")
def switch_off_second_factor(request: UserRequest) -> HttpResponse:
    """Ask for the password, then for no code any more."""
    if not second_factor.is_on(request.user):
        return redirect("accounts:settings")
    form = OwnPasswordForm(request.POST or None, user=request.user)
    if form.is_valid():
        second_factor.switch_off(request.user)
        services.end_other_sessions(request, request.user)
        messages.success(request, _("Two-factor login is off."))
        return redirect("accounts:settings")
    return render(request, "accounts/second_factor_off.html", {"form": form})


@access("user", methods="GET POST")
def delete(request: UserRequest) -> HttpResponse:
    """Ask for the password, then delete the account for good."""
    form = OwnPasswordForm(request.POST or None, user=request.user)
    if form.is_valid():
        delete_account(request.user)
        logout(request)
        messages.success(request, _("The account is deleted."))
        return redirect("pages:home")
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
    shown = {"page": page, "wanted": wanted, "with_second_factor": second_factor.who_has_it(page.object_list)}
    return render(request, "accounts/people.html", shown)


@access("admin", methods="POST")
def change_person(request: UserRequest, username: str) -> HttpResponse:
    """Make somebody an organizer or not, close or open an account, confirm an address, reset a second factor."""
    user = User.objects.filter(username__iexact=username).first()
    if user is None:
        raise Http404
    if request.POST.get("do") == "send_confirmation":
        services.ask_for_verification(request, user)
        messages.success(request, _("A letter is on its way."))
        return redirect("accounts:people")
    services.change_rights(request.user, user, request.POST.get("do", ""))
    messages.success(request, _("Saved."))
    return redirect("accounts:people")
