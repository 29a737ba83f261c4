"""What tricks gain on a GPU: `train_image` with one flaw planted, rerun with the fix; and two sweeps.

`said` is what the documents that the tricks come from say, of their machines and tasks.
"""

from kit import Step

IMAGE = ("train_image", "--device", "cuda", "--preset")
TRIAL = ("treatment", "value", "context", "speedup", "ci95", "n", "p_holm", "verdict", "reason", "metric", "peak_bytes")
# Small pictures and a small network: the loader is what limits, as with MNIST.
SMALL = ("model.size=small", "batch.size=64", "image_size=32")
S0 = (
    "four epochs of MNIST, batch 64, seconds: pinned 0→30.15, 5→7.53, 10→6.49, 15→6.48, 20→6.97, 25→8.73, 45→10.47; "
    "unpinned 0→25.26, 5→6.70, 10→4.47, 15→4.78, 20→3.85, 45→4.40"
)


def launch(kit, name, words, preset, items, budget):
    """The report, and the command as it is typed."""
    program = kit.workload(*IMAGE, preset, *[word for item in items for word in ("--set", item)])
    # The launches write into the kit's own folder alone, whether or not the machine can keep them from other files.
    words = [*words, "--budget", f"{budget}s", "--min-window", "300ms", "--allow-writes"]
    report = kit.report(name, [*words, "-o", kit.folder(name) / "out"], program, limit=4 * budget + 60)
    return report, ["loopscope", *words, "--", "train_image", *program[1:]]


def prove(treatment, preset, *items, budget=240, what="", said=""):
    """By launches: each needs some ten seconds to start, and four pairs of them are the least that says anything."""

    def action(kit):
        name = f"prove-{treatment}"
        report, command = launch(kit, name, ["prove", "--only", treatment, "--blocks", "8"], preset, items, budget)
        trials = [{key: row[key] for key in TRIAL if key in row} for row in report["trials"]]
        return {"what": what, "said": said, "command": command, "trials": trials}

    return Step(f"prove {treatment}", budget + 25, action)


def rank(name, treatments, preset, *items, budget=130, what="", said=""):
    """Fixes that can be switched between steps take turns within one launch: a ranking, in little time."""

    def action(kit):
        words = ["prove", "--quick", "--only", ",".join(treatments), "--alone", str(len(treatments))]
        report, command = launch(kit, f"rank-{name}", words, preset, items, budget)
        trials = [
            {key: row[key] for key in TRIAL if key in row} for row in report["trials"] if row["context"] == "alone"
        ]
        return {"what": what, "said": said, "command": command, "trials": trials}

    return Step(f"prove --quick {name}", budget + 30, action)


def whole(script, *arguments, budget=300, what=""):
    """What all fixes bring to a program that knows nothing of Loopscope."""

    def action(kit):
        program = kit.python(f"examples/{script}", *arguments)
        words = ["prove", "--budget", f"{budget}s", "--allow-writes"]
        report = kit.report(f"whole-{script}", [*words, "-o", kit.folder(script) / "out"], program, budget + 60)
        trials = [{key: row[key] for key in TRIAL if key in row} for row in report["trials"]]
        command = ["loopscope", *words, "--", "python", script, *arguments]
        return {"what": what, "said": "", "command": command, "trials": trials, "combined": report["combined"]}

    return Step(f"prove {script}", budget + 25, action)


def sweep(name, grid, preset, *items, budget, what, said):
    def action(kit):
        report, command = launch(kit, f"sweep-{name}", ["sweep", *grid], preset, items, budget)
        return {"what": what, "said": said, "command": command, "sweep": report["sweep"]}

    return Step(f"sweep {name}", budget + 30, action)


# Steps of some ten milliseconds, so that ten rounds of all ways of running take a minute.
SHORT = ("model.size=large", "batch.size=256")
PRECISION = ("amp=bf16", "tf32=on", "cudnn.benchmark=on", "grad.set_to_none=on", "optimizer.impl=fused")
SWITCHES = ("deterministic=off", "cache.empty=off", "debug=off", "clip.foreach=on", "copy.non_blocking=on")
PROOFS = (
        prove("amp=bf16", "only:fp32-compute", what="16-bit network, bfloat16", said="AMP ≥ 2× (S4)"),
        prove("tf32=on", "only:tf32-off", what="TF32 matrix products"),
        prove("cuda_graphs=on", "only:launch-bound", what="passes launched as CUDA graphs"),
        prove("channels_last=on", "only:layout-conversion", what="channels_last"),
        prove("loader.pin_memory=on", "only:pageable-copy", what="pinned memory",
              said="workers and pinning 2× (S2); 1.22× of which pinning is about 2 % (S4)"),
        prove("sync.defer=on", "only:host-sync", what="the loss is not read at each step"),
        prove("amp=fp16", "only:fp32-compute", what="16-bit network, float16 with scaled gradients", said="AMP ≥ 2× (S4)"),
        prove("cudnn.benchmark=on", "only:cudnn-autotune-off", what="cuDNN times its algorithms"),
        prove("optimizer.impl=fused", "only:single-tensor-optimizer", what="fused optimizer", said="about 5 % (S2)"),
        prove("copy.non_blocking=on", "only:blocking-copy", what="copies that do not block"),
        prove("loader.workers=8", "only:input-starvation", what="loader workers", said="one worker ≥ 1.2× (S4)"),
        prove("deterministic=off", "only:deterministic-mode", what="algorithms that need not be deterministic"),
        prove("copy.uint8=on", "only:wide-input", what="bytes are copied and widened on the GPU"),
        prove("cache.empty=off", "only:cache-emptied", what="no empty_cache in the loop"),
        prove("copy.on_device=on", "only:cpu-then-device", what="random numbers drawn on the GPU"),
        prove("grad.set_to_none=on", "only:grads-zeroed", what="gradients dropped, not zeroed"),
        prove("cudnn.benchmark=off", "only:cudnn-retuning", what="no autotuning where shapes vary"),
)  # fmt: skip
EXPERIMENTS = {
    3: [
        rank("precision", PRECISION, "only:tf32-off", *SHORT,
             "cudnn.benchmark=off", "grad.set_to_none=off", "optimizer.impl=single",
             what="five fixes in turn, each alone"),
        rank("switches", SWITCHES, "tuned", *SHORT,
             "deterministic=on", "cache.empty=on", "debug=on", "clip=norm", "clip.foreach=off",
             what="five switches in turn, each alone"),
    ],
    4: [
        sweep("workers × pinned memory", ("loader.workers=0,1,2,5,10,15", "loader.pin_memory=on,off"), "tuned", *SMALL,
              budget=240, what="Workers × pinned memory", said=S0),
        sweep("batch size", ("batch.size=64,128,256,512",), "tuned", "model.size=large",
              budget=120, what="Batch 64 to 512", said="batch 64→512: 4× (S2)"),
    ],
    **{5 + at // 2: list(PROOFS[at : at + 2]) for at in range(0, len(PROOFS), 2)},
    5 + (len(PROOFS) + 1) // 2: [
        whole("image_classifier.py", "--epochs", "1000", "--data", "images",
              what="a first version of a Python loop, as it is: all fixes together, then each"),
    ],
}  # fmt: skip
