"""`tokumei exchange`: what users, providers and the public do with offers; the desk's own commands are next door."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

from tokumei.cli.options import ForceOption, level_pairs, reads_tables
from tokumei.cli.output import show
from tokumei.cli.parameters import Argument, Option, pairs
from tokumei.core.errors import InputError
from tokumei.core.result import Answer, Facts, Rows, Section, Sentence
from tokumei.core.text import Json
from tokumei.data.files.reading import AS_IT_IS, Reading

LISTED = 30

OfferArgument = Annotated[Path, Argument(metavar="OFFER", help="The file of an offer.")]
LevelsOption = Annotated[
    list[str] | None, Option("--levels", metavar="A=1,B=2", help="Level of each column; the top if not named.")
]
CriterionOption = Annotated[
    str | None, Option("--criterion", help="By which of the offer's criteria; the strictest if not given.")
]
KeyOption = Annotated[Path, Option("--key", metavar="NAME.key", help="Your own key, to sign with.")]
OutOption = Annotated[Path, Option("--out", metavar="FILE", help="File to write.")]


def keys(
    name: Annotated[Path, Argument(metavar="NAME", help="NAME.key is yours alone, NAME.pub for everybody.")],
) -> None:
    """Make a key pair to sign with.

    Example: tokumei exchange keys shop
    """
    from tokumei.data.files.keys import PrivateKey, fingerprint, write_keys

    key = PrivateKey.fresh()
    private, public = write_keys(name, key)
    result = {"private": str(private), "public": str(public), "fingerprint": fingerprint(key.public)}
    show(Answer(result))


@reads_tables
def try_levels(
    file: OfferArgument,
    levels: LevelsOption = None,
    criterion: CriterionOption = None,
    data: Annotated[
        Path | None, Option("--data", metavar="FILE", help="Your own table, to see where it connects.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        Option("--columns", metavar="A=MINE", help="Your column for each of theirs; the same name if not given."),
    ] = None,
    limit: Annotated[int, Option("--limit", min=1, help="Nodes to list, fewest classes first.")] = LISTED,
    reading: Reading = AS_IT_IS,
) -> None:
    """Show what an offer predicts for levels: k with its band, and whether they can be requested.

    Nothing is counted and nobody is asked.

    Example: tokumei exchange try desk/offer.json --levels age=2,prefecture=1
    """
    from tokumei.exchange.offer import read_offer
    from tokumei.exchange.request import connections, try_all, try_node
    from tokumei.predictors.power_law import law_in_words

    offer, signed = read_offer(file)
    if levels is None:
        tried = try_all(offer, criterion=criterion, limit=limit)
    else:
        tried = [try_node(offer, _node(offer, levels), criterion=criterion)]
    found: list[Any] = []
    if data is not None:
        own = _own_columns(offer, data, columns, reading)
        found = [each for attribute, values in own.items() for each in connections(offer, attribute, values)]
    ways = [
        {
            "attribute": each.attribute,
            "column": each.column,
            "level": each.level,
            "values": each.n_values,
            "coverage": each.coverage,
            "connects": each.connects,
        }
        for each in found
    ]
    k = offer.criterion(criterion).k
    law = offer.law(k)
    values = {
        "offer": signed.digest,
        "rule": offer.rule,
        "law": law,
        "nodes": [each.as_dict() for each in tried],
        "connections": ways,
    }
    about = {"offer": offer.name, "by": offer.words.provider, "k": k, "rule": offer.rule}
    about |= {} if law is None else {"law": law_in_words(law, k)}
    show(Answer(values, [Facts(about), _tried(offer, tried), *_connected(ways)]))


def _tried(offer: Any, tried: list[Any]) -> Rows:
    """Table of the nodes that were tried."""
    from tokumei.predictors.predictor import deciding

    rows = [
        [
            ", ".join(str(level) for level in each.levels.values()),
            each.class_count,
            round(each.prediction.k),
            f"{each.prediction.low:,.0f}–{each.prediction.high:,.0f}",
            math.floor(deciding(each.judged, each.rule)),
            each.zone,
            each.why,
        ]
        for each in tried
    ]
    return Rows([", ".join(offer.lattice.attributes), "classes", "k", "band", "judged by", "zone", "why"], rows)


def _connected(ways: list[dict[str, object]]) -> list[Rows]:
    names = ("attribute", "level", "column", "values", "coverage", "connects")
    rows = [[each[name] for name in names] for each in ways]
    return [Rows(["attribute", "level", "your column", "values", "coverage", "connects"], rows)] if ways else []


def request(
    file: OfferArgument,
    levels: Annotated[list[str], Option("--levels", metavar="A=1,B=2", help="Level of each column you need.")],
    key: KeyOption,
    user: Annotated[str, Option("--user", help="Name of who asks.")],
    purpose: Annotated[str, Option("--purpose", help="Purpose of the request.")],
    out: OutOption,
    criterion: CriterionOption = None,
    force: ForceOption = False,
) -> None:
    """Request levels that the offer's formula allows.

    Example: tokumei exchange request desk/offer.json --levels age=2 --key me.key --user me --purpose study --out a.request.json
    """  # noqa: E501 - an example is one line.
    from tokumei.data.files.keys import read_private
    from tokumei.data.files.outputs import guarded
    from tokumei.exchange.offer import read_offer
    from tokumei.exchange.request import make_request

    offer, offered = read_offer(file)
    wanted = offer.lattice.levels(_node(offer, levels))
    signing = read_private(key)
    made = make_request(
        *(offer, offered.digest, wanted), signer=signing.public, user=user, purpose=purpose, criterion=criterion
    )
    with guarded({"--out": out}, inputs=[file, key], force=force) as drafts:
        signed = made.signed(signing)
        signed.write(drafts["--out"])
    result = {"request": signed.digest, "levels": wanted, "criterion": made.criterion, "out": str(out)}
    show(Answer(result))


def approve(
    file: Annotated[Path, Argument(metavar="REQUEST", help="The file of a request.")],
    key: KeyOption,
    out: OutOption,
    deny: Annotated[bool, Option("--deny", help="Refuse the request instead.")] = False,
    force: ForceOption = False,
) -> None:
    """Agree to a request as the second person that an offer asks for.

    Example: tokumei exchange approve in/a.request.json --key second.key --out in/a.approval.json
    """
    from tokumei.data.files.keys import read_private
    from tokumei.data.files.outputs import guarded
    from tokumei.exchange.request import Approval, read_request

    _, signed = read_request(file)
    with guarded({"--out": out}, inputs=[file, key], force=force) as drafts:
        Approval(signed.digest, not deny).signed(read_private(key)).write(drafts["--out"])
    result = {"request": signed.digest, "approved": not deny, "out": str(out)}
    show(Answer(result))


def verify(
    path: Annotated[
        Path, Argument(metavar="PATH", help="An offer, or the folder of a desk, with its private half or without.")
    ],
    key: Annotated[Path | None, Option("--key", metavar="NAME.pub", help="The key that must have signed it.")] = None,
    answer: Annotated[
        Path | None, Option("--answer", metavar="FILE", help="An answer, to hold against a public log.")
    ] = None,
    request: Annotated[
        Path | None, Option("--request", metavar="FILE", help="The request that the answer must be to.")
    ] = None,
    release: Annotated[
        Path | None, Option("--release", metavar="FILE", help="The release that must have come with it.")
    ] = None,
    log: Annotated[
        Path | None, Option("--log", metavar="FILE", help="The public log that the answer is held against.")
    ] = None,
) -> None:
    """Check signatures, logs and releases; name what was changed, removed or moved.

    Example: tokumei exchange verify desk --key shop.pub
    """
    from tokumei.data.files.keys import fingerprint, read_public
    from tokumei.exchange.desk import DeskFolder
    from tokumei.exchange.offer import read_offer
    from tokumei.exchange.watch import check_answer, verify_desk, verify_public

    is_desk = path.is_dir()
    offer, signed = read_offer(path / "offer.json" if is_desk else path)
    if key is not None and read_public(key) != signed.key:
        from tokumei.core.errors import PromiseBroken

        raise PromiseBroken(f"{path}: signed by {fingerprint(signed.key)}, not by the key in {key}.")
    result: dict[str, object] = {"offer": offer.name, "revision": offer.revision, "signed_by": fingerprint(signed.key)}
    # Only the provider has the private half of a desk.
    if is_desk:
        result |= verify_desk(DeskFolder(path)) if (path / "private").is_dir() else verify_public(path)
    if answer is not None:
        public_log = log or (path / "public.jsonl" if is_desk else None)
        result |= check_answer(answer, signed.key, public_log, request=request, release=release)
    elif request is not None or release is not None:
        raise InputError.of("--answer, which request and release are held against")
    show(Answer(result | {"is_good": True}, [Facts(result)]))


def watch(
    files: Annotated[list[Path], Argument(metavar="OFFER…", help="Files of offers.")],
    release: Annotated[
        Path | None, Option("--release", metavar="FILE", help="A release to hold against the first offer.")
    ] = None,
    levels: LevelsOption = None,
) -> None:
    """Look over offers: copies, partners for joint studies, and a release that its formula does not allow.

    Example: tokumei exchange watch a/offer.json b/offer.json
    """
    from tokumei.exchange.offer import read_offer
    from tokumei.exchange.offering import read_release
    from tokumei.exchange.watch import rows_of_first_release, tampering
    from tokumei.exchange.watch import watch as look_over

    offers = [read_offer(file)[0] for file in files]
    first = [
        rows_of_first_release(offer, file.parent / "first-release.csv")
        for offer, file in zip(offers, files, strict=True)
    ]
    result: Json = look_over([str(file) for file in files], offers, first)
    if release is not None:
        text = release.read_text(encoding="utf-8")
        classes = read_release(text, offers[0].lattice.attributes, file=str(release))
        result["tampering"] = tampering(offers[0], _node(offers[0], levels or []), classes)
    parts: list[Section] = [
        Rows(list(result[what][0]), [list(each.values()) for each in result[what]], title=what)
        for what in ("copies", "partners")
        if result[what]
    ]
    parts.append(Facts({"offers": len(offers), "copies": len(result["copies"]), "partners": len(result["partners"])}))
    parts += [Sentence(remark) for remark in result.get("tampering", [])]
    show(Answer(result, parts))


def _node(offer: Any, levels: list[str]) -> tuple[int, ...]:
    """Read a node; a column that is not named is at the top, since nobody asked for it."""
    given = level_pairs(levels) if levels else {}
    offer.lattice.node(given)
    node: tuple[int, ...] = offer.lattice.node(offer.lattice.levels(offer.lattice.top) | given)
    return node


def _own_columns(offer: Any, data: Path, columns: list[str] | None, reading: Reading) -> Json:
    from tokumei.data.files.formats import read_frame

    frame = read_frame(data, reading)
    named = pairs(columns, "--columns") if columns else {}
    own = {name: named.get(name, name) for name in offer.lattice.attributes}
    unknown = [*(set(named) - set(own)), *(set(named.values()) - set(frame.columns))]
    if unknown:
        expected = "columns of the offer and of your table"
        raise InputError.of(expected, option="--columns", value=", ".join(sorted(unknown)))
    return {name: frame[mine] for name, mine in own.items() if mine in frame.columns}
