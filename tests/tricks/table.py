"""Every trick of the documents that Loopscope draws on: the rule that finds it missing, the treatment that brings it,
the program with the flaw planted and with none, and how its effect is measured. A section of docs/speedups.md is made from it.

Documents: S0 a list of PyTorch speed-ups of the 0.4 days with timings of loaders, S1 on training on several GPUs, S2
seventeen ways to train quicker, S3 on speed and memory with few resources, S4 on making PyTorch code run faster, T
PyTorch's own tuning guide.
"""

from dataclasses import dataclass

IMAGE, TEXT = "train_image", "train_text"


@dataclass(frozen=True)
class Trick:
    number: int
    what: str
    seeds: str
    rule: str = ""  # "": not a fact that a rule can see
    treatment: str = ""  # KEY or KEY=VALUE, as prove --only takes it; "": advice, or cured by another row's
    program: str = IMAGE
    preset: str = ""  # of the program that is measured: only:<rule> plants the flaw
    options: tuple = ()  # of prove, beyond --only
    budget: str = ""  # of prove, where its launches take longer than most
    knobs: tuple = ()  # --set of the program, beyond the preset
    ranks: int = 0  # of the program; 0: one process
    needs: str = ""  # "GPU" or "two GPUs": cannot be measured on a CPU
    metric: str = "step"  # or "memory", "epoch", "target", "sweep", "found" (its cost), "knob" (off against on)
    room: str = ""  # KEY=VALUE that saves memory: what it saves, and the batch that then fits, is measured too
    said: str = ""  # the figure that the document gives, on its own machine and task

    def arguments(self):
        """Of the program: ranks, preset, then knobs."""
        return [
            *(("--ranks", str(self.ranks)) if self.ranks else ()),
            *(("--preset", self.preset) if self.preset else ()),
            *(word for knob in self.knobs for word in ("--set", knob)),
        ]


def only(rule):
    return f"only:{rule}"


