"""tiny_gpt.py with its flaws fixed in the script itself."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

import tiny_text

LONGEST = 160


class Sentences(Dataset):
    def __init__(self, texts):
        self.rows = [tiny_text.encode(text)[:LONGEST] for text in texts]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return torch.tensor(self.rows[index])


def padded(rows):
    """As long as the longest row, rounded up, so that few shapes occur."""
    length = -(-max(map(len, rows)) // 32) * 32
    return torch.stack([F.pad(row, (0, length - len(row))) for row in rows])


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, width=64, layers=4, heads=4):
        super().__init__()
        self.letters = nn.Embedding(len(tiny_text.ALPHABET), width)
        self.places = nn.Embedding(LONGEST, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(tiny_text.ALPHABET))

    def forward(self, tokens):
        x = self.letters(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def loss_of(model, tokens):
    with torch.autocast(tokens.device.type, dtype=torch.bfloat16):
        logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)


@torch.no_grad()
def validate(model, loader, device):
    model.eval()
    losses = []
    for tokens in loader:
        losses.append(loss_of(model, tokens.to(device, non_blocking=True)))
    return torch.stack(losses).mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()

    torch.manual_seed(0)
    texts = tiny_text.sentences(args.sentences, seed=1)
    split = len(texts) * 9 // 10
    options = {"batch_size": args.batch_size, "collate_fn": padded, "pin_memory": args.device == "cuda"}
    train_loader = DataLoader(Sentences(texts[:split]), shuffle=True, **options)
    val_loader = DataLoader(Sentences(texts[split:]), **options)

    model = GPT().to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    history, worst = torch.zeros((), device=args.device), torch.zeros((), device=args.device)
    for epoch in range(args.epochs):
        model.train()
        worst.zero_()
        for tokens in train_loader:
            tokens = tokens.to(args.device, non_blocking=True)
            optimizer.zero_grad()
            loss = loss_of(model, tokens)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
            optimizer.step()
            history += loss.detach()
            worst = torch.maximum(worst, loss.detach())
        held_out = validate(model, val_loader, args.device)
        print(f"epoch {epoch} loss {loss.item():.3f} worst {worst.item():.3f} held out {held_out:.3f}")
    print(f"mean {history.item() / (args.epochs * len(train_loader)):.3f}")


if __name__ == "__main__":
    main()
