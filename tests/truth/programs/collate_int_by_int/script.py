# Sentences of different lengths; the collate function pads them.
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self):
        lengths = torch.randint(80, 160, (2000,))
        self.sentences = [torch.randint(1, 5000, (int(length),)) for length in lengths]
        self.labels = torch.randint(0, 4, (2000,)).tolist()

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, index):
        return self.sentences[index], self.labels[index]


def pad_batch(samples):
    longest = max(len(sentence) for sentence, _ in samples)
    rows = []
    for sentence, _ in samples:
        row = [int(word) for word in sentence]
        rows.append(row + [0] * (longest - len(row)))
    return torch.tensor(rows), torch.tensor([label for _, label in samples])


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(5000, 32, padding_idx=0)
        self.head = nn.Linear(32, 4)

    def forward(self, sentences):
        return self.head(self.words(sentences).mean(1))


def main():
    torch.manual_seed(0)
    loader = DataLoader(Sentences(), batch_size=50, shuffle=True, collate_fn=pad_batch)
    model = Reader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for sentences, labels in loader:
            loss = nn.functional.cross_entropy(model(sentences), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