TRICKS = [
    Trick(
        1,
        "enough loader workers",
        "S0 S2 S3 S4",
        "input-starvation",
        "loader.workers",
        preset=only("input-starvation"),
        said="4.7x to 6.6x on MNIST (S0), 1.2x and more with one worker (S4)",
    ),
    Trick(
        2,
        "not too many workers",
        "S0 S3",
        "too-many-workers",
        "loader.workers=1",
        preset=only("too-many-workers"),
        knobs=("model.size=small",),
        budget="300s",
        said="45 workers slower than 20 (S0)",
    ),
    Trick(3, "the loader measured alone", "S0", metric="sweep", said="workers by pin_memory, seconds (S0)"),
    Trick(
        4,
        "pinned memory",
        "S0 S2 S4",
        "pageable-copy",
        "loader.pin_memory",
        needs="GPU",
        said="slower on MNIST (S0), about 2 % (S4)",
    ),
    Trick(5, "non-blocking copies", "S0 S2", "blocking-copy", "copy.non_blocking", needs="GPU"),
    Trick(
        6, "no needless reads of values", "S1 S2 S3", "host-sync", "sync.defer", preset=only("host-sync"), needs="GPU"
    ),
    Trick(7, "tensors made on the device", "S2", "cpu-then-device", "copy.on_device", needs="GPU"),
    Trick(
        8, "no copy on the way into a tensor", "S2", "needless-copy", "loader.from_numpy", preset=only("needless-copy")
    ),
    Trick(9, "8-bit input", "T", "wide-input", "copy.uint8", needs="GPU"),
    Trick(
        10, "cuDNN autotuning for fixed shapes", "S0 S2 S3 S4", "cudnn-autotune-off", "cudnn.benchmark=on", needs="GPU"
    ),
    Trick(11, "no autotuning for changing shapes", "S0 S3", "cudnn-retuning", "cudnn.benchmark=off", needs="GPU"),
    Trick(
        12,
        "no deterministic algorithms",
        "S0",
        "deterministic-mode",
        "deterministic=off",
        preset=only("deterministic-mode"),
    ),
    Trick(13, "no emptying of the cache", "T (against S0, S3)", "cache-emptied", "cache.empty=off", needs="GPU"),
    Trick(
        14,
        "16-bit compute",
        "S0 S2 S3 S4",
        "fp32-compute",
        "amp=bf16",
        preset=only("fp32-compute"),
        said="2x and more (S4)",
    ),
    Trick(15, "TF32", "T", "tf32-off", "tf32=on", needs="GPU"),
    Trick(
        16, "channels last", "T", "layout-conversion", "channels_last=on", preset="tuned", knobs=("channels_last=off",)
    ),
    Trick(17, "dimensions that are multiples of 8", "T", "odd-dimensions", needs="GPU"),
    Trick(
        18,
        "the largest batch that fits",
        "S2 S3 S4",
        "small-batch",
        "batch.size=64",
        preset="tuned",
        said="4x from 64 to 512 (S2)",
    ),
    Trick(
        19,
        "gradient accumulation",
        "S1 S2 S3",
        "memory-bound-batch",
        "accumulate=2",
        preset="tuned",
        room="accumulate=2",
        said="707 s to 580 s (S1)",
    ),
    Trick(
        20,
        "no all-reduce while accumulating",
        "S1",
        "accumulation-allreduce",
        "ddp.no_sync",
        preset=only("accumulation-allreduce"),
        ranks=2,
        budget="200s",
    ),
    Trick(
        21,
        "one process per device",
        "S0 S1 S2",
        "data-parallel",
        needs="two GPUs",
        preset="tuned",
        knobs=("data_parallel=on",),
        said="140 s to 118 s (S1)",
    ),
    Trick(
        22,
        "an even load on all devices",
        "S1",
        "device-imbalance",
        needs="two GPUs",
        preset="tuned",
        knobs=("data_parallel=on",),
    ),
    Trick(
        23,
        "no search for unused parameters",
        "S1",
        "unused-parameter-search",
        "ddp.find_unused=off",
        preset=only("unused-parameter-search"),
        ranks=2,
    ),
    Trick(
        24,
        "separate samples for each rank",
        "S1",
        "duplicated-data",
        "sampler.distributed",
        preset=only("duplicated-data"),
        ranks=2,
        metric="found",
    ),
    Trick(
        25,
        "the loss reduced less often",
        "S1",
        "loss-reduction",
        "sync.defer=on",
        preset=only("loss-reduction"),
        ranks=2,
    ),
    Trick(
        26,
        "communication overlapped with compute, no straggler",
        "S1 T",
        "straggler",
        "ddp.bucket_mb",
        preset=only("straggler"),
        ranks=2,
        metric="found",
    ),
    Trick(
        27, "gradients dropped, not filled", "S2 S4", "grads-zeroed", "grad.set_to_none", preset=only("grads-zeroed")
    ),
    Trick(
        28,
        "fused optimizer",
        "S2",
        "single-tensor-optimizer",
        "optimizer.impl",
        preset=only("single-tensor-optimizer"),
        said="about 5 % (S2)",
    ),
    Trick(29, "an optimizer that converges faster", "S0 S2 S4", "", "optimizer=momentum", metric="target"),
    Trick(30, "a learning-rate schedule", "S2 S4", "", "schedule=onecycle", metric="target"),
    Trick(31, "no debugging switches", "S2 S4", "debug-left-on", "debug=off", preset=only("debug-left-on")),
    Trick(
        32,
        "no bias before batch norm",
        "S2 S4",
        "bias-before-norm",
        "bias.before_norm=off",
        preset=only("bias-before-norm"),
    ),
    Trick(
        33,
        "no graph in validation",
        "S0 S2",
        "grad-in-eval",
        "eval.no_grad",
        preset=only("grad-in-eval"),
        metric="epoch",
    ),
    Trick(
        34,
        "no graph kept by a running sum",
        "S3",
        "graph-retained",
        "loss.detach",
        preset=only("graph-retained"),
        metric="memory",
        room="loss.detach=on",
    ),
    Trick(
        35,
        "tensors freed early",
        "S3",
        "late-free",
        "free.early",
        preset=only("late-free"),
        metric="memory",
        room="free.early=on",
    ),
    Trick(
        36,
        "in-place activations",
        "S3",
        "activation-memory",
        "relu.inplace",
        preset="tuned",
        program=TEXT,
        knobs=("relu.inplace=off",),
        metric="memory",
        room="relu.inplace=on",
    ),
    Trick(
        37,
        "activation checkpointing",
        "S2 S3",
        "needless-recompute",
        "checkpoint=off",
        preset=only("needless-recompute"),
        program=TEXT,
        room="checkpoint=on",
    ),
    Trick(
        38, "cheap gradient clipping", "T", "slow-clipping", "clip.foreach", preset=only("slow-clipping"), program=TEXT
    ),
    Trick(39, "batch norm", "S2", "", "norm=batch", knobs=("norm=none",), metric="target"),
    Trick(40, "less padding", "S3", "padding-waste", "batch.by_length", preset=only("padding-waste"), program=TEXT),
    Trick(
        41,
        "no launch-bound loop",
        "S3",
        "launch-bound",
        "cuda_graphs=on",
        preset=only("launch-bound"),
        needs="GPU",
    ),
    Trick(42, "low GPU use explained", "S3", "gpu-starvation", needs="GPU"),
    Trick(
        43,
        "no more threads than processors",
        "T",
        "thread-oversubscription",
        "threads",
        preset=only("thread-oversubscription"),
    ),
    Trick(44, "no periodic stalls", "T", "periodic-stall", preset=only("periodic-stall"), metric="found"),
    Trick(45, "no retries of the allocator", "T", "allocator-retries", "alloc.expandable", needs="GPU"),
    Trick(46, "learning rate scaled with the batch", "S1 S2 S3 S4", "", "lr.scale=linear", metric="target"),
    Trick(47, "clipping for convergence", "S2", "", "clip=norm", metric="target"),
    Trick(48, "a smaller model", "S3", "", "model.size=small", metric="target"),
    Trick(
        49,
        "no more devices than pay off",
        "S1",
        "overdistributed",
        preset=only("overdistributed"),
        ranks=2,
        metric="found",
    ),
    Trick(
        50,
        "logging on one rank, at intervals",
        "S1",
        "redundant-logging",
        preset=only("redundant-logging"),
        ranks=2,
        metric="found",
    ),
    Trick(51, "NCCL, not gloo, for GPUs", "S1", "slow-backend", "ddp.backend=nccl", needs="GPU"),
    Trick(
        52,
        "four workers per GPU as a start",
        "S2",
        "",
        "loader.workers=4",
        budget="100s",
        preset=only("input-starvation"),
    ),
    Trick(53, "a learning-rate finder", "S2", "", "lr.find=on", metric="target"),
]
