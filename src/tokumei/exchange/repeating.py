"""Giving an answer again that was logged and then lost on its way: a desk answers once, but may repeat itself."""

from __future__ import annotations

from tokumei.core.errors import TokumeiError
from tokumei.data.files.keys import PrivateKey
from tokumei.exchange.answer import REFUSED
from tokumei.exchange.desk import ANSWER, DeskFolder
from tokumei.exchange.desk import VERSION as ANSWER_VERSION
from tokumei.exchange.documents import parse_signed, sign
from tokumei.exchange.request import REQUEST, VERSION
from tokumei.exchange.transport import Incoming, Outgoing


def repeat_answer(desk: DeskFolder, incoming: Incoming, key: PrivateKey) -> Outgoing | None:
    """Return the answer in the desk's logs, exactly as it was; None if there was none.

    For transports that know whose a request is: who copies somebody's request must not get their release.
    """
    try:
        request = parse_signed(incoming.text, REQUEST, VERSION)
    except TokumeiError:
        return None
    _, offered = desk.offer()
    private, public = desk.private_log.read(offered.key), desk.public_log.read(offered.key)
    link = next((each for each in private if each.payload.get("request") == request.digest), None)
    # The two logs tell the same, line by line; the public one may lack what a machine that stopped did not get to.
    if link is None or link.number > len(public):
        return None
    said = public[link.number - 1]
    digest = link.payload["release_file"]
    body = {
        "offer": request.body["offer"],
        "request": request.digest,
        "outcome": link.payload["outcome"],
        "message": REFUSED if link.payload["outcome"] == "refused" else "",
        "release": digest,
        "log": {"number": said.number, "hash": said.hash},
    }
    release = None
    if digest:
        release = desk.release_path(digest).read_text(encoding="utf-8")
    return Outgoing(incoming.name, sign(ANSWER, ANSWER_VERSION, body, key), release)
