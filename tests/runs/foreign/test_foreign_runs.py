"""Runs that MLflow, trackio and Optuna recorded: read from their own files, recounted and priced.

files/ has what these programs wrote (MLflow 3.17, trackio 0.43, Optuna 5.0), paths left out.
"""

import gzip
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dpcore
from dpcore.__main__ import main
from dpcore.runs.expected import seconds_for
from dpcore.runs.export import FORMS, record_of
from dpcore.runs.export.data_forms import figures_of
from dpcore.runs.foreign.database import MAGIC
from dpcore.runs.foreign.price import price_in_words, price_of
from dpcore.runs.foreign.runs import Columns, Found, found_in, keep
from dpcore.runs.foreign.table import MAX_ROWS, read_table
from dpcore.runs.record import Status
from dpcore.runs.resume import ended_early
from dpcore.runs.run_table import Wanted, ended
from dpcore.runs.store import Store
from dpcore.runs.sweeps import all_released
from dpcore.training.config import RunConfig
from tests.commands.printed import Output, printed

FILES = Path(__file__).parent / "files"
NAMES = Columns(
    sigma="noise_multiplier",
    q="sample_rate",
    steps="steps",
    delta="1e-5",
    examples="60,000",
    epsilon="eps",
    accuracy="accuracy",
)
OF_TRIALS = NAMES._replace(accuracy="value")
WORDS = [
    *("--sigma", "noise_multiplier", "--q", "sample_rate", "--steps", "steps"),
    *("--delta", "1e-5", "--examples", "60_000"),
    *("--epsilon", "eps", "--accuracy", "accuracy"),
]
ONE = dpcore.Mechanism.constant(q=0.1, sigma=1.0, steps=10)
FIRST = dpcore.Mechanism.constant(q=0.01, sigma=1.1, steps=1000)
SECOND = dpcore.Mechanism.constant(q=0.01, sigma=0.9, steps=1000)


