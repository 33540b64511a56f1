"""What log-in and sign-up lead to, named on their pages: other apps say it of their own addresses.

WELCOMES.append(name_of_invitation)      # match of an address → a sentence, or "" where it has none
"""

from __future__ import annotations

from collections.abc import Callable

from django.urls import Resolver404, ResolverMatch, resolve

WELCOMES: list[Callable[[ResolverMatch], str]] = []


def welcome_to(address: str) -> str:
    """Describe where a local address leads; empty for any other."""
    try:
        match = resolve(address.partition("?")[0])
    except Resolver404:
        return ""
    return next((said for welcome in WELCOMES if (said := welcome(match))), "")
