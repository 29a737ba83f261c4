# ctest labels: slow
"""`prove` that continues from existing data: resumed, reused, or with nothing to do."""

from conftest import QUICK
from test_prove import ANOMALY, SHORT, trial


def test_an_experiment_is_resumed_without_a_launch_and_an_equal_one_is_reused(loopscope, tiny_train):
    cache = {"XDG_CACHE_HOME": str(loopscope.folder / "cache")}
    experiment = ["--only", "debug=off", "--blocks", "2", *SHORT, "--", *tiny_train, *ANOMALY]
    first, report = loopscope.report("prove", "--reuse", "-o", "one", *experiment, env=cache)
    assert first.code == 0 and "nothing equal was kept" in first.err, first.err
    journal = (loopscope.folder / "one/journal.jsonl").read_bytes()

    again, resumed = loopscope.report("prove", "--resume", "-o", "one", *experiment, env=cache)
    assert again.code == 0, again.err
    assert (loopscope.folder / "one/journal.jsonl").read_bytes() == journal
    assert resumed["trials"] == report["trials"]

    again, reused = loopscope.report("prove", "--reuse", "-o", "two", *experiment, env=cache)
    assert again.code == 0 and "an equal experiment was kept on 20" in again.err, again.err
    assert reused["trials"] == report["trials"] and reused["steps"] == report["steps"]
    assert any("--reuse" in warning for warning in reused["quality"]["warnings"])
    assert (loopscope.folder / "two/journal.jsonl").read_bytes() == journal
    both = loopscope("prove", "--resume", "--reuse", "-o", "two", *experiment, env=cache)
    assert both.code == 2 and "--resume and --reuse at once" in both.message()


def test_a_folder_with_an_experiment_is_not_used_twice(loopscope, tiny_train):
    (loopscope.folder / "out").mkdir()
    (loopscope.folder / "out/journal.jsonl").write_text("{}\n")
    done = loopscope("prove", "-o", "out", "--", *tiny_train)
    assert done.code == 2 and "holds another run" in done.message()


def test_resume_repeats_a_diagnosis_that_was_cut_off(loopscope, tiny_train):
    torn = loopscope.folder / "out/diagnosis"
    torn.mkdir(parents=True)
    (torn / "run.json").write_text("{}\n")
    done, report = loopscope.report(
        "prove",
        "--resume",
        "-o",
        "out",
        "--only",
        "threads=1",
        "--blocks",
        "1",
        *QUICK,
        "--",
        *tiny_train,
        "--epochs",
        "100000000",
    )
    assert done.code == 0, done.err
    assert report["steps"]["measured"] > 0 and trial(report, "threads")["n"] == 1


def test_resume_of_nothing(loopscope, tiny_train):
    (loopscope.folder / "out").mkdir()
    done = loopscope("prove", "--resume", "-o", "out", "--", *tiny_train)
    assert done.code == 2 and "holds no experiment to resume" in done.message()


def test_nothing_to_try(loopscope, tiny_train):
    listed = loopscope("treatments").out.split("\n\n")[0].splitlines()
    skipped = ",".join(line.split()[0] for line in listed if not line.startswith(" "))  # a purpose goes on below
    done, report = loopscope.report("prove", "--skip", skipped, *QUICK, "--", *tiny_train, "--epochs", "100000000")
    assert done.code == 0, done.err
    assert "nothing to try" in done.err
    assert report["trials"] == []
