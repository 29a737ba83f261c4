"""Facts that only Python knows, besides those of loaders and optimizers: how a model is distributed, which checks run,
where debugging switches are turned on."""

import sys
import weakref

from . import frames, imports, wrapping
from .probe import text

# Limit of loaders, and of optimizers, with recorded settings: a program may make a new one for each epoch.
MOST_DESCRIBED = 16
# Hooks of one kind on one module: so many are a mistake.
_MANY_HOOKS = 16
_HOOKS = {
    "register_forward_pre_hook": "_forward_pre_hooks",
    "register_forward_hook": "_forward_hooks",
    "register_full_backward_pre_hook": "_backward_pre_hooks",
    "register_full_backward_hook": "_backward_hooks",
}


class Facts:
    """Facts from before the first step are kept until the probe has started."""

    def __init__(self, probe):
        self._probe = probe
        self._kept = {}  # None once the probe has started

    def start(self):
        kept, self._kept = self._kept, None
        for key, value in (kept or {}).items():
            self._probe.fact(text(key), text(value))

    def record(self, key, value):
        if self._kept is None:
            self._probe.fact(text(key), text(value))
        else:
            self._kept[key] = value

    def install(self, torch, settings):
        parallel = torch.nn.parallel
        probe, distributed = self._probe, self._spread("ddp", ("bucket_cap_mb",))
        wrapping.watch_arguments(probe, parallel.DistributedDataParallel, "__init__", distributed)
        wrapping.watch_arguments(probe, parallel.DataParallel, "__init__", self._spread("data_parallel", ()))
        if settings.mode == "trace":
            self.record("python.executable", sys.executable or "")
            if settings.ranks > 1:
                imports.after({"torch.distributed.fsdp": self._watch_sharding})
                self._watch_no_sync(torch)
            self._watch_switches(torch)
            self._watch_hooks(torch)
            self._make_room_for_profiler(torch)

    def _spread(self, prefix, names):
        def record(arguments):
            for name in names:
                if name in arguments:
                    self.record(f"{prefix}.{name}", arguments[name])
            self.record(f"{prefix}.where", frames.place())

        return record

    def _watch_sharding(self, module):
        """Where parameters were first sharded that are resharded after the forward pass."""
        places, kinds = [], module.ShardingStrategy

        def note(gives_up):
            if gives_up and not places:
                places.append(frames.place())
                self.record("fsdp.where", places[0])

        def called(arguments):
            note(arguments.get("reshard_after_forward") is not False)

        def made(arguments):
            strategy = arguments.get("sharding_strategy") or kinds.FULL_SHARD
            note(strategy in (kinds.FULL_SHARD, kinds.HYBRID_SHARD))

        if hasattr(module, "fully_shard"):  # torch 2.6 and later
            wrapping.watch_arguments(self._probe, module, "fully_shard", called)
        wrapping.watch_arguments(self._probe, module.FullyShardedDataParallel, "__init__", made)

    def _watch_no_sync(self, torch):
        """Where no_sync() wraps a backward pass but not its forward pass: the forward pass decides whether gradients
        are exchanged."""
        models, told, watched = [], [], []

        def backward_begins(*_, **__):
            for model, where in models:
                model = model()
                inside = model is not None and not getattr(model, "require_backward_grad_sync", True)
                if inside and not told and getattr(model, "require_forward_param_sync", False):
                    told.append(where)
                    self.record("ddp.no_sync.backward_alone", where)

        def begins(model, *_, **__):
            if not any(known() is model for known, _ in models):
                models.append((weakref.ref(model), frames.place()))
            if not watched:
                watched.append(torch.autograd)
                wrapping.watch(self._probe, torch.autograd, "backward", backward_begins)

        wrapping.watch(self._probe, torch.nn.parallel.DistributedDataParallel, "no_sync", begins)

    def _watch_switches(self, torch):
        """Where each was first turned on. Compilers turn some on themselves."""
        places = set()

        def note(key):
            if key not in places and not frames.in_compiler():
                places.add(key)
                self.record(f"{key}.where", frames.place())

        def turned_on(key, parameter):
            return lambda arguments: note(key) if arguments.get(parameter, True) else None

        def made(key):
            return lambda *_, **__: note(key)

        def set_to(key):
            return lambda mode=False, *_, **__: note(key) if mode else None

        anomaly, profiler = torch.autograd.anomaly_mode, torch.autograd.profiler
        wrapping.watch(self._probe, anomaly.detect_anomaly, "__enter__", made("debug.anomaly"))
        wrapping.watch_arguments(
            self._probe, anomaly.set_detect_anomaly, "__init__", turned_on("debug.anomaly", "mode")
        )
        wrapping.watch(self._probe, torch, "set_anomaly_enabled", set_to("debug.anomaly"))
        wrapping.watch(self._probe, torch.profiler.profile, "__init__", made("debug.profiler"))
        wrapping.watch_arguments(self._probe, profiler.profile, "__init__", turned_on("debug.profiler", "enabled"))
        wrapping.watch(self._probe, profiler.emit_nvtx, "__init__", made("debug.emit_nvtx"))
        wrapping.watch(self._probe, torch, "use_deterministic_algorithms", set_to("deterministic"))

    def _watch_hooks(self, torch):
        """Where hooks were first registered on a module that already has many of that kind: they are never removed."""
        places = []

        def registers(kept):
            def before(module, *_, **__):
                if not places and len(getattr(module, kept, ())) >= _MANY_HOOKS:
                    places.append(frames.place())
                    self.record("hooks.where", places[0])

            return before

        for name, kept in _HOOKS.items():
            if hasattr(torch.nn.Module, name):
                wrapping.watch(self._probe, torch.nn.Module, name, registers(kept))

    def _make_room_for_profiler(self, torch):
        """CUPTI serves one client, and the enabled kinds change what that client gets. The program's own torch.profiler
        has priority, so the GPU probe stops before it prepares."""

        def prepares(profiler, *_, **__):
            if torch.profiler.ProfilerActivity.CUDA in getattr(profiler, "kineto_activities", ()):
                self._probe.leave_cupti_to(b"torch.profiler")

        if hasattr(torch.autograd.profiler.profile, "_prepare_trace"):
            wrapping.watch(self._probe, torch.autograd.profiler.profile, "_prepare_trace", prepares)
