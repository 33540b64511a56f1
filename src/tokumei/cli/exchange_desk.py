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
    method: Annotated[
        str,
        typer.Option("--method", help="What is published: power-law, a formula; or margins, how many have each value."),
    ] = "power-law",
    epsilon: Annotated[
        float, typer.Option("--epsilon", min=1e-6, help="Of the power law's noise: less hides more.")
    ] = 1.0,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="A=1,B=2", help="With margins: a two-way table at these levels."),
    ] = None,
    levels: Annotated[
        list[str] | None, typer.Option("--levels", metavar="A=1,B=2", help="Levels of the first release.")
    ] = None,
    carry: Annotated[
        str | None, typer.Option("--carry", metavar="A,B,…", help="Sensitive columns that go along, but never first.")
    ] = None,
    l: Annotated[  # noqa: E741 - the name that the field uses.
        int, typer.Option("--l", min=2, help="Fewest different values of a carried column in a class.")
    ] = 2,
    t: Annotated[
        float | None, typer.Option("--t", min=0, max=1, help="Most that a class's values may differ from the table's.")
    ] = None,
    recipient: Annotated[
        list[str] | None,
        typer.Option("--recipient", metavar="NAME=FILE.pub:CRITERION", help="A user whom you know, by their key."),
    ] = None,
    person: Annotated[
        str | None, typer.Option("--person", metavar="A", help="Column that names people, to know them again.")
    ] = None,
    other_people: Annotated[
        bool, typer.Option("--other-people", help="Nobody in the table was ever offered with this key.")
    ] = False,
    tighten_every: Annotated[
        int, typer.Option("--tighten-every", min=1, help="After how many answers the formula may get steeper.")
    ] = 10,
    discretion: Annotated[bool, typer.Option("--discretion", help="Take requests where k may hold, too.")] = False,
    vet: Annotated[bool, typer.Option("--vet/--no-vet", help="Hold the formula against all nodes beforehand.")] = True,
    lots: Annotated[
        str | None,
        typer.Option(
            "--lots", metavar="A,D", help="Shares refused by lot, of what is allowed and at discretion; else measured."
        ),
    ] = None,
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
    """Offer a table by a formula: hierarchies, formula and first release are published, the table stays.

    All that would be public is attacked by integer programming first, and refused if it proved a class below k.

    Example: tokumei exchange offer people.csv --qi sex,age --hierarchies hierarchies --k 10 --name people --desk desk --key shop.key
    """  # noqa: E501 - an example is one line.
    from tokumei.exchange.counted_table import CountedTable
    from tokumei.exchange.criteria import Criterion, read_criterion
    from tokumei.exchange.keys import read_private, read_public
    from tokumei.exchange.offer import Words
    from tokumei.exchange.offering import Terms
    from tokumei.exchange.opening import open_offer
    from tokumei.exchange.sensitive import Sensitive
    from tokumei.exchange.sources import Registry
    from tokumei.hierarchy.files import read_hierarchies
    from tokumei.hierarchy.lattice import Lattice

    signing = read_private(key)
    read = read_hierarchies(hierarchies, names(qi, "--qi")).values()
    lattice = Lattice.of([each.with_top() for each in read])
    read_by: dict[str, Any] = {"engine": engine, **reading.as_dict()}
    source = str(Path(file).resolve()) if Path(file).exists() else file
    carried = names(carry, "--carry") if carry else ()
    counted = CountedTable(lattice, source, carried=carried, sensitive=Sensitive(l, t), **read_by)
    decided = Terms(
        criteria=[read_criterion(each) for each in criterion] if criterion else [Criterion("own", k)],
        predictor=method,
        first_levels=level_pairs(levels) if levels else None,
        tables=[level_pairs([each]) for each in table or []],
        epsilon=epsilon,
        has_discretion=discretion,
        is_vetted=vet,
        lots=_lots(lots) if lots else None,
        tighten_every=tighten_every,
        recipients=[read_recipient(each) for each in recipient or []],
        approvals_needed=approvals,
        approvers=[read_public(each) for each in approver or []],
    )
    with showing_progress():
        opened = open_offer(
            *(desk, name, Words(provider or name, purpose, terms, summary), counted, decided),
            key=signing,
            source=source,
            reading=read_by,
            registry=None if other_people else Registry.beside(key, signing),
            person=person,
        )
    _, signed = opened.desk.offer()
    result = {"offer": signed.digest, **opened.as_dict(), "out": str(desk / "offer.json")}
    print_json(result) if json else print_facts(_offered(result))


