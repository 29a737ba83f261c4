"""Which flaw is planted in which program, and what Loopscope has to say of it: found by its rule at its line, alone; quiet
in the program without it; its treatment applied. Walked by tests/e2e/test_matrix.py and test_matrix_long.py."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOOPSCOPE_BUILD", ROOT / "build"))
SCRIPTS = ROOT / "tests" / "e2e" / "scripts"
IMAGE, TEXT = "train_image", "train_text"
PICTURES, LANGUAGE, RANKS = "planted.py", "planted_text.py", "planted_ranks.py"

# What decides is how long something took, next to the step: another machine, or a busy one, may say otherwise.
TIMING = {
    "input-starvation", "too-many-workers", "needless-copy", "deterministic-mode", "fp32-compute", "grads-zeroed",
    "single-tensor-optimizer", "needless-recompute", "slow-clipping", "thread-oversubscription", "periodic-stall",
    "loss-reduction", "straggler", "overdistributed", "redundant-logging",
}  # fmt: skip
# These cost nothing on a CPU, or while memory is not short: they are told as information, and not at all without the flaw.
INFORMATION = {"host-sync", "late-free"}
# They follow from the flaw that was planted, or from ranks that share this machine's processors with one another.
FOLLOW = {"exposed-communication"}
OF_SHARED_PROCESSORS = {"straggler", "overdistributed", "thread-oversubscription"}
OF_RANKS = ("--warmup", "5", "--steps", "20", "--time", "10s")
FEW = ("--warmup", "3", "--steps", "20", "--time", "1s")  # where steps take long


@dataclass(frozen=True)
class Plant:
    rule: str
    program: str
    place: str = (
        ""  # in the path of the first line of evidence; "": a fact about the whole loop. Scripts mark their line
    )
    treatment: str = ""  # KEY=VALUE; "": advice, or nothing that this program lets in
    options: tuple = ()  # of loopscope run
    knobs: tuple = ()  # beyond the preset

    @property
    def name(self):
        ranks = ", two ranks" if "--ranks" in self.knobs else ""
        return f"{self.program} {self.rule or 'without a flaw'}{ranks}"


def image(rule, place="", treatment="", **more):
    return Plant(rule, IMAGE, place and f"workloads/{place}", treatment, **more)


def text(rule, place="", treatment="", **more):
    return Plant(rule, TEXT, place and f"workloads/{place}", treatment, **more)


def script(file, **every):
    return lambda rule, treatment="", line=True, **more: Plant(
        rule, file, file if line else "", treatment, **every, **more
    )


pictures, language, ranks = script(PICTURES), script(LANGUAGE), script(RANKS, options=OF_RANKS)

SMALL_MODEL = ("--set", "model.size=small")

NATIVE = [
    image("input-starvation", "train_image/pictures.cpp", "loader.workers=1"),
    image("host-sync", "common/training.cpp", "sync.defer=on"),
    image("debug-left-on", "", "debug=off"),
    image("bias-before-norm", "train_image/", "bias.before_norm=off"),
    image("fp32-compute", "", "amp=bf16"),
    image("grads-zeroed", "", "grad.set_to_none=on"),
    image("single-tensor-optimizer", "", "optimizer.impl=fused"),
    image("grad-in-eval", "train_image/", "eval.no_grad=on"),
    image("graph-retained", "common/training.cpp", "loss.detach=on"),
    image("late-free", "train_image/loader.cpp", "free.early=on"),
    image("needless-copy", "train_image/", "loader.from_numpy=on"),
    image("too-many-workers", "common/", "loader.workers=1", knobs=SMALL_MODEL),
    image("periodic-stall", "common/training.cpp"),
    image("deterministic-mode", "", "deterministic=off"),
    image("thread-oversubscription", "", "threads=1", options=FEW),
    text("padding-waste", "train_text/", "batch.by_length=on"),
    text("slow-clipping", "common/", "clip.foreach=on"),
    text("needless-recompute", "train_text/", "checkpoint=off"),
    text("single-tensor-optimizer", "common/", "optimizer.impl=fused"),
    text("host-sync", "common/training.cpp", "sync.defer=on"),
    text("debug-left-on", "", "debug=off"),
    text("grad-in-eval", "", "eval.no_grad=on"),
    text("graph-retained", "common/training.cpp", "loss.detach=on"),
]
# Small: ranks share the processors of one machine.
TWO = ("--ranks", "2", *(word for item in ("train_images=512", "val_images=64", "source_size=64", "image_size=48", "batch.size=16")
                         for word in ("--set", item)))  # fmt: skip


def image_ranks(rule, place="", treatment="", knobs=SMALL_MODEL):
    return image(rule, place, treatment, knobs=(*TWO, *knobs), options=OF_RANKS)


NATIVE_RANKS = [
    image_ranks("accumulation-allreduce", "common/training.cpp", "ddp.no_sync=on", knobs=()),
    image_ranks("unused-parameter-search", "", "ddp.find_unused=off"),
    image_ranks("duplicated-data", "", "sampler.distributed=on"),
    image_ranks("loss-reduction", "common/", "sync.defer=on"),
    image_ranks("redundant-logging"),
    image_ranks("straggler", knobs=(*SMALL_MODEL, "--set", "ranks.slow_ms=60")),
    image_ranks("overdistributed", knobs=(*SMALL_MODEL, "--set", "batch.size=2")),
]
PYTHON = [
    pictures("input-starvation", "loader.workers=1"),
    pictures("too-many-workers", "loader.workers=1"),
    pictures("needless-copy"),
    pictures("deterministic-mode", "deterministic=off", line=False),
    pictures("fp32-compute", "amp=bf16"),
    pictures("grads-zeroed", "grad.set_to_none=on"),
    pictures("single-tensor-optimizer", "optimizer.impl=fused"),
    pictures("debug-left-on", "debug=off"),
    pictures("bias-before-norm", "bias.before_norm=off"),
    pictures("grad-in-eval", "eval.no_grad=on"),
    pictures("graph-retained", "loss.detach=on"),
    pictures("host-sync"),
    pictures("periodic-stall"),
    pictures("thread-oversubscription", line=False, options=FEW),
    language("padding-waste"),
    language("late-free"),
    language("needless-recompute", "checkpoint=off"),
    language("slow-clipping", "clip.foreach=on"),
]
PYTHON_RANKS = [
    ranks("accumulation-allreduce", "ddp.no_sync=on"),
    ranks("unused-parameter-search", "ddp.find_unused=off"),
    ranks("duplicated-data", "sampler.distributed=on"),
    ranks("loss-reduction", "sync.defer=on"),
    ranks("redundant-logging", line=False),
    ranks("straggler", line=False),
    ranks("overdistributed", line=False),
]
PLANTS = [*NATIVE, *NATIVE_RANKS, *PYTHON, *PYTHON_RANKS]
# Rules that want memory to be short, which no test may bring about, or that are about a GPU's layouts.
ONLY_CASES = {"activation-memory", "memory-bound-batch", "small-batch", "layout-conversion"}


def has_16_bit_units():
    return any(unit in pathlib.Path("/proc/cpuinfo").read_text() for unit in ("avx512_bf16", "amx_bf16", "avx512_fp16"))


def can_be_planted(plant):
    return plant.rule != "fp32-compute" or has_16_bit_units()


def clean(program, *knobs):
    """The same program without a flaw: what a plant is held against."""
    return Plant("", program, knobs=knobs)


CLEAN = [
    clean(IMAGE),
    clean(TEXT),
    replace(clean(IMAGE, *TWO, *SMALL_MODEL), options=OF_RANKS),
    clean(PICTURES),
    clean(LANGUAGE),
    replace(clean(RANKS), options=OF_RANKS),
]


def command_of(plant, seed=1):
    if plant.program.endswith(".py"):
        launcher = (
            ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"] if plant.program == RANKS else []
        )
        flaws = [plant.rule] if plant.rule else []
        return [sys.executable, *launcher, str(SCRIPTS / plant.program), *flaws, f"seed={seed}"]
    preset = f"only:{plant.rule}" if plant.rule else "tuned"
    return [str(BUILD / "workloads" / plant.program), "--preset", preset, *plant.knobs, "--set", f"seed={seed}"]


def loopscope(folder, *arguments, command, timeout=400):
    """The report of one call."""
    report = pathlib.Path(folder) / "report.json"
    report.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
    if command[1:2] == ["-m"]:
        environment["OMP_NUM_THREADS"] = "1"  # else torchrun says that it sets it
    verb, *options = arguments
    done = subprocess.run(
        [
            BUILD / "loopscope",
            verb,
            "-o",
            tempfile.mkdtemp(prefix="out-", dir=folder),
            "--json",
            report,
            "--quiet",
            *options,
            "--",
            *command,
        ],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        cwd=folder,
    )
    assert done.returncode in (0, 3) and report.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(report.read_text())


def diagnose(folder, plant, seed=1):
    return loopscope(folder, "run", *plant.options, command=command_of(plant, seed))


def findings(report):
    return [*report["findings"], *(report.get("rank_findings") or [])]


def row_of(report, rule):
    (row,) = [row for row in report["rules"] if row["id"] == rule]
    return row


def why_missed(report, rule):
    """What the report says of a rule that found nothing."""
    row = row_of(report, rule)
    return f"{row['verdict']}: {row['reason']}" if row["reason"] else "what it cost came out under the rule's threshold"


# Where both find something, the second says all that the first does, and more (analyzers/diagnose/attribution.cpp).
SAID_BY = {"periodic-stall": "uneven-steps"}
# Also true where the flaw is planted: more workers take longer to start; what a rank does longer, or writes, is at a line.
ALSO = {
    "too-many-workers": {"slow-epoch-start"},
    "straggler": {"host-code"},
    "redundant-logging": {"host-code", "uneven-steps"},
}
# And in any case: these programs compute with one thread, and how much of the step that is depends on the machine.
OF_ONE_THREAD = {"idle-processors"}


def measured_without_gain(report, rule):
    """This machine gains nothing from the fix, and the report has the figure: as good as a finding."""
    row = row_of(report, rule)
    return row["verdict"] == "clear" and row["reason"].endswith("measured")


def rules_of(plant):
    return {plant.rule, SAID_BY.get(plant.rule, plant.rule)}


def told(report):
    """The rules that found something worth a change."""
    return {one["rule"] for one in findings(report) if one["severity"] != "info"}


def is_found(report, rule):
    """Of any severity: what it costs is the machine's."""
    return any(one["rule"] == rule for one in findings(report))


