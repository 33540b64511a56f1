"""Job files: read with errors by line, done step by step, gone on with after a stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tokumei as tk
from tokumei.core.errors import InputError
from tokumei.data.context import QUESTIONS
from tokumei.data.files.reading import AS_IT_IS
from tokumei.tasks import run_steps
from tokumei.tasks.inspect_table import inspect
from tokumei.tasks.job_writing import table_template
from tokumei.tasks.run_job import plan_job
from tokumei.tasks.verification import verify_dossier

PEOPLE = "name,sex,age,illness\n" + "".join(
    f"p{n},{'fm'[n % 2]},{30 + n % 4},{('flu', 'cold', 'gout')[n % 3]}\n" for n in range(24)
)
JOB = """
[job]
name = "people"
seed = 7

[input]
file = "people.csv"

[roles]
name = "identifier"
sex = "quasi-identifier"
age = "quasi-identifier"
illness = "sensitive"

[requirements]
k = 3

[[method]]
name = "optimal"

[[method]]
name = "mondrian"

[[threat]]
name = "neighbor"
knows = ["sex", "age"]
attacks = ["record-linkage", "homogeneity"]

[[bound]]
of = "k"
least = 3

[[bound]]
of = "neighbor: record-linkage certain"
most = 0.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path


@pytest.mark.slow
def test_job_writes_release_and_dossier_and_keeps_what_it_promised(folder: Path) -> None:
    done = tk.run(tk.Job.read(folder / "job.toml"), folder / "out")
    assert done.holds
    released = tk.read_frame(folder / "out" / "release.csv")
    assert released.columns == ["sex", "age", "illness"]
    assert tk.audit(released, qi=["sex", "age"], k=3).holds
    dossier = json.loads((folder / "out" / "dossier.json").read_text())
    assert dossier["results"]["chosen"] in ("optimal", "mondrian")
    assert [one["threat"] for one in dossier["results"]["attacks"]] == ["neighbor", "neighbor", "anybody"]
    losses = {one["method"]: one["loss"] for one in dossier["results"]["methods"]}
    assert losses[dossier["results"]["chosen"]] == min(losses.values())
    assert "7" not in json.dumps(dossier["seed"])


@pytest.mark.slow
def test_second_run_does_nothing_again_until_job_or_input_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = tk.Job.read(folder / "job.toml")
    first = tk.run(job, folder / "out")
    assert not first.steps_found
    again = tk.run(job, folder / "out")
    assert not again.steps_done
    assert again.results == first.results
    (folder / "people.csv").write_text(PEOPLE + "q,f,30,flu\n")
    assert "before" in tk.run(job, folder / "out").steps_done


@pytest.mark.slow
def test_step_whose_numbers_meant_another_thing_is_done_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = tk.Job.read(folder / "job.toml")
    monkeypatch.setattr("tokumei.tasks.run_steps.RESULTS", 1)
    tk.run(job, folder / "out")
    monkeypatch.undo()
    assert not tk.run(job, folder / "out").steps_found


