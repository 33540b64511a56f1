"""Commands that attack purchase histories and judge guesses, and what knowledge is worth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tokumei.cli.history import OutFormatOption, SetOption, read_master
from tokumei.cli.options import (
    EngineOption,
    ForceOption,
    ItemHierarchyOption,
    SeedOption,
    item_file,
    part_options,
    reads_histories,
)
from tokumei.cli.output import show, showing_progress
from tokumei.cli.parameters import Argument, Option
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Facts
from tokumei.core.text import Json
from tokumei.data.files.reading import AS_IT_IS, Reading


@reads_histories
def attack_history(
    attack: Annotated[
        str | None,
        Argument(
            metavar="[NAME]",
            help="See 'tokumei parts history-attack', or attribution, membership; with --threat, if given.",
        ),
    ] = None,
    releases: Annotated[
        list[Path] | None, Argument(metavar="[A B]", help="With link-releases: two releases of the same people.")
    ] = None,
    knowledge: Annotated[
        Path | None, Option("--knowledge", metavar="T25", help="The purchases that are known.")
    ] = None,
    release: Annotated[
        Path | None, Option("--release", metavar="S", help="What was published; with --threat, row for row.")
    ] = None,
    out: Annotated[Path | None, Option("--out", metavar="Fh", help="The guesses, a line a customer.")] = None,
    master: Annotated[
        Path | None, Option("--master", metavar="M", help="All customers; those known to buy if not given.")
    ] = None,
    truth: Annotated[Path | None, Option("--truth", metavar="F", help="Who is who: judge the guesses at once.")] = None,
    options: SetOption = None,
    threat: Annotated[
        str | None,
        Option("--threat", metavar="NAME", help="Who attacks: neighbor, spouse, data-broker, rivals or insider."),
    ] = None,
    original: Annotated[
        Path | None, Option("--original", metavar="T", help="The original, of which a threat knows some.")
    ] = None,
    rows: Annotated[
        Path | None, Option("--rows", metavar="FILE", help="The row of T behind each row of A, for attribution.")
    ] = None,
    control: Annotated[
        Path | None, Option("--control", metavar="C", help="Customers who are not in the release, for membership.")
    ] = None,
    people: Annotated[
        int, Option("--people", min=0, help="With membership: customers in and out who are asked about; 0 for all.")
    ] = 2_000,
    draws: Annotated[int, Option("--draws", min=1, help="How often a threat's knowledge is drawn.")] = 3,
    seed: Annotated[int, Option("--seed", min=0, help="Seed by which a threat's knowledge is drawn.")] = 1,
    hierarchy: ItemHierarchyOption = None,
    out_format: OutFormatOption = None,
    engine: EngineOption = "local",
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Guess the pseudonym of each customer in each month, from some purchases that are known.

    With --threat, somebody of a stated kind attacks several times: who is found, and who is at risk. --set changes what
    they know (share, rows, draw, days, price_share, item_characters, period, knows_places, is_told). --out lists those
    at risk.

    link-releases A B needs no knowledge: it tells which names of two releases are one person's, by habits learned on
    other people; --truth then has the columns first and second.

    'attribution' gives every published row to a customer, whatever its pseudonym, and tells how many are right: with
    --original, the release row for row, --rows where purchases were moved, and --threat if somebody else attacks than
    who knows a quarter of all purchases. --out lists the claims.

    'membership' tells whether customers are in the release: with --original, whose customers are, and --control, whose
    are not; of both the same share is known. --out lists those who are told.

    Example: tokumei attack history linkage --master M.csv --knowledge T25.csv --release S.csv --out Fh.csv
    """
    from tokumei.data.files.histories import form_of, form_of_release
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.attack_history import LINK_RELEASES, judge_files
    from tokumei.tasks.attack_history import attack_history as run

    if attack == LINK_RELEASES:
        if out is None or len(releases or []) != 2:
            raise InputError.of("two releases and --out, as link-releases A.csv B.csv --out pairs.csv")
        if engine != "local":
            raise InputError.of("the local engine, which link-releases needs", option="--engine", value=engine)
        _link(releases or [], out, truth, seed, reading, force=force)
        return
    if releases:
        raise InputError.of("link-releases, which takes two releases", value=str(releases[0]))
    if release is None:
        raise InputError.of("a release", option="--release")
    if control is not None and attack != "membership":
        raise InputError.of("membership, which asks who is in the release", option="--control")
    if threat is not None or attack in ("attribution", "membership"):
        if engine != "local":
            expected = "the local engine, which threats, attribution and membership need"
            raise InputError.of(expected, option="--engine", value=engine)
        asked = _Threatened(threat, attack, original, release, rows, control, people, draws, seed, item_file(hierarchy))
        _attack_as(asked, options, out, force=force, reading=reading)
        return
    if attack is None or knowledge is None or out is None:
        raise InputError.of("the NAME of an attack, --knowledge and --out; or --threat with --original")
    if rows is not None:
        raise InputError.of("attribution, which asks whose purchases rows are", option="--rows")
    items = item_file(hierarchy)
    guard = guarded({"--out": out}, inputs=[knowledge, release, master, truth, items], force=force)
    with showing_progress(), guard as drafts:
        customers = None if master is None else read_master(master, reading)["customer"].to_list()
        typed: dict[str, Any] = dict(part_options(options, run))
        how: dict[str, Any] = {"customers": customers, "reading": reading, "hierarchy": items, "engine": engine}
        done = run(knowledge, release, attack, **how, **typed)
        form = form_of_release(form_of(knowledge, reading), out_format, is_generalized=done.are_pairs)
        done.write(drafts["--out"], form)
    result: Json = {**done.to_dict(), "out": str(out)}
    if truth is None:
        show(Answer(result, [Facts({**done.facts, "out": str(out)}), *done.sections()[1:]]))
        return
    # The test is that which the guesses were chosen for.
    test: Json = {name: typed[name] for name in ("p", "alpha") if done.are_pairs and name in typed}
    judged = judge_files(out, truth, release, reading=reading, engine=engine, **test)
    success = {name: one for name, one in judged.to_dict().items() if name != "customers"}
    sections = [Facts({**done.facts, "out": str(out)}), *done.sections()[1:], *judged.sections()]
    show(Answer({**result, "success": success}, sections))


