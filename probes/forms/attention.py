"""Attention that is computed one operator at a time."""

import math

import torch
import torch.nn.functional as F
from works import Pair, inputs


def _attention(work, weights_used):
    text, width, value_width, masked, dropout = work.split("|")
    scores = inputs(text)[0]
    *batch, queries, keys = scores.sizes
    # The fused kernels take [batch, heads, length, width].
    batch = [1] * (2 - len(batch)) + batch if len(batch) < 2 else [math.prod(batch[:-1]), batch[-1]]
    made = [
        torch.randn(*batch, length, int(float(size)), dtype=scores.dtype, requires_grad=True)
        for length, size in ((queries, width), (keys, width), (keys, value_width))
    ]
    q, k, v = made
    dropped = float(dropout)
    keep = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries) if masked == "1" else None
    scale = 1 / math.sqrt(q.size(-1))

    def before():
        logits = (q * scale) @ k.transpose(-2, -1)
        if keep is not None:
            logits = logits.masked_fill(~keep, float("-inf"))
        weights = F.dropout(logits.softmax(-1), dropped)
        out = weights @ v
        return [out, weights.mean(1)] if weights_used else out

    def before_without_mean():
        return before()[0]

    def after():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=keep, dropout_p=dropped)

    # The mean over the heads is computed, but nothing reads it, so that it has no backward pass.
    return Pair(before_without_mean if weights_used else before, after, made)


FORMS = {
    "attention-weights": lambda work: _attention(work, True),
    "attention-written-out": lambda work: _attention(work, False),
}
