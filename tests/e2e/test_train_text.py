# ctest labels: slow
"""train_text as an ordinary program: knobs, presets, determinism, that it learns, and its calls to a probe."""

import json

import pytest

import workload_programs
from workload_programs import BUILD, accuracy, build_listener, items, losses, told

PROGRAM = BUILD / "workloads" / "train_text"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="train_text is not built")

SMALL = {
    "train_texts": 80,
    "val_texts": 24,
    "longest": 40,
    "seq.max_len": 40,
    "batch.size": 8,
    "model.size": "small",
    "epochs": 2,
}


def launch(*arguments, env=None):
    return workload_programs.launch(PROGRAM, *arguments, env=env)


def train(*options, env=None, **knobs):
    """A short training; knobs with __ for the dot."""
    settings = {**SMALL, **{name.replace("__", "."): value for name, value in knobs.items()}}
    done = launch("--print-losses", *options, *items(settings), env=env)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def reference():
    return losses(train())


@pytest.fixture(scope="module")
def listener(tmp_path_factory):
    return build_listener(tmp_path_factory.mktemp("listener")) or pytest.skip("no C compiler")


def test_help_and_knobs():
    done = launch("--help")
    assert done.returncode == 0
    for word in ("train_text", "--preset", "naive", "only:padding-waste", "only:slow-clipping"):
        assert word in done.stdout
    assert "--data" not in done.stdout, "its texts are made as they are needed"
    listed = {line.split()[0]: line for line in launch("--list-knobs").stdout.splitlines()[1:]}
    for key in ("seq.max_len", "batch.by_length", "dropout", "checkpoint", "clip.foreach", "optimizer.impl"):
        assert key in listed
    assert "longest|max_len" in listed["batch.pad"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--set", "seq.max_len=4"], '"4" is not a value of seq.max_len: it takes 8..1024'),
        (["--set", "dropout=1"], '"1" is not a value of dropout: it takes 0..0.9'),
        (["--set", "batch.pad=short"], '"short" is not a value of batch.pad: it takes longest|max_len'),
        (["--set", "channels_last=on"], 'there is no knob "channels_last"'),
        (["--data", "x"], 'there is no option "--data"'),
        (["--preset", "only:bias-before-norm"], "there is no preset"),
        (["--set", "batch.size=2048"], "no full step"),
    ],
)
def test_wrong_usage(arguments, message):
    done = launch(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("train_text: ") and done.stderr.count("\n") == 1


# Same seed, same training


def test_losses_are_the_same_bit_for_bit(reference):
    assert losses(train()) == reference
    assert losses(train(seed=7)) != reference


# One launch for those on one line, which do not hide each other's effect.
@pytest.mark.parametrize(
    "knobs",
    [
        {"grad.set_to_none": "off", "eval.no_grad": "off", "loss.detach": "off", "relu.inplace": "on"},
        {"sync.defer": "off", "free.early": "off", "loader.workers": 0},
    ],
    ids=" ".join,
)
def test_exact_knobs(reference, knobs):
    assert losses(train(**knobs)) == reference


def test_checkpointing_draws_the_same_dropout(reference):
    """Bit for bit, with dropout, for all optimizer steps: the second forward pass uses the same random numbers."""
    assert losses(train(checkpoint="on")) == reference
    assert losses(train(dropout=0)) != reference


def test_clipping_on_lists_agrees_with_clipping_one_by_one():
    for kind in ("norm", "value"):
        limits = {"clip": kind, "clip.limit": 0.01, "optimizer": "sgd", "lr": 0.1}
        single = [float(x) for x in losses(train(**{**limits, "clip.foreach": "off"}))]
        listed = [float(x) for x in losses(train(**{**limits, "clip.foreach": "on"}))]
        assert listed == pytest.approx(single, rel=1e-3)


def test_padding_changes_nothing_but_rounding():
    """Without dropout the padded tokens must not reach the scores."""
    longest = [float(x) for x in losses(train(dropout=0, batch__pad="longest"))]
    padded = [float(x) for x in losses(train(dropout=0, batch__pad="max_len", seq__max_len=40))]
    assert padded[:5] == pytest.approx(longest[:5], rel=1e-4)


def test_knobs_act(reference):
    for knobs in (
        {"batch.by_length": "on"},
        {"seq.max_len": 16},
        {"clip.limit": 0.001, "optimizer": "sgd"},
        {"schedule": "onecycle"},
        {"accumulate": 2},
        {"batch.size": 16},
    ):
        assert losses(train(**knobs)) != reference


@pytest.mark.parametrize("texts, steps", [(80, 5), (83, 5), (96, 6)])
def test_ranks_share_batches_of_one_length(texts, steps):
    """All ranks have the same number of steps, even if the texts do not divide evenly; the order repeats."""
    knobs = dict(batch__by_length="on", train_texts=texts, dropout=0)
    both = losses(train("--ranks", "2", **knobs))
    assert len(both) == 2 * steps, "two epochs"
    assert losses(train("--ranks", "2", **knobs)) == both
    assert losses(train("--ranks", "2", **{**knobs, "batch__by_length": "off"})) != both


def test_the_loss_falls_and_the_accuracy_rises():
    done = train("--preset", "tuned", train_texts=800, val_texts=80, epochs=4, amp="off")
    curve = [float(loss) for loss in losses(done)]
    assert sum(curve[-20:]) < 0.6 * sum(curve[:20])
    assert accuracy(done) >= 0.4, "one class of eight is right by chance in 0.125 of the cases"


@pytest.mark.parametrize("preset", ["naive", "tuned", "only:needless-recompute"])
def test_presets_train(preset):
    assert len(losses(train("--preset", preset))) == 20


# Calls to a probe


def test_treatments_override_and_report(listener):
    treatment = "batch.by_length=on;seq.max_len=16;clip.foreach=off;checkpoint=on;debug=off;channels_last=on;dropout=2"
    done = train(env={**listener, "LOOPSCOPE_TREATMENT": treatment})
    applied = {key: (where, old, new) for key, where, old, new in told(done, "applied")}
    assert applied == {
        "batch.by_length": ("workloads/train_text/batches.cpp:order", "off", "on"),
        "seq.max_len": ("workloads/train_text/texts.cpp:cut", "40", "16"),
        "clip.foreach": ("workloads/common/optimizers.cpp:clip", "on", "off"),
        "checkpoint": ("workloads/train_text/model.cpp:layers", "off", "on"),
        "debug": ("workloads/common/training.cpp:backward", "off", "off"),
    }
    reasons = dict(told(done, "not-applicable"))
    assert set(reasons) == {"channels_last", "dropout"}
    assert reasons["channels_last"] == "the program has no such knob"
    assert ["batch.size", "8"] in told(done, "fact")


# What loopscope says of it


def diagnose(tmp_path, preset):
    report = tmp_path / "report.json"
    command = [PROGRAM, "--preset", preset]
    done = workload_programs.launch(
        BUILD / "loopscope", "run", "-o", tmp_path / "out", "--json", report, "--quiet", "--", *command, timeout=400
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(report.read_text())


PLANTED = {
    "padding-waste",
    "needless-recompute",
    "host-sync",
    "single-tensor-optimizer",
    "grad-in-eval",
    "graph-retained",
}


def rules(report):
    return {finding["rule"] for finding in report["findings"]}


def test_naive_has_planted_flaws_and_no_other(tmp_path):
    report = diagnose(tmp_path, "naive")
    assert rules(report) >= {"padding-waste", "needless-recompute", "host-sync", "graph-retained"}
    assert rules(report) <= PLANTED, "those that are cheap beside the others may go unmentioned"
