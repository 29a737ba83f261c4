"""Facts that only Python knows, besides those of loaders and optimizers: how a model is distributed, which checks run,
where debugging switches are turned on."""

from . import frames, wrapping
from .probe import text


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

    def install(self, torch, traces):
        parallel = torch.nn.parallel
        ddp = (
            "find_unused_parameters",
            "bucket_cap_mb",
            "gradient_as_bucket_view",
            "static_graph",
            "broadcast_buffers",
        )
        wrapping.with_arguments(parallel.DistributedDataParallel, "__init__", [self._spread("ddp", ddp)])
        wrapping.with_arguments(parallel.DataParallel, "__init__", [self._spread("data_parallel", ("device_ids",))])
        for name in ("gradcheck", "gradgradcheck"):
            wrapping.replace(torch.autograd, name, self._recorded)
        if traces:
            self._watch_switches(torch)
            self._make_room_for_profiler(torch)

    def _spread(self, prefix, names):
        def record(arguments):
            for name in names:
                if name in arguments:
                    self.record(f"{prefix}.{name}", arguments[name])
            self.record(f"{prefix}.where", frames.place())

        return record

    def _recorded(self, original):
        def check(*positional, **named):
            self.record(original.__name__, frames.place())
            return original(*positional, **named)

        return check

    def _watch_switches(self, torch):
        """Where each was turned on first."""
        places = set()

        def note(key):
            if key not in places:
                places.add(key)
                self.record(f"debug.{key}.where", frames.place())

        def anomaly(original):
            def set_anomaly_enabled(enabled, *positional, **named):
                if enabled:
                    note("anomaly")
                return original(enabled, *positional, **named)

            return set_anomaly_enabled

        def made(key):
            def make(original):
                def __init__(owner, *positional, **named):
                    note(key)
                    return original(owner, *positional, **named)

                return __init__

            return make

        wrapping.replace(torch, "set_anomaly_enabled", anomaly)

        def profile(arguments):
            if arguments.get("enabled", True):
                note("profiler")

        wrapping.replace(torch.profiler.profile, "__init__", made("profiler"))
        wrapping.with_arguments(torch.autograd.profiler.profile, "__init__", [profile])
        wrapping.replace(torch.autograd.profiler.emit_nvtx, "__init__", made("emit_nvtx"))

    def _make_room_for_profiler(self, torch):
        """CUPTI hands records to one client, and which kinds are on changes what that one gets: torch's own profiler is
        the program's, so the probe of the GPU goes before that prepares."""

        def make(original):
            def _prepare_trace(profiler, *positional, **named):
                if torch.profiler.ProfilerActivity.CUDA in getattr(profiler, "kineto_activities", ()):
                    self._probe.leave_cupti_to(b"torch.profiler")
                return original(profiler, *positional, **named)

            return _prepare_trace

        if hasattr(torch.autograd.profiler.profile, "_prepare_trace"):
            wrapping.replace(torch.autograd.profiler.profile, "_prepare_trace", make)
