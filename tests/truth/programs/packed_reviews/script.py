# Sentiment of reviews: sequences of any length are packed for the LSTM.
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

torch.manual_seed(0)
WORDS, WIDTH, HIDDEN, BATCH, LONGEST = 4000, 48, 96, 32, 80


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.lstm = nn.LSTM(WIDTH, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, 2)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.words(tokens), lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.lstm(packed)
        return self.head(last[-1])


model = Sentiment()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
for step in range(80):
    lengths = torch.randint(50, LONGEST + 1, (BATCH,))
    tokens = torch.randint(1, WORDS, (BATCH, LONGEST)) * (torch.arange(LONGEST) < lengths[:, None])
    loss = nn.functional.cross_entropy(model(tokens, lengths), torch.randint(0, 2, (BATCH,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