def content_of(name: str) -> bytes:
    content = (FILES / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content


def found(name: str, columns: Columns = NAMES, study: str = "") -> Found:
    return found_in(read_table(content_of(name), study), columns)


def of(text: str, columns: Columns = NAMES) -> Found:
    return found_in(read_table(text.encode()), columns)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The home that DPCORE_HOME names, with each file there, as its program left it."""
    monkeypatch.setenv("DPCORE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for path in FILES.iterdir():
        Path(path.name.removesuffix(".gz")).write_bytes(content_of(path.name))
    return tmp_path / "home"


@pytest.mark.parametrize("name", ["mlflow.csv", "trackio.db.gz"])
def test_every_row_is_read_or_said_and_nothing_is_guessed(name):
    told = found(name)
    runs = sorted(told.runs, key=lambda run: run.label)
    said = [(run.label[-1], run.release.sigma, run.epsilon.text, run.accuracy) for run in runs]
    assert said == [("0", 1.1, "2.05", 0.931), ("1", 0.9, "1.2", 0.944)]
    assert {(run.release.q, run.release.count) for run in runs} == {(0.01, 1000)}
    assert {(run.request.delta, run.request.examples) for run in runs} == {(1e-5, 60_000)}
    why = {row.label: row.why for row in told.left_out}
    assert "noise_multiplier: it is empty." in why.pop(runs[0].label[:-1] + "2")
    assert why.pop(runs[0].label[:-1] + "3") == "Expected q=1.7 to be above 0 and at most 1."
    assert "to be a finite number" in why.pop(runs[0].label[:-1] + "4")
    assert all("was RUNNING when it was written" in each for each in why.values())
    assert len(why) == (name == "mlflow.csv")


@pytest.mark.parametrize(("name", "study"), [("optuna.csv", ""), ("optuna.db.gz", "dp")])
def test_a_study_has_its_trials_those_that_were_pruned_too(name, study):
    told = found(name, OF_TRIALS, study)
    assert [run.label for run in told.runs] == ["trial 0", "trial 1", "trial 2"]
    assert [run.release.sigma for run in told.runs] == [1.1, 0.9, 2.0]
    assert [run.accuracy for run in told.runs] == [0.9, 0.91, None]
    assert [run.status for run in told.runs] == [
        Status.FINISHED,
        Status.FINISHED,
        Status.CANCELLED,
    ]
    assert [row.label for row in told.left_out] == ["trial 3", "trial 4"]


def test_a_file_of_several_studies_asks_for_one():
    with pytest.raises(ValueError, match="one of the studies in the file: dp, other"):
        found("optuna.db.gz", OF_TRIALS)
    assert len(found("optuna.db.gz", OF_TRIALS, "other").runs) == 1


def test_epsilon_is_recounted_and_the_choice_is_priced(home: Path, capsys: Output):
    told = printed(capsys, ["runs", "import", "mlflow.csv", *WORDS])
    second, first = told["runs"]
    for run, mechanism in ((first, FIRST), (second, SECOND)):
        counted = dpcore.epsilon(mechanism, delta=1e-5)
        assert run["certified_epsilon"] == [counted.lower, counted.value]
    assert (first["told_epsilon"], first["standing"]) == (2.05, "holds")
    assert (second["told_epsilon"], second["standing"]) == (1.2, "refuted")
    assert told["best"] == second["id"]
    both = dpcore.epsilon(FIRST + SECOND, delta=1e-5)
    assert told["epsilon_of_choosing"] == pytest.approx(both.value, rel=1e-3)
    assert told["epsilon_of_choosing"] > second["certified_epsilon"][1]
    with Store(home) as store:
        kept = [store.run(each["id"]) for each in (first, second)]
        assert set(all_released(kept).releases) == set((FIRST + SECOND).releases)
        assert {run.imported for run in kept} == {"row 6 of mlflow.csv", "row 5 of mlflow.csv"}


def test_a_person_reads_what_was_imported_left_out_and_what_the_best_costs(
    home: Path, capsys: Output
):
    assert main(["runs", "import", "trackio.db", *WORDS]) == 0
    out, err = capsys.readouterr()
    assert "run-1  0.9    0.01  1,000  94.40%    1.2, refuted  2.31 to 2.32 (proven from" in out
    assert "Imported 2 runs of trackio.db. The values are as told, not observed." in out
    assert "Best: row 2 (run-1), accuracy 94.4 %; alone, epsilon 2.31 to 2.32" in out
    assert "Released as the best of 2 runs, it costs epsilon of at most 2.77 at delta" in out
    assert "That holds if no sigma, q or number of steps was chosen by the results of" in out
    assert "if they trained on the data, choosing costs more." in out
    assert "Left out row 4 (run-3): Expected q=1.7 to be above 0 and at most 1.\n" in err
    assert err.count("\n") == 3


def test_an_imported_run_enters_no_best_list_and_no_estimate_and_nobody_goes_on_with_it(
    home: Path, capsys: Output
):
    told = printed(capsys, ["runs", "import", "optuna.csv", *WORDS[:-1], "value"])
    with Store(home) as store:
        first, _, pruned = [store.run(each["id"]) for each in told["runs"]]
        assert (first.kind, first.status, first.done) == ("followed", Status.FINISHED, 1000)
        assert first.tags == ("optuna.csv",)
        assert (pruned.status, pruned.error) == (Status.CANCELLED, "It was PRUNED there.")
        assert ended(store, Wanted(), 10) == []
        assert seconds_for(store, RunConfig(epochs=3)) is None
        assert not ended_early(pruned)
        with pytest.raises(ValueError, match=f"Run {first.id} was imported, as row 1 of"):
            dpcore.follow("mine", id=first.id, delta=1e-5, examples=60_000, batch=600, sigma=1.1)
        record = record_of(store, first.id)
        mark = "imported: values as told, not observed"
        assert mark in FORMS["card"].write([record])
        assert f"finished, {mark}" in FORMS["csv"].write([record])
        figures = {figure.name: figure.value for figure in figures_of(record)}
        assert figures["told/epsilon"] == 2.05
        assert figures["privacy/epsilon"] == told["runs"][0]["certified_epsilon"][1]
    assert main(["runs", "list", "--kind", "all"]) == 0
    assert f"{first.id}  finished, imported   " in capsys.readouterr().out


TABLE = "sigma,q,steps,acc,eps\n"


def columns_of(**more: str) -> Columns:
    plain = Columns("sigma", "q", "", "steps", "1e-5", "1000", "eps", "acc")
    return plain._replace(**more)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (",0.1,10,,", "Expected sigma in the column sigma: it is empty."),
        ("None,0.1,10,,", "Expected sigma in the column sigma: it is empty."),
        ("0,0.1,10,,", "Expected sigma=0.0 to be above 0."),
        ("-1,0.1,10,,", "Expected sigma=-1.0 to be above 0."),
        ("inf,0.1,10,,", "Expected sigma='inf' to be a finite number."),
        ("1e400,0.1,10,,", "Expected sigma='1e400' to be a finite number."),
        ("loud,0.1,10,,", "Expected sigma='loud' to be a finite number."),
        ("1,0,10,,", "Expected q=0.0 to be above 0 and at most 1."),
        ("1,NaN,10,,", "Expected q='NaN' to be a finite number."),
        ("1,0.1,2.5,,", "Expected steps=2.5 to be a whole number."),
        ("1,0.1,0,,", "Expected steps=0 to be a whole number from 1"),
        ("1,0.1,1e300,,", "to be a whole number from 1"),
    ],
)
def test_a_row_that_lacks_a_number_is_left_out_and_the_others_are_kept(row, why):
    told = of(f"{TABLE}1,0.1,10,,\n{row}\n2,0.1,10,,\n", columns_of())
    assert [run.place for run in told.runs] == [1, 3]
    (left_out,) = told.left_out
    assert left_out.place == 2
    assert why in left_out.why


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("1,0.1,10,93.1,", "Expected accuracy=93.1 to be at least 0 and at most 1."),
        ("1,0.1,10,nan,", "Expected acc='nan' to be a finite number."),
        ("1,0.1,10,,0", "Expected epsilon=0.0 to be above 0."),
        ("1,0.1,10,,inf", "Expected eps='inf' to be a finite number."),
    ],
)
def test_a_row_is_kept_without_what_no_epsilon_needs(row, why):
    told = of(f"{TABLE}{row}\n", columns_of())
    (run,) = told.runs
    assert (run.epsilon, run.accuracy) == (None, None)
    assert told.remarks[0].why == why
    assert price_of(told.runs).best is None


def test_a_batch_gives_the_rate_and_columns_have_any_separator():
    told = of("sigma;b;n;t;d\n1.5;100;1000;20;1e-6\n", Columns("sigma", "", "b", "t", "d", "n"))
    (run,) = told.runs
    assert (run.release.q, run.request.delta, run.request.examples) == (0.1, 1e-6, 1000)
    quoted = of(
        'sigma,note\n1.5,"two\nlines, and a comma"\n',
        columns_of(q="0.1", steps="9", epsilon="", accuracy=""),
    )
    assert quoted.runs[0].release.count == 9


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (columns_of(sigma="noise"), "Expected --sigma `noise` to be a number or one of the"),
        (columns_of(sigma="", delta=""), "Expected --sigma, --delta with a table"),
        (columns_of(q=""), "Expected --q or --batch with a table"),
        (columns_of(batch="q"), "Expected --q or --batch, not both"),
    ],
)
def test_a_column_that_is_not_there_is_asked_for_with_those_that_are(columns, said):
    with pytest.raises(ValueError, match=said) as refused:
        of(f"{TABLE}1,0.1,10,,\n", columns)
    assert "not both" in said or "`sigma`, `q`, `steps`" in str(refused.value)


def test_a_name_that_may_mean_two_columns_is_not_chosen_from():
    text = "params.eps,metrics.eps,sigma,q,steps,acc\n1,2,1,0.1,10,0.5\n"
    with pytest.raises(ValueError, match=r"name one of: params\.eps, metrics\.eps"):
        of(text, columns_of())
    assert of(text, columns_of(epsilon="metrics.eps")).runs[0].epsilon.text == "2"


def damaged() -> bytes:
    return content_of("optuna.db.gz")[:30_000]


def of_views() -> bytes:
    """A database whose tables are views that never end."""
    with sqlite3.connect(":memory:") as db:
        for name in ("metrics", "configs"):
            db.execute(
                f"CREATE VIEW {name} AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1"
                " FROM n) SELECT * FROM n"
            )
        return db.serialize()


def of_wrong_types() -> bytes:
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE configs (id, run_name, config)")
        db.execute("CREATE TABLE metrics (id, run_name)")
        db.execute("INSERT INTO metrics VALUES (1, 'a')")
        return db.serialize()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: b"", "at least one run"),
        (lambda: b"sigma,q\n", "at least one run"),
        (lambda: b"\xff\xfe\x00", "to be a table in CSV"),
        (lambda: b'a,b\n"1,2\n', "to be a table in CSV"),
        (lambda: b"a,a\n1,2\n", "each column of the table to have a name of its own"),
        (lambda: b"a,b\n1,2\n1,2,3\n", "Expected row 2 of the table to have 2 cells"),
        (lambda: b"a\n" + b"1\n" * (MAX_ROWS + 1), f"at most {MAX_ROWS} runs"),
        (lambda: MAGIC, "Expected the database to be readable"),
        (damaged, "Expected the database to be readable"),
        (of_views, "Expected a database of Optuna or trackio"),
        (of_wrong_types, "Expected the database to be readable"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_a_sentence(made: Callable[[], bytes], said: str):
    with pytest.raises(ValueError, match=said):
        read_table(made())


def test_the_command_says_what_it_lacks_and_keeps_nothing(home: Path, capsys: Output):
    def refused(*words: str) -> Any:
        assert main(["runs", "import", *words]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert not home.exists()
        return err

    assert "Expected --sigma, --steps, --delta, --examples, --q or" in refused("mlflow.csv")
    Path("bad.csv").write_text("noise_multiplier,sample_rate,steps,eps,accuracy\n,,,,\n")
    said = refused("bad.csv", *WORDS)
    assert "none of 1 is such a row. First, row 1: Expected examples" not in said
    assert "First, row 1: Expected steps in the column steps: it is empty." in said
    for name, value in zip(WORDS[::2], WORDS[1::2], strict=True):
        others = [each for each in WORDS if each not in (name, value)]
        for wrong in ("x", "nan", ""):
            said = refused("trackio.db", *others, f"{name}={wrong}")
            assert said.startswith(f"dpcore: Expected {name}")
    said = refused("trackio.db", *WORDS[2:], "--sigma=-1")
    assert "First, row 1 (run-0): Expected sigma=-1.0 to be above 0." in said
    Path("run.json").write_text("{}")
    assert "Expected no --sigma with a run in JSON" in refused("run.json", "--sigma", "s")


def test_the_price_says_what_it_does_not_cover():
    def said(*rows: str) -> str:
        told = of(TABLE + "\n".join(rows), columns_of())
        return price_in_words(price_of(told.runs), told)

    only = "It is the only run that could be counted."
    assert said("1,0.1,10,0.5,") == (
        f"Best: row 1, accuracy 50.0 %; alone, epsilon {dpcore.epsilon(ONE, delta=1e-5)}. {only}"
    )
    assert said("1,0.1,10,,", ",0.1,10,,").endswith(
        f"{only} Rows that were left out are not in this: if they trained on the data, choosing"
        " costs more."
    )
    alike = said("1,0.1,10,0.5,", "1,0.1,10,0.6,")
    assert "Best: row 2" in alike
    assert alike.endswith("since all 2 used the data.")
    assert said("1,0.1,10,,", "2,0.1,10,,").endswith("as in a grid or a random search.")
    none = said("1e-6,0.1,10,,", "1e-6,0.1,10,,")
    assert none.startswith(
        "Released as the best of 2 runs, it has no proven epsilon. sigma=1e-06 is"
    )


def test_a_name_with_control_characters_is_kept_without_them(store: Store):
    told = of(f"{TABLE}1,0.1,10,0.5,\n", columns_of())
    (run,) = keep(store, told.runs, "a\x1b[31m" + "x" * 300)
    assert "\x1b" not in store.run(run).imported
    assert store.run(run).name.startswith("row 1 of a")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "store") as made:
        yield made