def _link(releases: list[Path], out: Path, truth: Path | None, seed: int, reading: Reading, *, force: bool) -> None:
    """Link the names of two releases, and write the pairs."""
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.link_releases import link_history_releases

    with showing_progress(), guarded({"--out": out}, inputs=[*releases, truth], force=force) as drafts:
        done = link_history_releases(*releases, truth=truth, seed=seed, reading=reading)
        done.write(drafts["--out"])
    result = {**done.to_dict(), "out": str(out)}
    show(Answer(result, [Facts({**done.facts, "out": str(out)}), *done.sections()[1:]]))


@dataclass(frozen=True)
class _Threatened:
    """Who attacks which release of what, how often."""

    threat: str | None
    attack: str | None
    original: Path | None
    release: Path
    rows: Path | None
    control: Path | None
    people: int
    draws: int
    seed: int
    hierarchy: Path | None


def _attack_as(
    asked: _Threatened, options: list[str] | None, out: Path | None, *, force: bool, reading: Reading
) -> None:
    """Attack under a threat model; the customers at risk, those told, or the claims, go to a file if one is named."""
    from tokumei.data.files.formats import write_frame
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.attack_membership import attack_membership
    from tokumei.tasks.attribute_history import attribute_history
    from tokumei.tasks.threat_history import threat_history

    if asked.original is None:
        raise InputError.of("the original, of which the attacker knows some", option="--original")
    how: dict[str, Any] = {"draws": asked.draws, "seed": asked.seed, "reading": reading, "hierarchy": asked.hierarchy}
    inputs = [asked.original, asked.release, asked.hierarchy, asked.rows, asked.control]
    with showing_progress(), guarded({"--out": out}, inputs=inputs, force=force) as drafts:
        if asked.attack == "attribution":
            how |= {"sources": asked.rows, **part_options(options, attribute_history)}
            claimed = attribute_history(asked.original, asked.release, asked.threat, **how)
            if out is not None:
                write_frame(claimed.numbered_claims, drafts["--out"])
            show(claimed)
            return
        if asked.attack == "membership" and asked.rows is None:
            if asked.control is None:
                raise InputError.of("the customers who are not in the release", option="--control")
            how |= {"control": asked.control, "people": asked.people, **part_options(options, attack_membership)}
            told = attack_membership(asked.original, asked.release, asked.threat, **how)
            if out is not None:
                write_frame(told.riskiest, drafts["--out"])
            show(told)
            return
        if asked.rows is not None or asked.threat is None:
            raise InputError.of("attribution, which asks whose purchases rows are", option="--rows")
        how |= {"attacks": None if asked.attack is None else [asked.attack], **part_options(options, threat_history)}
        done = threat_history(asked.original, asked.release, asked.threat, **how)
        if out is not None:
            write_frame(done.at_risk, drafts["--out"])
    show(done)