def marked_lines(plant):
    """Where a script says that the flaw is: one line, or those of which the processor decides."""
    lines = (SCRIPTS / plant.program).read_text().splitlines()
    return {number for number, one in enumerate(lines, 1) if plant.rule in one.partition("  # ")[2].split()}


def evidence_is_right(report, plant):
    if not plant.place:
        return True
    places = [
        evidence["where"]
        for one in findings(report)
        if one["rule"] in rules_of(plant)
        for evidence in one["evidence"]
        if evidence["where"]
    ]
    if not places or plant.place not in places[0]["path"] or not places[0]["line"]:
        return False
    return plant.program not in (PICTURES, LANGUAGE, RANKS) or bool(
        marked_lines(plant) & {one["line"] for one in places}
    )


def unexpected(report, plant):
    """What was found though it was not planted; where nothing was, information counts too."""
    found = told(report)
    if not plant.rule:
        return (found | {rule for rule in INFORMATION if is_found(report, rule)}) - OF_ONE_THREAD - shared(plant)
    return found - rules_of(plant) - ALSO.get(plant.rule, set()) - OF_ONE_THREAD - shared(plant)


def shared(plant):
    """What ranks that share this machine's processors may be told, whatever was planted."""
    return FOLLOW | OF_SHARED_PROCESSORS if plant.program == RANKS or "--ranks" in plant.knobs else set()


