"""Commands on purchase histories: anonymize, measure, attack, judge, and what knowledge is worth."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from tokumei.cli.options import ForceOption, names, part_options
from tokumei.cli.output import JsonFlag, print_facts, print_json, print_table, showing_progress
from tokumei.cli.reading import reads_histories
from tokumei.core.errors import InputError
from tokumei.data.files.reading import AS_IT_IS, Reading

measure_app = typer.Typer(help="Measure what use of a release is left.", no_args_is_help=True)
attack_app = typer.Typer(help="Attack a release.", no_args_is_help=True)

SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the method; repeatable.")
]
OutFormatOption = Annotated[
    str | None,
    typer.Option(
        "--out-format", metavar="FORMAT", help="table, or that of a contest such as pwscup2017; as read if not given."
    ),
]
OriginalOption = Annotated[Path, typer.Option("--original", metavar="T", help="The original history.")]
ReleaseOption = Annotated[Path, typer.Option("--release", metavar="A", help="The release, row for row.")]


@reads_histories
def anonymize_history(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A history: T of a contest, or a table with a header.")],
    out: Annotated[Path, typer.Option("--out", metavar="OUT", help="The release, row for row, deleted rows too.")],
    method: Annotated[str | None, typer.Option("--method", help="See 'tokumei parts history-anonymizer'.")] = None,
    options: SetOption = None,
    pipeline: Annotated[
        Path | None, typer.Option("--pipeline", metavar="FILE.toml", help="Several methods, one after the other.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="The same seed gives the same release; a secret one is drawn if not given."),
    ] = None,
    published: Annotated[
        Path | None, typer.Option("--published", metavar="S", help="Also write the rows left, shuffled.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option("--truth", metavar="F", help="Also write who is who, to judge attacks by.")
    ] = None,
    out_format: OutFormatOption = None,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Anonymize a purchase history by one method or a pipeline.

    Example: tokumei anonymize history T.csv --method pseudonyms --set lifetime=1 --seed 1 --out AT.csv
    """
    from tokumei.anonymize.pipeline import Pipeline, read_pipeline
    from tokumei.anonymize.registry import HISTORY_ANONYMIZERS
    from tokumei.attack.truth import published as publish
    from tokumei.attack.truth import truth_of
    from tokumei.cli.generalized import is_generalized, write_generalized
    from tokumei.core.seeds import fresh_seed
    from tokumei.data.files.histories import (
        form_of,
        form_of_release,
        read_history,
        write_released_history,
    )
    from tokumei.data.files.outputs import guarded
    from tokumei.data.files.pseudonyms import write_pseudonyms
    from tokumei.data.history import History

    if (method is None) == (pipeline is None):
        raise InputError.of("either --method or --pipeline")
    started = time.perf_counter()
    outputs = {"--out": out, "--published": published, "--truth": truth}
    with showing_progress(), guarded(outputs, inputs=[file, pipeline], force=force) as drafts:
        original = read_history(file, reading)
        form = out_format or form_of_release(form_of(file, reading))
        if pipeline is not None:
            steps = read_pipeline(pipeline)
            used = seed if seed is not None else steps.seed
        else:
            steps = Pipeline((HISTORY_ANONYMIZERS.make_from_text(str(method), part_options(options)),))
            used = seed
        if used is None:
            # Who can guess the seed can make the release again, and sees whose each pseudonym is.
            used = fresh_seed()
        release = steps.anonymize(original, seed=used)
        if is_generalized(release):
            n_released, n_pseudonyms = write_generalized(
                release, drafts["--out"], drafts.get("--published"), drafts.get("--truth")
            )
        else:
            released = History(release.frame, str(out))
            n_released, n_pseudonyms = released.kept.height, len(released.customers)
            write_released_history(released, drafts["--out"], form)
            if published is not None:
                write_released_history(publish(released, seed=used), drafts["--published"], form)
            if truth is not None:
                # Rows that a method adds have no row of the original beside them, but their customers have names.
                named = release.pseudonyms if release.pseudonyms is not None else truth_of(original, released)
                write_pseudonyms(named, original.customers, drafts["--truth"], form)
    result: dict[str, Any] = {
        "method": method or "pipeline",
        "rows": original.n_rows,
        "released": n_released,
        "made_up": 0 if release.rows is None else release.rows.null_count(),
        "customers": len(original.customers),
        "pseudonyms": n_pseudonyms,
        "seed": used,
        "seconds": round(time.perf_counter() - started, 3),
        "out": str(out),
    }
    # A seed is a name, not an amount.
    print_json(result) if json else print_facts(result | {"seed": str(used)})


