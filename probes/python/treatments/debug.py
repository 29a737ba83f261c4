"""debug=off: anomaly mode, profilers, emit_nvtx and gradcheck are switched off wherever the program switches them on."""

from .. import hooks, wrapping

KEY = "debug"
NOTHING = "no debugging switch was turned on"
REVERSIBLE = True


def apply(value, report):
    torch = report.torch
    if value != "off":
        return report.not_applicable(f"only debug=off is supported, not {value}")
    if report.live:
        return _switch_anomaly(torch, report)
    wrapping.replace(torch, "set_anomaly_enabled", lambda original: _anomaly(original, report))
    for name in ("gradcheck", "gradgradcheck"):
        wrapping.replace(torch.autograd, name, lambda original: _passes(original, report))
    _silence(torch.autograd.profiler.emit_nvtx, "emit_nvtx", report)
    for profiler in (torch.autograd.profiler.profile, torch.profiler.profile):
        _silence(profiler, "profiler", report)
        for name in ("start", "stop", "step", "export_chrome_trace", "export_stacks", "export_memory_timeline"):
            if hasattr(profiler, name):
                wrapping.replace(profiler, name, lambda original: lambda *_, **__: None)
        for name in ("key_averages", "events"):
            if hasattr(profiler, name):
                wrapping.replace(profiler, name, lambda original: _no_events(torch))


def _anomaly(original, report):
    def set_anomaly_enabled(enabled, *positional, **named):
        if enabled:
            report.applied("anomaly mode on", "off", read_back=lambda: _state(report.torch))
        return original(False, *positional, **named)

    return set_anomaly_enabled


def _switch_anomaly(torch, report):
    """Profilers cannot be stopped and started between steps; anomaly mode can."""
    own = [torch.is_anomaly_enabled()]  # the program's last request
    set_anomaly = torch.set_anomaly_enabled

    def make(original):
        def set_anomaly_enabled(enabled, *positional, **named):
            own[0] = enabled
            if enabled and report.on:
                report.acted()
                report.applied("anomaly mode on", "off")
            return original(enabled and not report.on, *positional, **named)

        return set_anomaly_enabled

    def switch(on):
        if own[0]:
            set_anomaly(not on)

    def begins(module):
        if own[0] and report.on:  # it was requested before this block of steps
            report.acted()
            if not report.has_places():
                report.applied("anomaly mode on", "off")

    report.on_switch.append(switch)
    hooks.forward_begins.append(begins)
    wrapping.replace(torch, "set_anomaly_enabled", make)


def _state(torch):
    return "anomaly mode on" if torch.is_anomaly_enabled() else "off"


def _passes(original, report):
    def check(*positional, **named):
        report.applied(f"{original.__name__} runs", "skipped")
        return True

    return check


def _silence(owner, what, report):
    def enter(original):
        def __enter__(self):
            report.applied(f"{what} on", "off")
            return self

        return __enter__

    wrapping.replace(owner, "__enter__", enter)
    wrapping.replace(owner, "__exit__", lambda original: lambda *_, **__: None)


def _no_events(torch):
    def events(*_, **__):
        return torch.autograd.profiler_util.EventList([])

    return events
