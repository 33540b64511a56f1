"""What a provider does at its desk: offer, answer, learn, disclose."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import (
    EngineOption,
    ForceOption,
    SourceArgument,
    level_pairs,
    names,
)
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.reading import reads_tables
from tokumei.data.files.reading import AS_IT_IS, Reading

DeskOption = Annotated[Path, typer.Option("--desk", metavar="DIR", help="The folder of the offer's desk.")]
KeyOption = Annotated[Path, typer.Option("--key", metavar="NAME.key", help="The provider's key, to sign with.")]


@reads_tables
def offer(
    file: SourceArgument,
    qi: Annotated[str, typer.Option("--qi", metavar="A,B,…", help="The quasi-identifiers.")],
    hierarchies: Annotated[
        Path, typer.Option("--hierarchies", metavar="DIR", help="Folder with one hierarchy file for each column.")
    ],
    desk: Annotated[Path, typer.Option("--desk", metavar="DIR", help="Folder to make for the offer.")],
    key: KeyOption,
    name: Annotated[str, typer.Option("--name", help="What the offer is called.")],
    criterion: Annotated[
        list[str] | None,
        typer.Option("--criterion", help="cheo-trusted-recipient, cheo-public-release, NAME=K or NAME=RISK."),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=2, help="The k of the criterion 'own', if no other is given.")] = 10,
    method: Annotated[str, typer.Option("--method", help="The predictor: margins or power-law.")] = "margins",
    levels: Annotated[
        list[str] | None, typer.Option("--levels", metavar="A=1,B=2", help="Levels of the first release.")
    ] = None,
    carry: Annotated[str | None, typer.Option("--carry", metavar="A,B,…", help="Columns that go along as are.")] = None,
    discretion: Annotated[bool, typer.Option("--discretion", help="Take requests where k may hold, too.")] = False,
    vet: Annotated[bool, typer.Option("--vet/--no-vet", help="Hold the formula against all nodes beforehand.")] = True,
    lots: Annotated[
        str,
        typer.Option("--lots", metavar="A,D", help="Shares refused by lot, of what is allowed and at discretion."),
    ] = "0.02,0.5",
    approvals: Annotated[int, typer.Option("--approvals", min=0, help="How many others must agree to an answer.")] = 0,
    approver: Annotated[
        list[Path] | None, typer.Option("--approver", metavar="NAME.pub", help="Key of one who may agree.")
    ] = None,
    provider: Annotated[str, typer.Option("--provider", help="Who offers.")] = "",
    purpose: Annotated[str, typer.Option("--purpose", help="For which use.")] = "",
    terms: Annotated[str, typer.Option("--terms", help="On which terms.")] = "",
    summary: Annotated[str, typer.Option("--summary", help="What the people in the data are told.")] = "",
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Offer a table by a formula: hierarchies, predictor and first release are published, the table stays.

    Example: tokumei exchange offer people.csv --qi sex,age --hierarchies hierarchies --k 10 --name people --desk desk --key shop.key
    """  # noqa: E501 - an example is one line.
    from tokumei.exchange.counted_table import CountedTable
    from tokumei.exchange.criteria import Criterion, read_criterion
    from tokumei.exchange.desk import open_desk
    from tokumei.exchange.keys import read_private, read_public
    from tokumei.exchange.offer import Words
    from tokumei.exchange.offering import Terms, make_offer
    from tokumei.hierarchy.files import read_hierarchies
    from tokumei.hierarchy.lattice import Lattice

    signing = read_private(key)
    read = read_hierarchies(hierarchies, names(qi, "--qi")).values()
    lattice = Lattice.of([each.with_top() for each in read])
    read_by: dict[str, Any] = {"engine": engine, **reading.as_dict()}
    source = str(Path(file).resolve()) if Path(file).exists() else file
    table = CountedTable(lattice, source, carried=names(carry, "--carry") if carry else (), **read_by)
    decided = Terms(
        criteria=[read_criterion(each) for each in criterion] if criterion else [Criterion("own", k)],
        predictor=method,
        first_levels=level_pairs(levels) if levels else None,
        has_discretion=discretion,
        is_vetted=vet,
        lots=_lots(lots),
        approvals_needed=approvals,
        approvers=[read_public(each) for each in approver or []],
    )
    with showing_progress():
        made, text = make_offer(name, Words(provider or name, purpose, terms, summary), table, decided)
    opened = open_desk(desk, made, text, source, read_by, signing)
    _, signed = opened.offer()
    result = {
        "offer": signed.digest,
        "nodes": lattice.n_nodes,
        "k": made.k_p,
        "slope": made.slope,
        "first_release": dict(made.first_release.levels),
        "out": str(desk / "offer.json"),
    }
    print_json(result) if json else print_facts(result)