def walk(folder, plant, seed=1):
    """What came of one run, as docs/evidence/matrix.json keeps it."""
    report = diagnose(folder, plant, seed)
    if plant.rule and measured_without_gain(report, plant.rule):
        return {"seed": seed, "found": True, "right_line": True, "unexpected": sorted(unexpected(report, plant)),
                "measured": row_of(report, plant.rule)["reason"]}  # fmt: skip
    found = bool(plant.rule) and any(is_found(report, rule) for rule in rules_of(plant))
    missed = {"why": why_missed(report, plant.rule)} if plant.rule and not found else {}
    return {
        "seed": seed,
        "found": found,
        "right_line": found and evidence_is_right(report, plant),
        "unexpected": sorted(unexpected(report, plant)),
        **missed,
    }


def try_treatment(folder, plant):
    """The row of the report's trials: `applied` says what was changed, and the verdict whether it trained on."""
    report = loopscope(
        folder,
        "prove",
        "--only",
        plant.treatment,
        "--blocks",
        "1",
        "--warmup",
        "3",
        "--min-window",
        "100ms",
        "--budget",
        "60s",
        "--time",
        "5s",
        command=command_of(plant),
        timeout=600,
    )
    (row,) = [row for row in report["trials"] if row["treatment"] == plant.treatment.split("=")[0]][:1]
    return row