@measure_app.command("history")
@reads_histories
def measure_history(
    original: OriginalOption,
    release: ReleaseOption,
    measures: Annotated[
        str | None, typer.Option("--measures", metavar="A,B,…", help="Only these; all if not given.")
    ] = None,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Measure how much use a released history lost, by every measure.

    Example: tokumei measure history --original T.csv --release AT.csv
    """
    from tokumei.cli.generalized import measure_generalized
    from tokumei.core.progress import step
    from tokumei.data.files.histories import is_generalized_file, read_history, read_released_history
    from tokumei.measure.registry import HISTORY_UTILITIES

    if is_generalized_file(release):
        measure_generalized(original, release, json=json)
        return
    wanted = names(measures, "--measures") if measures else list(HISTORY_UTILITIES)
    parts = {name: HISTORY_UTILITIES.make(name) for name in wanted}
    started = time.perf_counter()
    scores = {}
    with showing_progress():
        before, after = read_history(original, reading), read_released_history(release, reading)
        with step("measuring", len(parts)) as bar:
            for name, part in parts.items():
                scores[name] = part.measure(before, after)
                bar.advance()
    seconds = round(time.perf_counter() - started, 3)
    if json:
        print_json({"scores": {name: score.as_dict() for name, score in scores.items()}, "seconds": seconds})
        return
    rows = [[name, score.value, score.best, score.worst] for name, score in scores.items()]
    print_table(["measure", "value", "best", "worst"], rows)


@attack_app.command("history")
@reads_histories
def attack_history(
    attack: Annotated[str, typer.Argument(metavar="NAME", help="See 'tokumei parts history-attack'.")],
    knowledge: Annotated[Path, typer.Option("--knowledge", metavar="T25", help="The purchases that are known.")],
    release: Annotated[Path, typer.Option("--release", metavar="S", help="What was published.")],
    out: Annotated[Path, typer.Option("--out", metavar="Fh", help="The guesses, a line a customer.")],
    master: Annotated[
        Path | None, typer.Option("--master", metavar="M", help="All customers; those known to buy if not given.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option("--truth", metavar="F", help="Who is who: judge the guesses at once.")
    ] = None,
    options: SetOption = None,
    out_format: OutFormatOption = None,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Guess the pseudonym of each customer in each month, from some purchases that are known.

    Example: tokumei attack history linkage --master M.csv --knowledge T25.csv --release S.csv --out Fh.csv
    """
    from tokumei.attack.generalized import GENERALIZED_ATTACKS
    from tokumei.attack.registry import HISTORY_ATTACKS
    from tokumei.cli.generalized import attack_generalized
    from tokumei.contest.editions.pwscup2017.files import read_master
    from tokumei.core.progress import step
    from tokumei.data.files.histories import (
        form_of,
        form_of_release,
        read_known_history,
        read_released_history,
    )
    from tokumei.data.files.outputs import guarded
    from tokumei.data.files.pseudonyms import write_pseudonyms

    if attack in GENERALIZED_ATTACKS:
        attack_generalized(attack, knowledge, release, out, force=force, json=json)
        return
    part = HISTORY_ATTACKS.make_from_text(attack, part_options(options))
    started = time.perf_counter()
    guard = guarded({"--out": out}, inputs=[knowledge, release, master, truth], force=force)
    with showing_progress(), guard as drafts, step(f"attacking by {attack}"):
        known, seen = read_known_history(knowledge, reading), read_released_history(release, reading)
        form = out_format or form_of_release(form_of(knowledge, reading))
        customers = known.customers if master is None else read_master(master)["customer"].to_list()
        guesses = part.guess(known, seen)
        write_pseudonyms(guesses, customers, drafts["--out"], form)
    result: dict[str, Any] = {
        "attack": attack,
        "customers": len(customers),
        "guesses": guesses.height,
        "seconds": round(time.perf_counter() - started, 3),
        "out": str(out),
    }
    if truth is not None:
        result["success"] = _judge_files(out, truth)
    if json:
        print_json(result)
        return
    success = result.pop("success", None)
    print_facts(result)
    if success is not None:
        _print_success(success)


def _judge_files(guess: Path, truth: Path) -> dict[str, dict[str, Any]]:
    """Judge a file of guesses by the file of the truth."""
    from tokumei.attack.judge import judge as judge_guesses
    from tokumei.data.files.pseudonyms import read_pseudonyms

    right, customers, periods = read_pseudonyms(truth)
    guessed, _, _ = read_pseudonyms(guess)
    verdict = judge_guesses(guessed, right, customers, periods)
    scores = {"row": verdict.row, "cell": verdict.cell, "pseudonym": verdict.pseudonym}
    return {name: score.as_dict() for name, score in scores.items()}


def _print_success(scores: dict[str, dict[str, Any]]) -> None:
    rows = [[name, one["value"], one["baseline"], one.get("interval")] for name, one in scores.items()]
    print_table(["success", "value", "guessing blindly", "95 % interval"], rows)


def judge(
    guess: Annotated[Path, typer.Argument(metavar="Fh", help="The guesses.")],
    truth: Annotated[Path, typer.Option("--truth", metavar="F", help="Who is who.")],
    json: JsonFlag = False,
) -> None:
    """Judge guesses by the truth: the share of customers, and of customer months, that are found.

    Example: tokumei judge --truth F.csv Fh.csv
    """
    from tokumei.cli.generalized import is_guess_of_2018, judge_generalized
    from tokumei.data.files.pseudonyms import read_pseudonyms

    if is_guess_of_2018(truth):
        judge_generalized(guess, truth, json=json)
        return
    scores = _judge_files(guess, truth)
    if json:
        print_json(scores | {"customers": len(read_pseudonyms(truth)[1])})
        return
    _print_success(scores)


@reads_histories
def knowledge(
    file: Annotated[Path, typer.Argument(metavar="T", help="The history whose customers are looked for.")],
    release: Annotated[
        Path | None, typer.Option("--release", metavar="A", help="Look for them in this release instead.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.html", help="Write a page with the table and a figure.")
    ] = None,
    force: ForceOption = False,
    reading: Reading = AS_IT_IS,
    json: JsonFlag = False,
) -> None:
    """Show how dangerous each kind of knowledge is: the risk of being found, measured and predicted.

    Example: tokumei knowledge T.csv --out knowledge.html
    """
    from tokumei.attack.background import danger_by_kind, measure_risks, predict_risks
    from tokumei.core.progress import step
    from tokumei.data.files.histories import read_history, read_released_history
    from tokumei.data.files.outputs import guarded
    from tokumei.report.knowledge_page import knowledge_page

    guard = guarded({"--out": out}, inputs=[file, release], force=force)
    with showing_progress(), guard as drafts, step("measuring knowledge"):
        original = read_history(file, reading)
        risks = measure_risks(original, None if release is None else read_released_history(release, reading))
        theory = predict_risks(original)
        danger = danger_by_kind(risks)
        if out is not None:
            knowledge_page(original, risks, theory, danger).write(drafts["--out"])
    rows = [
        {"attacker": number, "knows": score.name, "measured": score.value, "theory": expected}
        for number, (score, expected) in enumerate(zip(risks, theory, strict=True))
    ]
    if json:
        print_json({"attackers": rows, "danger": danger.to_dicts()})
        return
    print_table(["attacker", "knows", "measured", "theory"], [list(row.values()) for row in rows])
    print_table(danger.columns, [list(row) for row in danger.iter_rows()], title="Which kind of knowledge is dangerous")
