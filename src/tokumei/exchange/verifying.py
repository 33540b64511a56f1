"""Checking what a desk has published and kept, and an answer against its request, its release and the log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokumei.core.chain import digest_of
from tokumei.core.errors import PromiseBroken
from tokumei.data.files.keys import fingerprint
from tokumei.data.files.source import check_is_file
from tokumei.exchange.audit_log import AuditLog, LogHead, check_reaches
from tokumei.exchange.desk import ANSWER, VERSION, DeskFolder, commitment, public_part
from tokumei.exchange.documents import Fields, read_signed
from tokumei.exchange.request import REQUEST, request_of
from tokumei.exchange.request import VERSION as REQUEST_VERSION


def verify_desk(desk: DeskFolder) -> dict[str, Any]:
    """Check offer, revisions, both logs and every release that was given; PromiseBroken names what is wrong."""
    offer, signed = desk.offer()
    public, private = desk.public_log.read(signed.key), desk.private_log.read(signed.key)
    told = [link.payload["offer"] for link in public if link.payload["what"] == "offer"]
    if told != list(desk.digests().values()) or told[-1] != signed.digest:
        raise PromiseBroken("The revisions are not those that the log tells of.")
    if [public_part(link.payload) for link in private] != [dict(link.payload) for link in public]:
        raise PromiseBroken("The public log and the private one do not tell the same.")
    if digest_of((desk.folder / "first-release.csv").read_bytes()) != offer.first_release.digest:
        raise PromiseBroken("first-release.csv is not the one that was offered.")
    for link in private:
        if digest := link.payload.get("release_file"):
            path = desk.release_path(digest)
            if not path.is_file() or digest_of(path.read_bytes()) != digest:
                raise PromiseBroken(f"{path.name}: is missing or not as it was given.")
    n_served = sum(link.payload.get("outcome") == "served" for link in public)
    n_refused = sum(link.payload.get("outcome") == "refused" for link in public)
    return {"revision": offer.revision, "lines": len(public), "served": n_served, "refused": n_refused}


def check_answer(
    path: Path,
    provider: str,
    public_log: Path | None = None,
    *,
    request: Path | None = None,
    release: Path | None = None,
) -> dict[str, Any]:
    """Check an answer against the provider's key, the request that it is to, the release that came with it, and a log.

    PromiseBroken names what does not fit.
    """
    signed = read_signed(path, ANSWER, VERSION)
    if signed.key != provider:
        raise PromiseBroken(f"{path}: signed by {fingerprint(signed.key)}, not by the provider.")
    fields = Fields(signed.body, str(path))
    result: dict[str, Any] = {"outcome": fields.text("outcome", one_of=["served", "refused", "waiting"])}
    asked = None
    if request is not None:
        asked = read_signed(request, REQUEST, REQUEST_VERSION)
        if asked.digest != fields.text("request", most=64):
            raise PromiseBroken(f"{path}: is not the answer to {request}.")
        result["request"] = asked.digest
    if release is not None:
        if digest_of(check_is_file(release).read_bytes()) != fields.text("release", most=64):
            raise PromiseBroken(f"{release}: is not the release that the answer tells of.")
        result["release"] = signed.body["release"]
    if signed.body.get("log") is None or public_log is None:
        return result
    head = fields.inside("log")
    links = AuditLog(public_log).lines()
    told = LogHead(head.whole("number"), head.text("hash", most=64))
    check_reaches(links, told, public_log.name)
    says = links[told.number - 1].payload
    if (says.get("request"), says.get("outcome")) != (signed.body["request"], result["outcome"]):
        raise PromiseBroken(f"{public_log.name}, line {told.number}: tells of another answer.")
    if asked is not None and says.get("release") != commitment(request_of(asked).nonce, str(signed.body["release"])):
        raise PromiseBroken(f"{public_log.name}, line {told.number}: tells of another release.")
    return result | {"log_line": told.number}
