"""What a provider publishes: an offer, whom it lists, and what an attack on all that is out of it proves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import click

from tokumei.cli.options import (
    CautionOption,
    DeskOption,
    EngineOption,
    ForceOption,
    LargestOption,
    NNodesOption,
    ProviderKeyOption,
    RuleOption,
    SourceArgument,
    level_pairs,
    reads_tables,
)
from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Argument, Names, Option
from tokumei.core.result import Answer, Facts, Rows, Section, Sentence
from tokumei.core.text import Json, Text
from tokumei.data.files.formats import write_frame
from tokumei.data.files.outputs import guarded
from tokumei.data.files.reading import AS_IT_IS, Reading

if TYPE_CHECKING:
    from tokumei.predictors.predictor import Rule

HIDDEN = ("attack", "refused_fails", "lots", "only_what_occurs", "law", "vetted")
# Measured on 335 made tables by `benchmarks/exchange.py`: how often the node that the rule allows by least fails.
NOT_VETTED = (
    "Not vetted: the rule may allow what does not hold. Near its edge (less than twice the k asked for) {gamma:.0%} of "
    "the nodes fail here, {lot:.0%} are refused by lot, and {fails:.0%} of those refused fail. In 335 made tables the "
    "node nearest the edge failed in 27%; of its refusals 38% meant a failure. Vet where you can."
)
ONLY_WHAT_OCCURS = (
    "The hierarchy lists no value but those that occur, some in fewer than k rows. It is published, and whoever "
    "guesses that it was made of the data knows that each has a row. Add values that there can be."
)
NOT_COMPARED = (
    "No table agrees with both desks: people left in between, or they are of different people. What follows from the "
    "two together was not looked for."
)


@reads_tables
def offer(
    file: SourceArgument,
    qi: Annotated[list[str], Names("--qi", help="The quasi-identifiers.")],
    desk: Annotated[Path, Option("--desk", metavar="DIR", help="New folder for the desk of the offer.")],
    key: ProviderKeyOption,
    name: Annotated[str, Option("--name", help="What the offer is called.")],
    hierarchies: Annotated[
        Path | None,
        Option(
            "--hierarchies",
            metavar="DIR",
            help="Folder with one hierarchy file for each column; made where none is given and nobody is told by them.",
        ),
    ] = None,
    criterion: Annotated[
        list[str] | None,
        Option("--criterion", help="cheo-trusted-recipient, cheo-public-release, cheo-breach, NAME=K or NAME=RISK."),
    ] = None,
    k: Annotated[int, Option("--k", min=2, help="The k of the criterion 'own', if no other is given.")] = 10,
    method: Annotated[
        str, Option("--method", help="What is published: power-law, a formula; or margins, how many have each value.")
    ] = "power-law",
    epsilon: Annotated[
        float, Option("--epsilon", min=1e-6, help="Budget of the power law's noise: less hides more.")
    ] = 1.0,
    table: Annotated[
        list[str] | None, Option("--table", metavar="A=1,B=2", help="With margins: a two-way table at these levels.")
    ] = None,
    levels: Annotated[
        list[str] | None, Option("--levels", metavar="A=1,B=2", help="Levels of the first release.")
    ] = None,
    carry: Annotated[
        list[str] | None, Names("--carry", help="Sensitive columns to release as well, but not in the first release.")
    ] = None,
    l: Annotated[  # noqa: E741 - the name that the field uses.
        int, Option("--l", min=2, help="Fewest different values of a carried column in a class.")
    ] = 2,
    t: Annotated[
        float | None, Option("--t", min=0, max=1, help="Most that a class's values may differ from the table's.")
    ] = None,
    recipient: Annotated[
        list[str] | None,
        Option("--recipient", metavar="NAME=FILE.pub:CRITERION", help="A user whom you know, by their key."),
    ] = None,
    person: Annotated[
        str | None, Option("--person", metavar="A", help="Column that names people, to know them again.")
    ] = None,
    other_people: Annotated[
        bool, Option("--other-people", help="Nobody in this table was in an earlier offer of this key.")
    ] = False,
    tighten_every: Annotated[
        int, Option("--tighten-every", min=1, help="After this many answers the formula may get steeper.")
    ] = 10,
    rule: RuleOption = "low",
    largest: LargestOption = None,
    n_nodes: NNodesOption = None,
    caution: CautionOption = None,
    discretion: Annotated[bool, Option("--discretion", help="Take requests where k may hold, too.")] = False,
    vet: Annotated[
        bool,
        Option(
            "--vet/--no-vet",
            help="Hold the formula against all nodes beforehand. Without it nodes near the edge fail in about 27%, and "
            "half of all nodes there are refused by lot, so that a refusal does not tell.",
        ),
    ] = True,
    lots: Annotated[
        str | None,
        Option(
            "--lots",
            metavar="A,D",
            help="Shares of allowed and discretionary requests refused at random; else measured.",
        ),
    ] = None,
    approvals: Annotated[int, Option("--approvals", min=0, help="How many others must agree to an answer.")] = 0,
    approver: Annotated[
        list[Path] | None, Option("--approver", metavar="NAME.pub", help="Key of one who may agree.")
    ] = None,
    provider: Annotated[str, Option("--provider", help="Name of the provider.")] = "",
    purpose: Annotated[str, Option("--purpose", help="The use that the offer is for.")] = "",
    terms: Annotated[str, Option("--terms", help="The terms of the offer.")] = "",
    summary: Annotated[str, Option("--summary", help="What the people in the data are told.")] = "",
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
) -> None:
    """Offer a table by a formula: hierarchies, formula and first release are published, the table stays.

    All that would be public is attacked by integer programming first, and refused if it proved a class below k.

    Example: tokumei exchange offer people.csv --qi sex,age --hierarchies hierarchies --k 10 --name people --desk desk --key shop.key
    """  # noqa: E501 - an example is one line.
    from tokumei.data.files.keys import read_private, read_public
    from tokumei.exchange.counted_table import CountedTable, Sensitive
    from tokumei.exchange.documents import Criterion, read_criterion
    from tokumei.exchange.offer import Words
    from tokumei.exchange.offering import OfferTerms
    from tokumei.exchange.opening import open_offer
    from tokumei.exchange.sources import SourceRegistry
    from tokumei.hierarchies.lattice import Lattice
    from tokumei.tasks.predict_table import offered_hierarchies
    from tokumei.tasks.preparing import told_of_made

    signing = read_private(key)
    criteria = [read_criterion(each) for each in criterion] if criterion else [Criterion("own", k)]
    strictest = max(each.k for each in criteria)
    with showing_progress():
        trees, made = offered_hierarchies(*(file, qi, strictest), given=hierarchies, engine=engine, reading=reading)
    lattice = Lattice.of([each.with_top() for each in trees])
    read_by: Json = {"engine": engine, **reading.as_dict()}
    source = str(Path(file).resolve()) if Path(file).exists() else file
    carried = carry or ()
    counted = CountedTable(lattice, source, carried=carried, sensitive=Sensitive(l, t), **read_by)
    decided = OfferTerms(
        criteria=criteria,
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
        rule=cast("Rule", rule),
        largest=largest,
        n_nodes=n_nodes,
        caution=0.1 if caution is None else caution,
    )
    with showing_progress():
        opened = open_offer(
            *(desk, name, Words(provider or name, purpose, terms, summary), counted, decided),
            key=signing,
            source=source,
            reading=read_by,
            registry=None if other_people else SourceRegistry.beside(key, signing),
            person=person,
        )
    _, signed = opened.desk.offer()
    result = {"offer": signed.digest, **opened.as_dict(), "out": str(desk / "offer.json")}
    parts: list[Section] = [Facts(_offered(result))]
    if made:
        result["hierarchies_made"] = made
        parts += told_of_made(made)
    if not opened.offer.is_vetted:
        drawn = opened.offer.lots
        numbers = {"gamma": opened.gamma.edge, "lot": max(drawn.allowed, drawn.discretion)}
        parts.append(Sentence(Text(NOT_VETTED, **numbers, fails=result["refused_fails"]["edge"])))
    if opened.only_what_occurs:
        parts.append(Sentence(f"{', '.join(opened.only_what_occurs)}: {ONLY_WHAT_OCCURS}"))
    show(Answer(result, parts))


def _offered(result: Json) -> dict[str, object]:
    """Summarize a new offer for its provider."""
    from tokumei.predictors.power_law import law_in_words

    found, fails, lots = result["attack"], result["refused_fails"], result["lots"]
    plain = {name: result[name] for name in result if name not in HIDDEN}
    if result["epsilon"] is None:
        plain.pop("epsilon")
    if not result["closed"]:
        plain.pop("closed")
        plain.pop("epsilon_before")
    if result["law"] is not None:
        plain["law"] = law_in_words(result["law"], result["k"])
    return {
        **plain,
        "refused by lot": f"{lots['allowed']:.0%} of what is allowed; of all refused {fails['allowed']:.0%} fail",
        "attack": "too many combinations of values for it" if found is None else f"proves no class below {found['k']}",
    }


def attack(
    desk: Annotated[Path, Argument(metavar="DESK", help="The folder of a desk, or of its public half.")],
    against: Annotated[
        Path | None, Option("--against", metavar="DESK2", help="Another desk, of the same table or one that grew.")
    ] = None,
    most: Annotated[int, Option("--most", min=1, help="Integer programs to solve at most.")] = 2_000,
    counts: Annotated[
        Path | None,
        Option("--counts", metavar="FILE", help="Write all published counts, to be attacked by 'attack table'."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Show what follows from everything public: the smallest class that can be proven, and of whom; exit code 1 if any.

    Example: tokumei exchange attack desk
    """
    from tokumei.exchange.attack import NO_TABLE, attack_two
    from tokumei.exchange.attack import attack as attack_one
    from tokumei.exchange.desk import DeskFolder
    from tokumei.exchange.opening import releases_at
    from tokumei.exchange.public_knowledge import count_table, knowledge_of

    desks = [DeskFolder(each) for each in (desk, against) if each is not None]
    known = [(each.offer()[0], releases_at(each)) for each in desks]
    with showing_progress(), guarded({"--counts": counts}, inputs=[desk], force=force) as drafts:
        if counts is not None:
            write_frame(count_table(knowledge_of(*known[0])), drafts["--counts"])
        if against is None:
            earlier = [each for each, _ in desks[0].revisions()[:-1]]
            found = attack_one(*known[0], most_programs=most, earlier=earlier)
        else:
            found = attack_two(*known, most_programs=most)
    parts: list[Section] = []
    if found.about == NO_TABLE:
        parts.append(Sentence(NOT_COMPARED))
    if found.proven:
        rows = [[str(each.as_dict()["class"]), each.least, each.most, each.k] for each in found.proven]
        parts.append(Rows(["class", "least", "most", "k"], rows, title=f"proven of {found.about}"))
    facts = {"k": found.k, "classes": found.n_classes, "integer programs": found.n_programs}
    parts.append(Facts(facts | {"proven below k": len(found.proven), "left open": found.n_open}))
    show(Answer(found.as_dict(), parts))
    if found.proven:
        raise click.exceptions.Exit(1)


def admit(
    desk: DeskOption,
    key: ProviderKeyOption,
    recipient: Annotated[
        list[str], Option("--recipient", metavar="NAME=FILE.pub:CRITERION", help="A user whom you know.")
    ],
) -> None:
    """Admit users to an offer by their keys, each with a criterion; this publishes a revision.

    Example: tokumei exchange admit --desk desk --key shop.key --recipient "A university=user.pub:trusted"
    """
    from tokumei.data.files.keys import read_private
    from tokumei.exchange.desk import DeskFolder, revise
    from tokumei.exchange.offer import admitted

    opened = DeskFolder(desk)
    made, signed = opened.offer()
    after = admitted(made, signed.digest, [read_recipient(each) for each in recipient])
    revise(opened, after, read_private(key))
    result = {"revision": after.revision, "recipients": [one.name for one in after.recipients]}
    show(Answer(result))


def read_recipient(text: str) -> Any:
    """Read NAME=FILE.pub:CRITERION."""
    from tokumei.core.errors import InputError
    from tokumei.data.files.keys import read_public
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
