"""What a provider does at its desk: answer, learn, disclose."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import click

from tokumei.cli.options import DeskOption, ForceOption, ProviderKeyOption
from tokumei.cli.output import show, showing_progress, wants_json
from tokumei.cli.parameters import Argument, Option
from tokumei.core.result import Answer, Facts, Rows, Section
from tokumei.core.text import Json


def answer(
    file: Annotated[Path, Argument(metavar="REQUEST", help="The file of a request.")],
    desk: DeskOption,
    key: ProviderKeyOption,
    out: Annotated[Path, Option("--out", metavar="DIR", help="Folder for the answer and the release.")],
    approval: Annotated[
        list[Path] | None, Option("--approval", metavar="FILE", help="The approval of a second person.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Answer one request: count, check all releases together, serve or refuse, and log it.

    Example: tokumei exchange answer in/a.request.json --desk desk --key shop.key --out out
    """
    from tokumei.data.files.keys import read_private
    from tokumei.data.files.outputs import check_outputs
    from tokumei.exchange.desk import DeskFolder, answer_request
    from tokumei.exchange.request import read_approval, read_request
    from tokumei.exchange.transport import ANSWER_END, RELEASE_END, REQUEST_END, FolderTransport, Outgoing

    request, signed = read_request(file)
    opened = DeskFolder(desk)
    name = file.name.removesuffix(REQUEST_END).removesuffix(".json")
    transport = FolderTransport(file.parent, out)
    # Before any work: an answer is logged once. One that only told to wait is replaced.
    outputs = {f"--out {end}": out / f"{name}{end}" for end in (ANSWER_END, RELEASE_END)}
    check_outputs(outputs, inputs=[file, desk, key], force=force or not transport.is_done(name))
    with showing_progress():
        found, release = answer_request(
            *(opened, request, signed),
            key=read_private(key),
            table=opened.table(),
            approvals=[read_approval(each) for each in approval or []],
        )
    transport.send(Outgoing(name, found, release))
    result = {"outcome": found.body["outcome"], "message": found.body["message"], "release": found.body["release"]}
    show(Answer(result))


def serve_requests(
    desk: DeskOption,
    key: ProviderKeyOption,
    inbox: Annotated[Path | None, Option("--inbox", metavar="DIR", help="Where requests and approvals arrive.")] = None,
    outbox: Annotated[Path | None, Option("--outbox", metavar="DIR", help="Where answers and releases go.")] = None,
    server: Annotated[
        str | None, Option("--server", metavar="URL", help="A platform, instead of the two folders.")
    ] = None,
    token_file: Annotated[
        Path | None, Option("--token-file", metavar="FILE", help="File with your token there, if you did not log in.")
    ] = None,
    once: Annotated[bool, Option("--once", help="Answer what is there and end.")] = False,
    seconds: Annotated[float, Option("--seconds", min=0.1, help="How often to look.")] = 5.0,
) -> None:
    """Answer all requests that arrive in a folder or on a platform; the table never leaves this machine.

    Example: tokumei exchange serve-requests --desk desk --key shop.key --inbox in --outbox out --once
    """
    from tokumei.data.files.keys import read_private
    from tokumei.exchange.desk import DeskFolder
    from tokumei.exchange.transport import Outgoing, ServerAway, serve

    signing, opened = read_private(key), DeskFolder(desk)
    transport = _transport(opened, signing, inbox, outbox, server, token_file)
    # Counted once and kept: every further request is rolled up from it.
    table = opened.table()
    outcomes: dict[str, str] = {}

    def tell(outgoing: Outgoing) -> None:
        outcomes[outgoing.name] = outgoing.outcome
        if not wants_json():
            click.echo(f"{outgoing.name}: {outgoing.outcome}")

    while True:
        try:
            with showing_progress():
                serve(opened, transport, signing, table=table, tell=tell)
        except ServerAway as error:
            if once:
                raise
            # It may come back; what it did not get is sent then.
            click.echo(str(error), err=True)
        if once:
            break
        time.sleep(seconds)
    # People were told of each answer when it was sent.
    show(Answer({"answered": outcomes, "counting_passes": table.n_passes}, [Facts({"answered": len(outcomes)})]))


