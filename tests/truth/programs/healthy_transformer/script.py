# Nothing to mend: a small language model on pieces of text that lie in memory.
import time

import torch
from torch import nn


class Language(nn.Module):
    def __init__(self, words=2000, width=192):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.zeros(96, width))
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.out = nn.Linear(width, words)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(96))

    def forward(self, text):
        return self.out(self.body(self.words(text) + self.places, mask=self.mask, is_causal=True))


torch.manual_seed(0)
text = torch.randint(0, 2000, (100_000,))
model = Language()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
offsets = torch.arange(97)
start = time.time()
for step in range(80):
    pieces = text[torch.randint(0, 99_000, (12, 1)) + offsets]
    logits = model(pieces[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.3f} {(time.time() - start) * 50:.0f} ms/step", flush=True)
        start = time.time()
