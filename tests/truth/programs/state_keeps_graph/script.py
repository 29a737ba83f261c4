# A language model that carries its state from one piece of text to the next, and updates the weights by hand.
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(64, 32)
        self.recurrent = nn.GRU(32, 64, batch_first=True)
        self.out = nn.Linear(64, 64)

    def forward(self, text, state):
        output, state = self.recurrent(self.letters(text), state)
        return self.out(output), state


torch.manual_seed(0)
text = torch.randint(0, 64, (16, 10 * 110 + 1))
model = Model()
state = torch.zeros(1, 16, 64)
for piece in range(110):
    x = text[:, piece * 10 : piece * 10 + 10]
    y = text[:, piece * 10 + 1 : piece * 10 + 11]
    logits, state = model(x, state)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
    model.zero_grad()
    loss.backward(retain_graph=True)
    for parameter in model.parameters():
        parameter.data.add_(parameter.grad, alpha=-0.1)
    if piece % 20 == 19:
        print(f"piece {piece + 1} loss {loss.item():.3f}", flush=True)