def learn(
    desk: DeskOption,
    key: ProviderKeyOption,
    tighten: Annotated[bool, Option("--tighten", help="Publish a steeper formula, if one is needed.")] = False,
    refit: Annotated[bool, Option("--refit", help="Publish a power law fitted anew to what is public.")] = False,
) -> None:
    """Show how well the formula predicted the nodes counted since, and make it steeper after a failed promise.

    Example: tokumei exchange learn --desk desk --key shop.key --tighten
    """
    from tokumei.core.errors import NotAllowed
    from tokumei.data.files.keys import read_private
    from tokumei.exchange.answer import answers_until_tightening, lesson, refitted, steepened, table_c, tightened
    from tokumei.exchange.desk import DeskFolder, remembered, revise
    from tokumei.predictors.power_law import law_in_words

    opened, signing = DeskFolder(desk), read_private(key)
    made, signed = opened.offer()
    links = opened.private_log.read(signed.key)
    counted = table_c(made, links)
    secret = opened.source["secret"]
    after = steepened(made, counted, signed.digest, secret)
    n_left = answers_until_tightening(made, links)
    if tighten and n_left:
        raise NotAllowed(f"The formula is made steeper every {made.tighten_every} answers: {n_left} more are to come.")
    if tighten and not made.is_vetted:
        with showing_progress():
            after = tightened(made, counted, signed.digest, secret, opened.same_table())
    if refit:
        with showing_progress():
            after = refitted(made, opened.same_table(), remembered(links).given, signed.digest, secret)
    lessons: dict[str, Json] = {
        one.name: {
            "k": one.k,
            "before": lesson(made, counted, one.k).as_dict(),
            "after": lesson(after, counted, one.k).as_dict(),
        }
        for one in made.criteria
    }
    # On its day a revision comes, whether it is steeper or not.
    is_new = refit or tighten
    if is_new:
        revise(opened, after, signing, is_tightened=tighten)
    lines = [
        {"levels": made.lattice.levels(each.node), "class_count": each.class_count, "k": each.k, "low": each.low}
        for each in counted
    ]
    revision = after.revision if is_new else made.revision
    standing = after if is_new else made
    lots = {"allowed": standing.lots.allowed, "discretion": standing.lots.discretion}
    values: Json = {
        "counted": lines,
        "criteria": lessons,
        "revision": revision,
        "law": standing.law(standing.k_p),
        "vetted": standing.is_vetted,
        "lots": lots,
    }
    rows = [[", ".join(str(level) for level in each.node), each.class_count, each.k, each.low] for each in counted]
    shown = [
        [name, each["k"], when, *each[when].values()] for name, each in lessons.items() for when in ("before", "after")
    ]
    told_law = {} if values["law"] is None else {"law": law_in_words(values["law"], standing.k_p)}
    parts: list[Section] = [
        Rows([", ".join(made.lattice.attributes), "classes", "k", "promised"], rows, title="table C"),
        Rows(["criterion", "k", "", "slope", "α", "β", "γ", "δ", "S₁", "S₂", "N"], shown),
        Facts({"revision": revision, **told_law, "refused by lot": f"{lots['allowed']:.0%} of what is allowed"}),
    ]
    show(Answer(values, parts))


def disclose(
    desk: DeskOption,
    out: Annotated[Path | None, Option("--out", metavar="FILE", help="Markdown page to write.")] = None,
    force: ForceOption = False,
) -> None:
    """Publish what was given, to whom and by which standard, without the recipe.

    Example: tokumei exchange disclose --desk desk --out given.md
    """
    from tokumei.data.files.disk import write_text
    from tokumei.data.files.outputs import guarded
    from tokumei.exchange.audit_log import disclosure, disclosure_text
    from tokumei.exchange.desk import DeskFolder

    opened = DeskFolder(desk)
    made, signed = opened.offer()
    links = opened.private_log.read(signed.key)
    text = disclosure_text(made, signed.key, links)
    if out is not None:
        with guarded({"--out": out}, inputs=[desk], force=force) as drafts:
            write_text(drafts["--out"], text)
    if out is None and not wants_json():
        # Markdown is for a file or a pipe: it is given as it is.
        click.echo(text, nl=False)
        return
    show(Answer(disclosure(made, signed.key, links), [Facts({"out": str(out)})]))


def _transport(
    desk: Any, key: Any, inbox: Path | None, outbox: Path | None, server: str | None, token_file: Path | None
) -> Any:
    """Return where requests come from: two folders, or a platform."""
    from tokumei.cli.remote_server import find_server
    from tokumei.core.errors import InputError
    from tokumei.exchange.transport import FolderTransport, HttpTransport, read_token

    if server is None:
        if inbox is None or outbox is None:
            raise InputError.of("--inbox and --outbox, or --server")
        return FolderTransport(inbox, outbox)
    if inbox is not None or outbox is not None:
        raise InputError.of("either folders or a server, not both")
    token = find_server(server, allow_plain=False).token if token_file is None else read_token(token_file)
    return HttpTransport(server, token, desk, key)
