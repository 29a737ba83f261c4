"""channels_last=on: the weights of convolutions are kept channels-last, and activations follow them."""

import weakref

from .. import hooks

KEY = "channels_last"
NOTHING = "no module with 2-d convolutions was trained"


def apply(value, report):
    torch = report.torch
    seen = weakref.WeakSet()

    def begins(module):
        if module in seen or not module.training:
            return None
        seen.add(module)
        layers = [one for one in module.modules() if isinstance(one, (torch.nn.Conv2d, torch.nn.ConvTranspose2d))]
        if not layers:
            return None
        if all(one.weight.is_contiguous(memory_format=torch.channels_last) for one in layers):
            return report.not_applicable("the convolutions' weights are channels-last already", had=value)
        module.to(memory_format=torch.channels_last)
        report.applied("contiguous", "channels_last", read_back=lambda: _layout(torch, layers[0].weight))
        return None

    hooks.forward_begins.append(begins)


def _layout(torch, weight):
    return "channels_last" if weight.is_contiguous(memory_format=torch.channels_last) else "contiguous"
