"""Convolutions."""

import torch
import torch.nn.functional as F
from works import Pair, inputs, leaves_of, numbers


def _kernel_of_one(work):
    image, weight, bias, *_ = inputs(work)
    x, w = image.random(), weight.random()
    b = bias.random() if bias else None
    convolution = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[w.dim()]
    if x.dim() != w.dim():
        return None

    def after():
        out = torch.matmul(w.flatten(1), x.flatten(2))
        if b is not None:
            out = out + b.unsqueeze(-1)
        return out.unflatten(2, x.shape[2:])

    return Pair(lambda: convolution(x, w, b), after, leaves_of(x, w, b))


def _channels_first(work):
    image, weight, bias, stride, padding, dilation, groups = inputs(work)
    settings = [*(numbers(one) for one in (stride, padding, dilation)), int(groups)]
    x, w = image.random(), weight.random()
    b = bias.random() if bias else None
    w_last = w.detach().contiguous(memory_format=torch.channels_last).requires_grad_(w.requires_grad)

    def after():
        # Converted there and back, as if no neighbour had its channels last: a gain that is left is a gain anywhere.
        out = F.conv2d(x.contiguous(memory_format=torch.channels_last), w_last, b, *settings)
        return out.contiguous()

    return Pair(lambda: F.conv2d(x, w, b, *settings), after, leaves_of(x, w, b, w_last))


def _unfolded(work):
    text, reader = work.split("|")
    image, kernel, dilation, padding, stride = inputs(text)
    x, kernel, dilation, padding, stride = image.random(), *map(numbers, (kernel, dilation, padding, stride))
    columns = image.sizes[1] * kernel[0] * kernel[1]
    other = next((one for one in inputs(reader) if hasattr(one, "sizes") and columns in one.sizes[-2:]), None)
    if other is None or len(other.sizes) < 2:
        return None
    outputs = other.sizes[-1] if other.sizes[-2] == columns else other.sizes[-2]
    w = torch.randn(outputs, image.sizes[1], *kernel, requires_grad=True)

    def before():
        return w.flatten(1) @ F.unfold(x, kernel, dilation, padding, stride)

    return Pair(before, lambda: F.conv2d(x, w, None, stride, padding, dilation).flatten(2), [x, w])


def _long_kernel(work):
    signal, weight, bias, _, padding, _, groups = inputs(work)
    x, w = signal.random(), weight.random()
    b = bias.random() if bias else None
    (pad,), groups = numbers(padding), int(groups)

    def after():
        padded = F.pad(x, (pad, pad))
        length = padded.size(-1)
        one, other = torch.fft.rfft(padded), torch.fft.rfft(w, length).conj()
        both = one * other.squeeze(1) if groups > 1 else torch.einsum("bcf,ocf->bof", one, other)
        out = torch.fft.irfft(both, length)[..., : length - w.size(-1) + 1]
        return out if b is None else out + b.unsqueeze(-1)

    return Pair(lambda: F.conv1d(x, w, b, padding=pad, groups=groups), after, leaves_of(x, w, b))


def _patches(work):
    image, weight, bias, stride, *_ = inputs(work)
    x, w = image.random(), weight.random()
    b = bias.random() if bias else None
    high, wide = w.shape[2:]

    def after():
        patches = x.unflatten(3, (-1, wide)).unflatten(2, (-1, high)).permute(0, 2, 4, 1, 3, 5)
        return F.linear(patches.flatten(3), w.flatten(1), b).permute(0, 3, 1, 2)

    return Pair(lambda: F.conv2d(x, w, b, numbers(stride)), after, leaves_of(x, w, b))


FORMS = {
    "kernel-of-one": _kernel_of_one,
    "channels-first": _channels_first,
    "unfolded-convolution": _unfolded,
    "long-kernel": _long_kernel,
    "kernel-equals-stride": _patches,
}
