"""Whose address a request comes from, and where it may be sent on to."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

UNKNOWN = "0.0.0.0"  # noqa: S104 - it stands for no address; nothing is bound to it.


def client_address(request: HttpRequest) -> str:
    """Return the client's address: the last one that the proxy added, or else the peer's."""
    given = request.META.get("REMOTE_ADDR", "")
    if settings.IS_SECURE:
        # Only the last entry is the proxy's own word; all before it may be made up by the client.
        given = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip() or given
    try:
        return str(ipaddress.ip_address(given))
    except ValueError:
        return UNKNOWN


def network_of(address: str) -> str:
    """Return the network by which requests are counted: an IPv6 client has a whole /64 to itself."""
    parsed = ipaddress.ip_address(address)
    return address if parsed.version == 4 else str(ipaddress.ip_network(f"{address}/64", strict=False))


def is_loopback(request: HttpRequest) -> bool:
    """Whether the request was made on this machine; never so behind a proxy, where all requests look it."""
    if settings.IS_SECURE or "HTTP_X_FORWARDED_FOR" in request.META or "HTTP_FORWARDED" in request.META:
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def next_page(request: HttpRequest, otherwise: str = "pages:home") -> str:
    """Return the page that a form asks to continue to, if it is on this site."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    # A path only: a full address, even of this host, is never needed.
    if is_ours and wanted.startswith("/"):
        return wanted
    return reverse(otherwise)
