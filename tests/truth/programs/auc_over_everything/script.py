# Click prediction. The area under the curve for the progress line is that of everything seen so far.
import numpy as np
import torch
from torch import nn


def area_under_curve(scores, labels):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    positives = labels.sum()
    negatives = len(labels) - positives
    return (ranks[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives)


def main():
    torch.manual_seed(0)
    features = torch.randn(200_000, 32)
    clicks = (features[:, 0] + torch.randn(200_000) > 1).float()
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    seen_scores, seen_labels = [], []
    for step in range(180):
        rows = torch.randint(0, 200_000, (2048,))
        logits = model(features[rows]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, clicks[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen_scores.append(logits.detach().numpy())
        seen_labels.append(clicks[rows].numpy())
        area = area_under_curve(np.concatenate(seen_scores), np.concatenate(seen_labels))
        if step % 30 == 29:
            print(f"step {step + 1} loss {loss.item():.3f} auc {area:.3f}", flush=True)


if __name__ == "__main__":
    main()