def _offered(result: dict[str, Any]) -> dict[str, Any]:
    """Give what a provider reads of a new offer."""
    found = result.pop("attack")
    fails = result.pop("refused_fails")
    lots = result.pop("lots")
    return {
        **result,
        "refused by lot": f"{lots['allowed']:.0%} of what is allowed; of all refused {fails['allowed']:.0%} fail",
        "attack": "too many combinations of values for it" if found is None else f"proves no class below {found['k']}",
    }


def attack(
    desk: Annotated[Path, typer.Argument(metavar="DESK", help="The folder of a desk, or of its public half.")],
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="DESK2", help="Another desk, of the same table or one that grew."),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Integer programs to solve at most.")] = 2_000,
    json: JsonFlag = False,
) -> None:
    """Show what all that is public proves: the smallest class that follows, and of whom; exit code 1 if there is one.

    Example: tokumei exchange attack desk
    """
    from tokumei.exchange.attack import attack as attack_one
    from tokumei.exchange.attack import attack_two
    from tokumei.exchange.desk import DeskFolder
    from tokumei.exchange.opening import releases_at

    desks = [DeskFolder(each) for each in (desk, against) if each is not None]
    known = [(each.offer()[0], releases_at(each)) for each in desks]
    with showing_progress():
        found = attack_one(*known[0], most_programs=most) if against is None else attack_two(*known, most_programs=most)
    if json:
        print_json(found.as_dict())
    else:
        if found.proven:
            rows = [[str(each.as_dict()["class"]), each.least, each.most] for each in found.proven]
            print_table(["class", "least", "most"], rows, title=f"proven of {found.about}")
        facts = {"k": found.k, "classes": found.n_classes, "integer programs": found.n_programs}
        print_facts(facts | {"proven below k": len(found.proven), "left open": found.n_open})
    if found.proven:
        raise typer.Exit(1)


def admit(
    desk: DeskOption,
    key: KeyOption,
    recipient: Annotated[
        list[str], typer.Option("--recipient", metavar="NAME=FILE.pub:CRITERION", help="A user whom you know.")
    ],
    json: JsonFlag = False,
) -> None:
    """List users in an offer by their keys, and by which criterion each is served; a revision tells it.

    Example: tokumei exchange admit --desk desk --key shop.key --recipient "A university=user.pub:trusted"
    """
    from tokumei.exchange.admitting import admitted
    from tokumei.exchange.desk import DeskFolder, revise
    from tokumei.exchange.keys import read_private

    opened = DeskFolder(desk)
    made, signed = opened.offer()
    after = admitted(made, signed.digest, [read_recipient(each) for each in recipient])
    revise(opened, after, read_private(key))
    result = {"revision": after.revision, "recipients": [one.name for one in after.recipients]}
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
    from tokumei.core.errors import NotAllowed
    from tokumei.exchange.desk import DeskFolder, remembered, revise
    from tokumei.exchange.keys import read_private
    from tokumei.exchange.learning import answers_until_tightening, lesson, refitted, table_c, tightened

    opened, signing = DeskFolder(desk), read_private(key)
    made, signed = opened.offer()
    links = opened.private_log.read(signed.key)
    counted = table_c(made, links)
    after = tightened(made, counted, signed.digest, opened.source["secret"])
    n_left = answers_until_tightening(made, links)
    if tighten and n_left:
        raise NotAllowed(f"The formula is made steeper every {made.tighten_every} answers: {n_left} more are to come.")
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
    # On its day a revision comes, whether it is steeper or not.
    is_new = refit or tighten
    if is_new:
        revise(opened, after, signing, is_tightened=tighten)
    lines = [
        {"levels": made.lattice.levels(each.node), "class_count": each.class_count, "k": each.k, "low": each.low}
        for each in counted
    ]
    revision = after.revision if is_new else made.revision
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


def read_recipient(text: str) -> Any:
    """Read NAME=FILE.pub:CRITERION."""
    from tokumei.core.errors import InputError
    from tokumei.exchange.keys import read_public
    from tokumei.exchange.offer import Recipient

    name, mark, rest = text.partition("=")
    file, colon, criterion = rest.rpartition(":")
    if not mark or not colon or not name.strip():
        raise InputError.of("NAME=FILE.pub:CRITERION", option="--recipient", value=text)
    return Recipient(read_public(Path(file)), name.strip(), criterion.strip())


def _lots(text: str) -> Any:
    from tokumei.core.errors import InputError
    from tokumei.exchange.offer import Lots

    try:
        allowed, discretion = (float(each) for each in text.split(","))
    except ValueError:
        raise InputError.of("two shares, as 0.02,0.5", option="--lots", value=text) from None
    return Lots(allowed, discretion)
