"""The parts of a run on a GPU: each takes less than nine minutes and states facts, not guesses of speed."""

import re
import signal
import time

from experiments import EXPERIMENTS, IMAGE
from kit import Step, StepFailed

COST_S, MOST_ROUNDS = 230, 8


def doctor(kit):
    done = kit.run([kit.loopscope, "doctor"], "doctor")
    return {"exit": done.returncode, "text": done.stdout + done.stderr}


def busy(kit):
    """The GPU is seen, and its work whole."""
    told = kit.record("busy", kit.python("loop.py", "none"))
    kit.keep_capture("busy")
    if told["gpu"] is None:
        raise StepFailed(f"the GPU was not recorded: {told['quality']['warnings']}")
    return told


def census(kit):
    """Every call and record of CUPTI's, as it hands them over."""
    dump = kit.out / "cupti.bin"
    return kit.record(
        "census", kit.python("loop.py", "tiny,item"), LOOPSCOPE_CUPTI_DUMP=str(dump), LOOPSCOPE_CUPTI_ALL="1"
    )


def beside_torch_profiler(kit):
    """The figures of our recording and of torch.profiler's trace of the same program."""
    loop = kit.python("loop.py", "item", 121)
    ours = kit.record("ours", loop)
    trace = kit.folder("theirs") / "trace.json"
    kit.run([*kit.python("profiled.py", trace), *loop[1:]], "theirs")
    theirs = kit.report("theirs-report", ["report", trace])
    kit.keep("captures.tar", "torch_profiler_trace.json", trace.read_bytes())
    return {"ours": ours, "theirs": {"gpu": theirs["gpu"], "steps": theirs["steps"]}}


def flaw(*flaws, **environment):
    def action(kit):
        name = "-".join(flaws)
        told = kit.record(name, kit.python("loop.py", ",".join(flaws)), **environment)
        kit.keep_capture(name)
        return told

    return action


def killed(number):
    return lambda kit: kit.until(f"ended-{number.name}", kit.python("loop.py", "none"), number, 14)


def profiled(kit):
    """The program's own torch.profiler gets what it gets without us."""
    program = kit.python("loop.py", "profiled,graph", 400)
    plain = kit.run(program, "profiled-plain")
    told = kit.record("profiled", program, steps=0)
    log = (kit.out / "log.txt").read_text()
    kernels = re.findall(r"profiled kernels: (\d+)", plain.stdout), re.findall(r"profiled kernels: (\d+)", log)
    return {"plain": kernels[0], "all": kernels[1], **told}


def image(preset, *items, **environment):
    def action(kit):
        sets = [word for item in items for word in ("--set", item)]
        name = f"image-{preset.replace('only:', '')}" + "".join(f"-{item}" for item in items)
        told = kit.record(name, kit.workload(*IMAGE, preset, *sets), **environment)
        kit.keep_capture(name)
        return told

    return action


def example(script, *arguments):
    def action(kit):
        return kit.record(script, kit.python(f"examples/{script}", *arguments), steps=60)

    return action


def cost(kit):
    """Seconds per step of a loop of small kernels and of one that keeps the GPU busy: as they are, recorded, and under
    torch.profiler; in rounds, as many as there is time for."""
    loop = kit.python("loops.py", "tiny", 300, "none", 300)
    arms = {
        "plain": loop,
        "recorded": [kit.loopscope, "run", "--steps", "0", "--quiet", "--", *loop],
        "profiler": [*kit.python("profiled.py", ""), *loop[1:]],
    }
    seconds = {flaw: {name: [] for name in arms} for flaw in ("tiny", "none")}
    begun = time.monotonic()
    for done_rounds in range(MOST_ROUNDS):
        if done_rounds and (time.monotonic() - begun) * (done_rounds + 1) / done_rounds > COST_S:
            break
        for name, command in arms.items():
            done = kit.run(command, f"cost-{name}")
            told = dict(re.findall(r"^(tiny|none) (\S+)$", done.stdout, re.M))
            for flaw in seconds:
                seconds[flaw][name].append(float(told[flaw]))
    return {"seconds": seconds}


PARTS = {
    1: [
        Step("doctor", 20, doctor),
        Step("busy", 60, busy, needed=True),
        Step("census", 25, census),
        Step("torch.profiler beside", 50, beside_torch_profiler),
        *[
            Step(f"flaws {'+'.join(flaws)}", 20, flaw(*flaws))
            for flaws in (("tiny",), ("item",), ("sleep",), ("copy", "pageable"), ("retries",), ("graph",))
        ],
        Step("train_image tuned", 20, image("tuned")),
        Step("train_image launch-bound", 20, image("only:launch-bound")),
        Step("train_image host-sync", 20, image("only:host-sync")),
        Step("train_image tf32-off", 20, image("only:tf32-off")),
        Step("train_image input-starvation", 20, image("only:input-starvation")),
        Step("killed", 40, killed(signal.SIGKILL), beside=True),
        Step("interrupted", 40, killed(signal.SIGINT), beside=True),
        Step("torch.profiler in the program", 50, profiled, beside=True),
        Step("flaws expandable", 30, flaw("expandable"), beside=True),
        Step(
            "image_classifier.py",
            40,
            example("image_classifier.py", "--epochs", "1000", "--data", "images"),
            beside=True,
        ),
        Step("tiny_gpt.py", 40, example("tiny_gpt.py", "--sentences", "600", "--epochs", "1000"), beside=True),
        Step("train_image cuda_graphs", 30, image("only:launch-bound", "cuda_graphs=on"), beside=True),
        Step("train_image nccl", 30, image("tuned", "ddp.backend=nccl", LOOPSCOPE_NCCL="1"), beside=True),
    ],
    2: [
        *[
            Step(f"train_image {rule}", 20, image(f"only:{rule}"))
            for rule in (
                "pageable-copy",
                "blocking-copy",
                "cpu-then-device",
                "small-batch",
                "layout-conversion",
                "cudnn-autotune-off",
                "cudnn-retuning",
                "deterministic-mode",
                "cache-emptied",
                "odd-dimensions",
                "wide-input",
            )
        ],
        Step("train_image naive", 20, image("naive")),
    ],
    max(EXPERIMENTS) + 1: [Step("cost", COST_S + 20, cost)],
    **EXPERIMENTS,
}
