"""The forms of this app."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import password_validators_help_text_html, validate_password
from django.core.exceptions import ValidationError
from django.forms.utils import flatatt
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from tokumei.platform.accounts.models import User, normal_email
from tokumei.platform.accounts.services import is_own_password
from tokumei.platform.middleware import time_zones
from tokumei.platform.typed_text import DISPLAY_NAME_LENGTH, check_short_name, clean_display_name

# Hashing a longer one would only keep the server busy.
PASSWORD_LENGTH = 256


def password_field(label: Any, autocomplete: str, **options: Any) -> forms.CharField:
    """Make a field for a password, which is never sent back into the page."""
    widget = forms.PasswordInput(attrs={"autocomplete": autocomplete})
    return forms.CharField(label=label, widget=widget, strip=False, max_length=PASSWORD_LENGTH, **options)


class DisplayNameField(forms.CharField):
    """A field for a name in any script."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=DISPLAY_NAME_LENGTH, strip=True, **options)

    def clean(self, value: object) -> str:
        """Tidy the name, or say what is wrong with it."""
        cleaned = super().clean(value)
        return clean_display_name(cleaned) if cleaned else ""


class NewPasswordForm(forms.Form):
    """Asks for a new password twice; `user` is whose it becomes."""

    password = password_field(_("New password"), "new-password", help_text=password_validators_help_text_html)
    password_again = password_field(_("New password again"), "new-password")
    user: User

    def clean(self) -> dict[str, object]:
        """Hold the two against each other, and the password against the rules."""
        cleaned = super().clean() or self.cleaned_data
        password = cleaned.get("password")
        if password and "password_again" in cleaned and password != cleaned["password_again"]:
            self.add_error("password_again", _("The two passwords are not the same."))
        if password:
            try:
                validate_password(password, self.user)
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


class SignUpForm(NewPasswordForm):
    """Asks for what an account needs."""

    username = forms.CharField(
        label=_("User name"),
        max_length=40,
        validators=[check_short_name],
        help_text=_("Letters a–z, digits, hyphens and underscores. You log in by it."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    display_name = DisplayNameField(
        label=_("Display name"),
        help_text=_("How others see you, in any script."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("Email address"),
        max_length=254,
        help_text=_("Only for a new password; nobody else sees it."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    password = password_field(_("Password"), "new-password", help_text=password_validators_help_text_html)
    password_again = password_field(_("Password again"), "new-password")
    field_order = ("username", "display_name", "email", "password", "password_again")

    def clean_username(self) -> str:
        """Refuse a name that is taken in whatever case."""
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise ValidationError(_("This user name is taken."))
        return name

    def clean(self) -> dict[str, object]:
        """Hold the password against the other fields too."""
        given = self.cleaned_data
        self.user = User(**{name: given.get(name, "") for name in ("username", "display_name", "email")})
        return super().clean()


class LogInForm(forms.Form):
    """Asks who it is."""

    username = forms.CharField(
        label=_("User name or email address"),
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
    )
    password = password_field(_("Password"), "current-password")

    def __init__(self, *given: Any, request: HttpRequest, **options: Any) -> None:
        super().__init__(*given, **options)
        self.request = request
        self.user: User | None = None

    def clean(self) -> dict[str, object]:
        """Hold name and password against the database; what is wrong is not told."""
        cleaned = super().clean() or self.cleaned_data
        if {"username", "password"} <= cleaned.keys():
            found = authenticate(self.request, username=cleaned["username"], password=cleaned["password"])
            if not isinstance(found, User):
                raise ValidationError(_("The name or the password is wrong."))
            self.user = found
        return cleaned


class CodeForm(forms.Form):
    """Asks for the code of the second factor."""

    code = forms.CharField(
        label=_("Code"),
        max_length=20,
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "class": "code", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


class OwnPasswordForm(forms.Form):
    """Asks a user for the password they have, before something that a passer-by must not do."""

    current_password = password_field(_("Current password"), "current-password")

    def __init__(self, *given: Any, user: User, **options: Any) -> None:
        super().__init__(*given, **options)
        self.user = user

    def clean_current_password(self) -> str:
        """Refuse a wrong one."""
        password: str = self.cleaned_data["current_password"]
        if not is_own_password(self.user, password):
            raise ValidationError(_("The password is wrong."))
        return password


class ChangePasswordForm(OwnPasswordForm, NewPasswordForm):
    """Asks for the old and the new password."""

    field_order = ("current_password", "password", "password_again")


class ResetForm(NewPasswordForm):
    """Asks for a new password of who came by a link."""

    def __init__(self, *given: Any, user: User, **options: Any) -> None:
        super().__init__(*given, **options)
        self.user = user


class AskForResetForm(forms.Form):
    """Asks where to send the link."""

    email = forms.EmailField(
        label=_("Email address"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class LongSelect(forms.Select):
    """A choice among hundreds, written at once: Django fills in two templates for each of them."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: object = None) -> SafeString:  # noqa: ARG002
        """Write what Django's own templates would."""
        widget = self.get_context(name, value, attrs)["widget"]
        options = format_html_join(
            "\n",
            "<option{}>{}</option>",
            (
                (flatatt({"value": option["value"]} | option["attrs"]), option["label"])
                for _, group, _ in widget["optgroups"]
                for option in group
            ),
        )
        return format_html("<select{}>{}</select>", flatatt({"name": name} | widget["attrs"]), options)


class ProfileForm(forms.Form):
    """Asks how a user is called, reached and spoken to."""

    display_name = DisplayNameField(label=_("Display name"), widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.EmailField(
        label=_("Email address"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    language = forms.ChoiceField(
        label=_("Language"), required=False, choices=[("", _("As the browser asks")), *settings.LANGUAGES]
    )
    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        required=False,
        choices=lambda: [("", _("As the browser says")), *((zone, zone) for zone in time_zones())],
        widget=LongSelect,
    )
    current_password = password_field(
        _("Current password"), "current-password", required=False, help_text=_("Needed to change the address.")
    )

    def __init__(self, given: Any = None, *, user: User) -> None:
        names = ("display_name", "email", "language", "time_zone")
        known = {name: getattr(user, name) for name in names}
        super().__init__(given, initial=known)
        self.user = user

    def clean(self) -> dict[str, object]:
        """Refuse a new address without the password."""
        cleaned = super().clean() or self.cleaned_data
        address = normal_email(cleaned.get("email", ""))
        if "email" in cleaned and address != self.user.email:  # noqa: SIM102
            if not is_own_password(self.user, cleaned.get("current_password", "")):
                self.add_error("current_password", _("The password is wrong."))
        return cleaned