def answer(
    file: Annotated[Path, typer.Argument(metavar="REQUEST", help="The file of a request.")],
    desk: DeskOption,
    key: KeyOption,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the answer and the release.")],
    approval: Annotated[
        list[Path] | None, typer.Option("--approval", metavar="FILE", help="The approval of a second person.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Answer one request: count, check all releases together, serve or refuse, and log it.

    Example: tokumei exchange answer in/a.request.json --desk desk --key shop.key --out out
    """
    from tokumei.exchange.desk import DeskFolder, answer_request
    from tokumei.exchange.keys import read_private
    from tokumei.exchange.request import read_approval, read_request
    from tokumei.exchange.transport import REQUEST_END, FolderTransport, Outgoing

    request, signed = read_request(file)
    opened = DeskFolder(desk)
    with showing_progress():
        found, release = answer_request(
            *(opened, request, signed),
            key=read_private(key),
            table=opened.table(),
            approvals=[read_approval(each) for each in approval or []],
        )
    name = file.name.removesuffix(REQUEST_END).removesuffix(".json")
    FolderTransport(file.parent, out).send(Outgoing(name, found, release))
    result = {"outcome": found.body["outcome"], "message": found.body["message"], "release": found.body["release"]}
    print_json(result) if json else print_facts(result)


def serve_requests(
    desk: DeskOption,
    key: KeyOption,
    inbox: Annotated[
        Path | None, typer.Option("--inbox", metavar="DIR", help="Where requests and approvals arrive.")
    ] = None,
    outbox: Annotated[
        Path | None, typer.Option("--outbox", metavar="DIR", help="Where answers and releases go.")
    ] = None,
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="A platform, instead of the two folders.")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Your token there, if you did not log in."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Answer what is there and end.")] = False,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="How often to look.")] = 5.0,
    json: JsonFlag = False,
) -> None:
    """Answer all requests that arrive in a folder or on a platform; the table never leaves this machine.

    Example: tokumei exchange serve-requests --desk desk --key shop.key --inbox in --outbox out --once
    """
    from tokumei.exchange.desk import DeskFolder
    from tokumei.exchange.http_transport import ServerAway
    from tokumei.exchange.keys import read_private
    from tokumei.exchange.transport import Outgoing, serve

    signing, opened = read_private(key), DeskFolder(desk)
    transport = _transport(opened, signing, inbox, outbox, server, token_file)
    # Counted once and kept: every further request is rolled up from it.
    table = opened.table()
    outcomes: dict[str, str] = {}

    def tell(outgoing: Outgoing) -> None:
        outcomes[outgoing.name] = outgoing.outcome
        if not json:
            typer.echo(f"{outgoing.name}: {outgoing.outcome}")

    while True:
        try:
            with showing_progress():
                serve(opened, transport, signing, table=table, tell=tell)
        except ServerAway as error:
            if once:
                raise
            # It may come back; what it did not get is sent then.
            typer.echo(str(error), err=True)
        if once:
            break
        time.sleep(seconds)
    if json:
        print_json({"answered": outcomes, "counting_passes": table.n_passes})


def learn(
    desk: DeskOption,
    key: KeyOption,
    tighten: Annotated[bool, typer.Option("--tighten", help="Publish a steeper formula, if one is needed.")] = False,
    refit: Annotated[bool, typer.Option("--refit", help="Publish a power law drawn anew from what is out.")] = False,
    json: JsonFlag = False,
) -> None:
    """Show how the formula did on the nodes that were counted, and make it steeper after a promise that failed.

    Example: tokumei exchange learn --desk desk --key shop.key --tighten
    """
    from tokumei.exchange.desk import DeskFolder, remembered, revise
    from tokumei.exchange.keys import read_private
    from tokumei.exchange.learning import lesson, refitted, table_c, tightened

    opened, signing = DeskFolder(desk), read_private(key)
    made, signed = opened.offer()
    links = opened.private_log.read(signed.key)
    counted = table_c(made, links)
    after = tightened(made, counted, signed.digest)
    if refit:
        given = [each.node for each in remembered(links).given]
        after = refitted(made, opened.table(), given, signed.digest)
    lessons: dict[str, dict[str, Any]] = {
        one.name: {
            "k": one.k,
            "before": lesson(made, counted, one.k).as_dict(),
            "after": lesson(after, counted, one.k).as_dict(),
        }
        for one in made.criteria
    }
    is_new = refit or after.slope > made.slope
    if (tighten or refit) and is_new:
        revise(opened, after, signing)
    lines = [
        {"levels": made.lattice.levels(each.node), "class_count": each.class_count, "k": each.k, "low": each.low}
        for each in counted
    ]
    revision = after.revision if (tighten or refit) and is_new else made.revision
    if json:
        print_json({"counted": lines, "criteria": lessons, "revision": revision})
        return
    rows = [[", ".join(str(level) for level in each.node), each.class_count, each.k, each.low] for each in counted]
    print_table([", ".join(made.lattice.attributes), "classes", "k", "promised"], rows, title="table C")
    header = ["criterion", "k", "", "slope", "α", "β", "γ", "δ", "S₁", "S₂", "N"]
    shown = [
        [name, each["k"], when, *each[when].values()] for name, each in lessons.items() for when in ("before", "after")
    ]
    print_table(header, shown)
    print_facts({"revision": revision})


def disclose(
    desk: DeskOption,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Markdown page to write.")] = None,
    force: ForceOption = False,
    json: JsonFlag = False,
) -> None:
    """Tell the public what was given, to whom and by which standard, without the recipe.

    Example: tokumei exchange disclose --desk desk --out given.md
    """
    from tokumei.data.files.atomic import write_text
    from tokumei.data.files.outputs import guarded
    from tokumei.exchange.desk import DeskFolder
    from tokumei.exchange.disclosure import disclosure, disclosure_text

    opened = DeskFolder(desk)
    made, signed = opened.offer()
    links = opened.private_log.read(signed.key)
    text = disclosure_text(made, signed.key, links)
    if out is not None:
        with guarded({"--out": out}, inputs=[desk], force=force) as drafts:
            write_text(drafts["--out"], text)
    if json:
        print_json(disclosure(made, signed.key, links))
    elif out is None:
        typer.echo(text, nl=False)
    else:
        print_facts({"out": str(out)})


def _transport(
    desk: Any, key: Any, inbox: Path | None, outbox: Path | None, server: str | None, token_file: Path | None
) -> Any:
    """Give where requests come from: two folders, or a platform."""
    from tokumei.cli.remote_server import find_server
    from tokumei.core.errors import InputError
    from tokumei.exchange.http_transport import HttpTransport, read_token
    from tokumei.exchange.transport import FolderTransport

    if server is None:
        if inbox is None or outbox is None:
            raise InputError.of("--inbox and --outbox, or --server")
        return FolderTransport(inbox, outbox)
    if inbox is not None or outbox is not None:
        raise InputError.of("either folders or a server, not both")
    token = find_server(server, allow_plain=False).token if token_file is None else read_token(token_file)
    return HttpTransport(server, token, desk, key)


def _lots(text: str) -> Any:
    from tokumei.core.errors import InputError
    from tokumei.exchange.offer import Lots

    try:
        allowed, discretion = (float(each) for each in text.split(","))
    except ValueError:
        raise InputError.of("two shares, as 0.02,0.5", column="--lots", value=text) from None
    return Lots(allowed, discretion)
