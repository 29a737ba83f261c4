"""sync.defer=on: `.item()` of a GPU tensor gives the value of the call before, so that the host need not wait;
`all_reduce` of a few logged numbers gives the sum of the call before, so that the ranks need not wait for each other.

Only at lines where the value is logged or summed up: the line and the rest of its function are read first. The first
call waits; each later one starts a copy to page-locked memory and returns what the last copy brought."""

import ast
import linecache

from .. import deferred_reduce, frames, wrapping

KEY = "sync.defer"
NOTHING = "no value was read from a GPU or reduced over ranks at a line where it could come later; on a CPU reading never waits"


def apply(value, report):
    torch = report.torch
    deferred_reduce.install(report, _decides)
    if not report.has_gpu():
        return
    only = None if value == "on" else set(value.split(","))
    lines = {}  # (path, line) -> _Deferred or None

    def make(original):
        def item(tensor):
            if not tensor.is_cuda:
                return original(tensor)
            frame = frames.user_frame()
            if frame is None:
                return original(tensor)
            key = (frame.f_code.co_filename, frame.f_lineno)
            if key not in lines:
                lines[key] = _decide(torch, key, tensor, only, report)
            deferred = lines[key]
            return deferred.read(tensor, original) if deferred else original(tensor)

        return item

    wrapping.replace(torch.Tensor, "item", make)


def _decide(torch, key, tensor, only, report):
    path, line = key
    where = f"{frames.shown(path)}:{line}"
    if only is not None and where not in only:
        return None
    if not tensor.is_floating_point():
        return report.not_applicable(f"{where} reads a value that is not a float")
    reason = why_not_later("".join(linecache.getlines(path)), line)
    if reason:
        return report.not_applicable(f"{where}: {reason}")
    report.applied("waits", "one step late (a gain if deferred; edit needed)", where=where)
    return _Deferred(torch)


class _Deferred:
    """The value from the last call at one line."""

    def __init__(self, torch):
        self._torch = torch
        self._last = None  # (page-locked tensor, event)

    def read(self, tensor, original):
        copy = self._torch.empty((), dtype=tensor.dtype, pin_memory=True)
        copy.copy_(tensor.detach().reshape(()), non_blocking=True)
        event = self._torch.cuda.Event()
        event.record()
        before, self._last = self._last, (copy, event)
        if before is None:
            return original(tensor)
        before[1].synchronize()
        return original(before[0])


_LOGGERS = {"print", "log", "info", "debug", "add_scalar", "append", "set_postfix", "write", "update", "format"}


def why_not_later(source, line):
    """Why the value read at `line` must not be a step late; "" if it may: it is only printed, logged, collected or
    summed into a name that affects nothing."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return "its source cannot be read"
    scope = _innermost(tree, line, (ast.FunctionDef, ast.AsyncFunctionDef)) or tree
    statement = _innermost(scope, line, (ast.stmt,))
    if isinstance(statement, (ast.If, ast.While, ast.Assert, ast.Return, ast.For, ast.With)):
        return "the value decides what runs next or is returned"
    if isinstance(statement, ast.Expr):
        call = statement.value
        name = getattr(call.func, "attr", getattr(call.func, "id", "")) if isinstance(call, ast.Call) else ""
        return "" if name in _LOGGERS else f"the value goes into {name or 'an expression'}(), which may act on it"
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    names = {
        node.id for target in targets if target is not None for node in ast.walk(target) if isinstance(node, ast.Name)
    }
    if not names:
        return "where the value goes is unknown"
    return _decides(scope, names)


def _innermost(tree, line, kinds):
    found = None
    for node in ast.walk(tree):
        if isinstance(node, kinds) and node is not tree and node.lineno <= line <= node.end_lineno:
            if found is None or node.lineno >= found.lineno:
                found = node
    return found


def _decides(scope, names):
    for node in ast.walk(scope):
        tests = []
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            tests.append(node.test)
        if isinstance(node, ast.Call):
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if getattr(node.func, "attr", "") == "step" and "sched" in owner.lower():
                tests.extend(node.args)
        for test in tests:
            for part in ast.walk(test):
                if isinstance(part, ast.Name) and part.id in names:
                    return f"`{part.id}` decides what runs next (line {node.lineno})"
    return ""
