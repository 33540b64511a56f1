"""What the limited process reads of what providers send from home; who reads it then tells what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tokumei.core.errors import TokumeiError
from tokumei.exchange.documents import parse_signed
from tokumei.exchange.offer import KIND, VERSION, offer_of
from tokumei.exchange.offering import read_release
from tokumei.exchange.public_desk import check_first_release, verify_public


def try_offer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Read an offer and its first release."""
    with suppress(TokumeiError):
        offer = offer_of(parse_signed(asked["offer"], KIND, VERSION))
        check_first_release(offer, asked["release"].encode())
        read_release(asked["release"], offer.lattice.attributes)
    return {}


def try_log(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Verify a public desk."""
    with suppress(TokumeiError):
        verify_public(Path(asked["folder"]))
    return {}