def test_run_goes_on_after_a_stop_where_it_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = tk.Job.read(folder / "job.toml")
    with monkeypatch.context() as patched:
        patched.setattr(run_steps, "measure_table", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tk.run(job, folder / "out")
    done = tk.run(job, folder / "out")
    assert done.steps_done == ["use", "profile"]


@pytest.mark.slow
@pytest.mark.parametrize("stage", [1, 3, 5, 7])
def test_killed_at_any_stage_a_job_ends_as_if_it_never_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    text = JOB.replace('[[method]]\nname = "mondrian"\n', "").replace("seed = 7\n", "")
    job, out = tk.Job.of(text, folder=folder), folder / "out"
    ran = run_steps.StepStore.run

    def stopping(store: run_steps.StepStore, name: str, *rest: object) -> dict[str, object]:
        if len(store.done) + len(store.found) >= stage:
            # As a killed process leaves it: a draft, half written.
            (out / "steps" / f".{name}.json.draft").write_text('{"key": "')
            raise KeyboardInterrupt
        return ran(store, name, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(run_steps.StepStore, "run", stopping)
        with pytest.raises(KeyboardInterrupt):
            tk.run(job, out)
    assert not (out / "dossier.json").exists()
    done = tk.run(job, out)
    assert len(done.steps_found) == stage
    # The drawn seed was kept, so that what was done before and after the stop fits together.
    assert verify_dossier(out / "dossier.json").holds


def test_dry_run_tells_a_key_that_cannot_be_used_and_a_column_that_is_not_there(folder: Path) -> None:
    (folder / "short.key").write_text("short")
    for prepared in (
        'column = "name"\nby = "pseudonyms"\nkey = "short.key"',
        'column = "agee"\nby = "round"\nbase = 5',
    ):
        with pytest.raises(InputError):
            plan_job(tk.Job.of(f"{JOB}[[prepare]]\n{prepared}\n", folder=folder))
    assert not (folder / "out").exists()


def test_release_that_was_changed_by_hand_is_made_again(folder: Path) -> None:
    job = tk.Job.read(folder / "job.toml")
    tk.run(job, folder / "out")
    text = (folder / "out" / "release.csv").read_text()
    (folder / "out" / "release.csv").write_text("sex\nf\n")
    assert "choice" in tk.run(job, folder / "out").steps_done
    assert (folder / "out" / "release.csv").read_text() == text


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ('age = "quasi-identifier"', 'age = "quasi"', 12, "quasi-identifier"),
        ('name = "optimal"', 'name = "optimale"', 19, "optimal"),
        ("k = 3", "k = 0", 16, "whole number"),
        ("k = 3", "kk = 3", 16, "'k'"),
        ('of = "k"', 'of = "kk"', 30, "'k'"),
        ('knows = ["sex", "age"]', 'knows = ["sexe"]', 26, "[roles]"),
        ('attacks = ["record-linkage"', 'attacks = ["record-link"', 27, "record-linkage"),
        ('age = "quasi-identifier"', 'agee = "quasi-identifier"', 12, "age"),
        ('[job]\nname = "people"', "[jobb]", 2, "a section"),
    ],
)
def test_slips_of_a_job_file_are_told_by_line(folder: Path, old: str, new: str, line: int, said: str) -> None:
    (folder / "job.toml").write_text(JOB.replace(old, new, 1).replace('knows = ["sex", "age"]', 'knows = ["sex"]'))
    with pytest.raises(InputError) as caught:
        tk.run(tk.Job.read(folder / "job.toml"), folder / "out")
    assert caught.value.faults[0].line == line
    assert said in str(caught.value)


def test_population_is_counted_in_and_another_file_of_its_name_does_the_work_again(folder: Path) -> None:
    head, people = PEOPLE.split("\n", 1)
    everybody = folder / "everybody.csv"
    everybody.write_text(f"{head}\n{people * 2}")
    asked = 'k = 3\nk_map = 6\ndelta_presence = "0.5"\npopulation = "everybody.csv"\n'
    (folder / "job.toml").write_text(JOB.replace("k = 3\n", asked))
    done = tk.run(tk.Job.read(folder / "job.toml"), folder / "out")
    stated = [one["requirement"] for one in done.results["after"]["requirements"] if one["holds"]]
    assert stated == ["k-anonymity (k 3)", "k-map (k 6)", "delta-presence (delta max 0.5, delta min 0.0)"]
    assert tk.run(tk.Job.read(folder / "job.toml"), folder / "out").steps_done == []
    everybody.write_text(f"{head}\n{people * 3}")
    assert "method-1-optimal" in tk.run(tk.Job.read(folder / "job.toml"), folder / "out").steps_done


def test_values_as_far_as_their_hierarchy_says_are_held_against_it(folder: Path) -> None:
    (folder / "illness.csv").write_text("flu;cough;*\ncold;cough;*\ngout;pain;*\n")
    text = JOB.replace("k = 3\n", 'k = 3\nt_closeness = { illness = "0.9:hierarchical" }\n')
    text = text.replace("[requirements]", '[hierarchies]\nillness = "illness.csv"\n[requirements]')
    done = tk.run(tk.Job.of(text, folder=folder), folder / "out")
    assert all(one["holds"] for one in done.results["after"]["requirements"])


def test_rows_of_a_job_keep_their_order_where_it_asks_for_that(folder: Path) -> None:
    tk.run(tk.Job.of(JOB + "[output]\nkeep_order = true\n", folder=folder), folder / "out")
    assert (folder / "out" / "secret" / "rows.txt").read_text().split() == [str(n) for n in range(1, 25)]


def test_folder_of_something_else_is_left_alone(folder: Path) -> None:
    with pytest.raises(InputError):
        tk.run(tk.Job.read(folder / "job.toml"), folder)
    (folder / "other").mkdir()
    (folder / "other" / "x.txt").write_text("mine")
    with pytest.raises(InputError):
        tk.run(tk.Job.read(folder / "job.toml"), folder / "other")


