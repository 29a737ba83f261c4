"""A collective of a few numbers that are only logged: started at once, with its result returned one call later."""

import ast
import linecache

from . import frames, wrapping

_MOST_NUMBERS = 16


def install(report, why_not):
    """`why_not(scope, names)`: why the values of these names must not be late; "" if they may."""
    ranks = report.torch.distributed
    if not ranks.is_available():
        return
    lines = {}  # (path, line) -> _Late or None

    def make(original):
        def all_reduce(tensor, *positional, **named):
            frame = frames.user_frame()
            if frame is None or named.get("async_op") or len(positional) > 2:
                return original(tensor, *positional, **named)
            key = (frame.f_code.co_filename, frame.f_lineno)
            if key not in lines:
                lines[key] = _decide(report, key, tensor, why_not)
            if lines[key] is None or tensor.shape != lines[key].shape:
                return original(tensor, *positional, **named)
            return lines[key].reduce(tensor, original, positional, named)

        return all_reduce

    wrapping.replace(ranks, "all_reduce", make)


def _decide(report, key, tensor, why_not):
    path, line = key
    where = f"{frames.shown(path)}:{line}"
    if tensor.numel() > _MOST_NUMBERS or not tensor.is_floating_point() or tensor.requires_grad:
        return report.not_applicable(f"{where} reduces something other than a few logged floats")
    reason = _why_not("".join(linecache.getlines(path)), line, why_not)
    if reason:
        return report.not_applicable(f"{where}: {reason}")
    report.applied("waits for all ranks", "one call late (a gain if deferred; edit needed)", where=where)
    return _Late(tensor.shape)


def _why_not(source, line, why_not):
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return "its source cannot be read"
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= node.end_lineno
    ]
    scope = max(functions, key=lambda node: node.lineno, default=tree)
    names = {
        argument.id
        for node in ast.walk(scope)
        if isinstance(node, ast.Call) and node.lineno == line
        for argument in node.args[:1]
        if isinstance(argument, ast.Name)
    }
    return why_not(scope, names) if names else "where the value goes is unknown"


class _Late:
    """The last call of one line."""

    def __init__(self, shape):
        self.shape = shape
        self._last = None  # (tensor, work)

    def reduce(self, tensor, original, positional, named):
        begun = tensor.detach().clone()
        work = original(begun, *positional, **{**named, "async_op": True})
        before, self._last = self._last, (begun, work)
        if before is None:
            before = self._last
        before[1].wait()
        tensor.copy_(before[0])