@reads_histories
def judge(
    guess: Annotated[Path, Argument(metavar="Fh", help="The guesses: by customer, by pseudonym, or by row.")],
    truth: Annotated[Path, Option("--truth", metavar="F", help="Who is who.")],
    published: Annotated[
        Path | None, Option("--published", metavar="S", help="What was published: also judge purchase by purchase.")
    ] = None,
    p: Annotated[
        str | None,
        Option("--p", metavar="CHANCE", help="Of a generalized release: chance of a right guess allowed, 1/3."),
    ] = None,
    alpha: Annotated[
        str | None, Option("--alpha", metavar="LEVEL", help="Of a generalized release: level of the test, 0.01/20.")
    ] = None,
    engine: EngineOption = "local",
    reading: Reading = AS_IT_IS,
) -> None:
    """Judge guesses by the truth: the share of customers, of their months, of pseudonyms and of purchases found.

    Example: tokumei judge --truth F.csv --published S.csv Fh.csv
    """
    from tokumei.tasks.attack_history import judge_files

    with showing_progress():
        judged = judge_files(guess, truth, published, reading=reading, engine=engine, p=p, alpha=alpha)
    show(judged)


@reads_histories
def knowledge(
    file: Annotated[Path, Argument(metavar="T", help="The history whose customers are looked for.")],
    release: Annotated[
        Path | None, Option("--release", metavar="A", help="Look for them in this release instead.")
    ] = None,
    weight: Annotated[
        str,
        Option(
            "--weight",
            metavar="baskets|rows|usual",
            help="What share meets a piece of knowledge: of baskets, of rows, or of rows where an item is known.",
        ),
    ] = "usual",
    unicity: Annotated[
        bool, Option("--unicity", help="Show instead how many known purchases single customers out.")
    ] = False,
    points: Annotated[int, Option("--points", min=1, help="With --unicity: the most purchases known.")] = 10,
    draws: Annotated[int, Option("--draws", min=1, help="With --unicity: how often they are drawn.")] = 5,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, Option("--out", metavar="FILE.html", help="Write a page with the table and a figure.")
    ] = None,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
) -> None:
    """Show how dangerous each kind of knowledge is: the risk of being found, measured and predicted.

    With --unicity: the share of customers whom 1, 2, … purchases of their own single out, by how exactly each is
    known; of a release, name it in the place of T.

    Example: tokumei knowledge T.csv --out knowledge.html
    """
    from tokumei.data.files.outputs import guarded
    from tokumei.tasks.report_history import knowledge_history

    asked: Json = {"weight": weight}
    if unicity:
        asked |= {"unicity": True, "points": points, "draws": draws, "seed": seed}
    read = [file, release]
    with showing_progress(), guarded({"--out": out}, inputs=read, pages=["--out"], force=force) as drafts:
        done = knowledge_history(file, release, reading=reading, **asked)
        if out is not None:
            done.page().write(drafts["--out"])
    show(done)