@pytest.mark.slow
def test_template_of_any_file_runs_as_it_is(tmp_path: Path) -> None:
    for name, text in {
        "people": PEOPLE,
        "numbers": "a,b\n" + "".join(f"{n % 3},{n % 5}\n" for n in range(30)),
        "odd": '"a ""q""",b\tc,収入\n' + "".join(f"x{n % 2},y,{n}\n" for n in range(12)),
        "one": "c\nx\n",
        "marks": "a|b,c\n" + "".join(f"v|{n % 2},t\n" for n in range(20)),
        # Two sensitive columns, of which an attack that learns one learns each.
        "two": "性別,年齢,病名,年収\n"
        + "".join(f"{'男女'[n % 2]},{30 + n % 4},{('風邪', '骨折')[n % 3 % 2]},{3 + n % 5}00万円\n" for n in range(40)),
    }.items():
        (tmp_path / f"{name}.csv").write_text(text)
        file = tmp_path / f"{name}.csv"
        made = table_template(inspect(file), file, AS_IT_IS, beside=tmp_path)
        assert tk.run(tk.Job.of(made, folder=tmp_path), tmp_path / f"out-{name}").holds, name


def test_history_job_compares_methods_and_keeps_the_one_that_hides_most(tmp_path: Path) -> None:
    rows = [f"c{n % 6},2011-0{1 + n % 3}-0{1 + n % 7},i{n % 5},1.5,{1 + n % 2}" for n in range(60)]
    (tmp_path / "shop.csv").write_text("customer,date,item,price,quantity\n" + "\n".join(rows) + "\n")
    text = (
        '[job]\nkind = "history"\nseed = 1\n[input]\nfile = "shop.csv"\n[[method]]\nname = "pseudonyms"\nlifetime = 1\n'
        '[[method]]\nname = "pseudonyms"\nlifetime = 12\n'
        '[[threat]]\nname = "friend"\nshare = 0.5\nattacks = ["tfidf"]\n'
    )
    done = tk.run(tk.Job.of(text, folder=tmp_path), tmp_path / "out")
    assert done.results["chosen"] == "pseudonyms"
    found = [one["found"] for one in done.results["methods"]]
    assert done.results["attacks"][0]["scores"]["found"]["value"] == min(found)
    assert (tmp_path / "out" / "published.csv").exists()


def test_context_is_read_and_what_is_left_out_is_not_stated(folder: Path) -> None:
    text = (
        JOB + '[context]\nrecipient = "the board"\nenvironment = "enclave"\nreview_on = 2027-01-31\nmost_gain = 0.05\n'
    )
    job = tk.Job.of(text, folder=folder)
    told = {"recipient": "the board", "environment": "enclave", "review_on": "2027-01-31", "most_gain": 0.05}
    assert job.context.stated() == told
    assert tk.Job.of(JOB, folder=folder).context.stated() == {}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('environment = "cellar"', "one of public, contract, enclave"),
        ('review_on = "next year"', "a day, as 2027-01-31"),
        ("review_on = 2027-01-31T10:00:00", "a day, as 2027-01-31"),
        ("most_gain = 2", "a share from 0 to 1"),
        ('recipient = " "', "text that is not empty"),
        ("harm = 3", "one of low, moderate, high, severe"),
        ('recipents = "x"', "'recipient'"),
    ],
)
def test_slip_in_the_context_is_told_by_line(folder: Path, line: str, expected: str) -> None:
    text = f"{JOB}[context]\n{line}\n"
    with pytest.raises(InputError) as caught:
        tk.Job.of(text, folder=folder)
    (fault,) = caught.value.faults
    assert (fault.line, expected in fault.wanted) == (len(text.splitlines()), True), fault


def test_template_asks_every_question_and_its_examples_are_answers(folder: Path) -> None:
    lines = table_template(inspect(folder / "people.csv"), folder / "people.csv", AS_IT_IS, beside=folder).splitlines()
    at = lines.index("[context]")
    asked = [line.removeprefix("# ") for line in lines[at + 1 : at + 1 + len(QUESTIONS)]]
    job = tk.Job.of("\n".join([*lines[: at + 1], *asked, *lines[at + 1 + len(QUESTIONS) :]]), folder=folder)
    assert job.context.stated().keys() == QUESTIONS.keys()
