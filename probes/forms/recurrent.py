"""Recurrent layers, and tensors that grow step by step."""

import torch
from torch.nn.utils.rnn import PackedSequence
from works import Pair, inputs, numbers

_LAYERS = {
    "aten::lstm": torch.nn.LSTM,
    "aten::gru": torch.nn.GRU,
    "aten::rnn_tanh": torch.nn.RNN,
    "aten::rnn_relu": lambda *a, **k: torch.nn.RNN(*a, nonlinearity="relu", **k),
}
_CELLS = {
    "aten::lstm_cell": (torch.nn.LSTMCell, torch.nn.LSTM),
    "aten::gru_cell": (torch.nn.GRUCell, torch.nn.GRU),
    "aten::rnn_tanh_cell": (torch.nn.RNNCell, torch.nn.RNN),
    "aten::rnn_relu_cell": (
        lambda *a: torch.nn.RNNCell(*a, nonlinearity="relu"),
        lambda *a: torch.nn.RNN(*a, nonlinearity="relu"),
    ),
}


def _packed(work):
    name, text = work.split("|")
    # data; sequences at each time; states; weights; has_biases; layers; dropout; train; bidirectional
    data, times, states, _, _, layers, dropout, _, both = inputs(text)
    state = states[0] if isinstance(states, list) else states
    sequences, hidden = state.sizes[1:]
    rows, width = data.sizes
    steps = times.sizes[0]
    layer = _LAYERS[name](width, hidden, int(layers), dropout=float(dropout), bidirectional=both == "true")
    counts = _falling(rows, steps, sequences)
    packed, padded = (torch.randn(*sizes, requires_grad=True) for sizes in ((rows, width), (steps, sequences, width)))
    leaves = [packed, padded, *layer.parameters()]
    return Pair(lambda: layer(PackedSequence(packed, counts))[0].data, lambda: layer(padded)[0], leaves)


def _falling(total, steps, most):
    """`steps` numbers that never rise, the first of them `most`, with this sum: what lengths spread evenly give."""
    least = max(0.0, 2 * total / steps - most)
    falling = [most + (least - most) * i / max(steps - 1, 1) for i in range(steps)]
    counts = [max(1, min(most, int(one))) for one in falling]
    counts[0] = most
    place = 0
    while sum(counts) < total and place < steps:
        counts[place] = min(most, counts[place] + total - sum(counts))
        place += 1
    place = steps - 1
    while sum(counts) > total and place > 0:
        counts[place] = max(1, counts[place] - (sum(counts) - total))
        place -= 1
    return torch.tensor(sorted(counts, reverse=True))


def _cells(work):
    count, name, text = work.split("|")
    data, states = inputs(text)[:2]
    state = states[0] if isinstance(states, list) else states
    sequences, hidden = state.sizes
    make_cell, make_layer = _CELLS[name]
    cell, layer = make_cell(data.sizes[-1], hidden), make_layer(data.sizes[-1], hidden)
    x = torch.randn(int(count), sequences, data.sizes[-1], requires_grad=True)

    def before():
        state = torch.zeros(sequences, hidden)
        state = (state, torch.zeros(sequences, hidden)) if name == "aten::lstm_cell" else state
        outputs = []
        for one in x.unbind(0):
            state = cell(one, state)
            outputs.append(state[0] if isinstance(state, tuple) else state)
        return torch.stack(outputs)

    return Pair(before, lambda: layer(x)[0], [x, *cell.parameters(), *layer.parameters()])


def _growing(work):
    count, text = work.split("|")
    parts, dim = inputs(text)
    (dim,) = numbers(dim)
    first, added = parts
    count, pieces = int(count), added.sizes[dim]
    start = max(first.sizes[dim] - (count - 1) * pieces, 1)
    begin = added.random(sizes=[*first.sizes[:dim], start, *first.sizes[dim:][1:]])
    rest = [added.random() for _ in range(count)]

    def before():
        whole = begin
        for one in rest:
            whole = torch.cat([whole, one], dim)
        return whole

    return Pair(before, lambda: torch.cat([begin, *rest], dim), [begin, *rest])


FORMS = {"packed-sequences": _packed, "cell-by-cell": _cells, "growing-cat": _growing}
