"""bias.before_norm=off: drops the biases of layers whose output goes straight into a batch norm that trains.

They are found in the graph of the first backward: the layer makes the norm's input, and nothing else reads it. The
layer loses its bias, the optimizer the parameter; the norm's running mean loses what the bias put in."""

import gc
import weakref

from .. import hooks

KEY = "bias.before_norm"
NOTHING = "no layer with a bias feeds only a batch norm"

_BIAS_INPUT = {"ConvolutionBackward": 2, "AddmmBackward": 0, "LinearBackward": 2}  # position in next_functions
_PASSES = ("ToCopyBackward", "CloneBackward")  # casts under autocast


def apply(value, report):
    torch = report.torch
    if value != "off":
        return report.not_applicable(f"only bias.before_norm=off is supported, not {value}")
    optimizers = weakref.WeakSet()
    found = []  # the pairs found in the first graph

    def begins(roots):
        if not found:
            found.append(_biases_before_norms([root.grad_fn for root in roots if getattr(root, "grad_fn", None)]))
        return roots

    def ends(roots, keeps_graph):
        if found[0]:
            _drop(torch, found[0], optimizers, report)
            found[0] = []

    hooks.optimizer_made.append(optimizers.add)
    hooks.backward_begins.append(begins)
    hooks.backward_ends.append(ends)


def _base_name(node):
    return node.name().rstrip("0123456789").removeprefix("torch::autograd::")


def _graph(roots):
    """All nodes, and the number of readers of each one's output."""
    nodes, readers, waiting = {}, {}, list(roots)
    while waiting:
        node = waiting.pop()
        if node in nodes:
            continue
        nodes[node] = True
        for maker, _ in node.next_functions:
            if maker is not None:
                readers[maker] = readers.get(maker, 0) + 1
                waiting.append(maker)
    return nodes, readers


def _through_casts(node):
    while node is not None and _base_name(node) in _PASSES:
        node = node.next_functions[0][0]
    return node


def _biases_before_norms(roots):
    """[(bias, the norm's weight or None)]: parameters, by which their modules are found."""
    nodes, readers = _graph(roots)
    pairs = []
    for norm in nodes:
        if "BatchNorm" not in _base_name(norm) or not getattr(norm, "_saved_training", False):
            continue
        layer = norm.next_functions[0][0]
        if layer is not None and _base_name(layer) in _PASSES and readers.get(layer) == 1:
            layer = _through_casts(layer)
        position = _BIAS_INPUT.get(_base_name(layer)) if layer is not None else None
        if position is None or readers.get(layer) != 1 or len(layer.next_functions) <= position:
            continue
        bias = getattr(_through_casts(layer.next_functions[position][0]), "variable", None)
        weight = getattr(norm.next_functions[1][0], "variable", None) if len(norm.next_functions) > 1 else None
        if bias is not None and bias.dim() == 1:
            pairs.append((bias, weight))
    return pairs


def _drop(torch, pairs, optimizers, report):
    modules = [one for one in gc.get_objects() if _is_module(torch, one)]
    if any(type(one).__name__ in ("DistributedDataParallel", "FullyShardedDataParallel") for one in modules):
        return report.not_applicable("the model is wrapped for several ranks already, which expect every parameter")
    if _has_a_copy(modules, {id(bias) for bias, _ in pairs}):
        return report.not_applicable("another model has the same layers (an average of the weights, a target network)")
    if any(optimizer.state for optimizer in optimizers):
        return report.not_applicable("the optimizer holds the state of earlier training")
    owners, counts = _owners(modules), {}
    for bias, norm_weight in pairs:
        layer, name = owners.get(id(bias), (None, ""))
        norm = owners.get(id(norm_weight), (None, ""))[0]
        if layer is None or name != "bias":
            continue
        if norm is None or getattr(norm, "num_batches_tracked", None) is None or int(norm.num_batches_tracked) != 1:
            report.not_applicable("a norm is not in its first step: a checkpoint was loaded, or it keeps no statistics")
            continue
        _forget(torch, bias, layer, norm, optimizers)
        where = f"{type(layer).__name__} of {bias.numel()} channels, before {type(norm).__name__}"
        counts[where] = counts.get(where, 0) + 1
        numbered = where if counts[where] == 1 else f"{where} ({counts[where]})"
        report.applied("bias", "none", where=numbered, read_back=_stands(layer))


def _has_a_copy(modules, biases):
    """Whether there is another model of the same class and shapes as the one that has these biases."""
    inner = {id(child) for one in modules for child in one.__dict__.get("_modules", {}).values()}
    for root in (one for one in modules if id(one) not in inner):
        parameters = list(root.parameters())
        if biases.isdisjoint(id(one) for one in parameters):
            continue
        shapes = [one.shape for one in parameters]
        own = {id(one) for one in root.modules()}
        if any(
            type(one) is type(root) and id(one) not in own and [p.shape for p in one.parameters()] == shapes
            for one in modules
        ):
            return True
    return False


def _is_module(torch, one):
    try:
        return isinstance(one, torch.nn.Module)
    except Exception:  # objects that fake their class
        return False


def _owners(modules):
    owners = {}
    for module in modules:
        for name, parameter in module.__dict__.get("_parameters", {}).items():
            if parameter is not None:
                owners[id(parameter)] = (module, name)
    return owners


def _forget(torch, bias, layer, norm, optimizers):
    with torch.no_grad():
        share = norm.momentum if norm.momentum is not None else 1.0
        norm.running_mean -= share * bias.to(norm.running_mean.dtype)
    layer.bias = None
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["params"][:] = [one for one in group["params"] if one is not bias]


def _stands(layer):
    module = weakref.ref(layer)
    return lambda: None if module() is None else ("none" if module().bias is None else "bias")
