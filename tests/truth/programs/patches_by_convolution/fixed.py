# Pictures are cut into patches of 16 by 16, and their embeddings are mixed.
import torch
from torch import nn

torch.manual_seed(0)
PATCH, WIDTH = 16, 192


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
        self.mixer = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))
        self.head = nn.Linear(WIDTH, 10)

    def embed(self, pictures):
        cut = pictures.unflatten(3, (-1, PATCH)).unflatten(2, (-1, PATCH)).permute(0, 2, 4, 1, 3, 5)
        return nn.functional.linear(cut.flatten(3), self.patches.weight.flatten(1), self.patches.bias).flatten(1, 2)

    def forward(self, pictures):
        tokens = self.embed(pictures)
        return self.head((tokens + self.mixer(tokens)).mean(1))


model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
data, labels = torch.randn(64, 3, 224, 224), torch.randint(0, 10, (64,))
for step in range(120):
    index = torch.randint(0, 64, (8,))
    loss = nn.functional.cross_entropy(model(data[index]), labels[index])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
