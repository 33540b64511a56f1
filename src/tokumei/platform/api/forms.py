"""The form of this app."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from tokumei.platform.accounts.forms import DisplayNameField, OwnPasswordForm
from tokumei.platform.accounts.models import User
from tokumei.platform.api.models import Scope


class TokenForm(OwnPasswordForm):
    """Asks for what a token is for; the password too, since a token outlives an open session."""

    name = DisplayNameField(label=_("Name"), help_text=_("To tell it from others: the program or the machine."))
    scope = forms.ChoiceField(label=_("It may"), initial=Scope.SUBMIT)
    days = forms.TypedChoiceField(
        label=_("It works for"),
        initial="90",
        coerce=int,
        empty_value=None,
        required=False,
        choices=[
            ("7", _("A week")),
            ("30", _("A month")),
            ("90", _("Three months")),
            ("365", _("A year")),
            ("", _("Until it is revoked")),
        ],
    )
    field_order = ("name", "scope", "days", "current_password")

    def __init__(self, *given: Any, user: User, **options: Any) -> None:
        super().__init__(*given, user=user, **options)
        # What one cannot do oneself is no use to a program.
        field = self.fields["scope"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [choice for choice in Scope.choices if user.may_organize or choice[0] != Scope.ORGANIZE]
