import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rows, labels = torch.randn(20000, 128), torch.randint(0, 10, (20000,))
held_out, held_labels = torch.randn(10000, 128), torch.randint(0, 10, (10000,))
step = 0
for epoch in range(12):
    for chosen in torch.randperm(len(rows)).split(64):
        loss = nn.functional.cross_entropy(model(rows[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 50 == 0:
            right = 0
            with torch.no_grad():
                for begin in range(0, len(held_out), 32):
                    guess = model(held_out[begin : begin + 32]).argmax(1)
                    right += (guess == held_labels[begin : begin + 32]).sum()
            print(step, float(loss), float(right) / len(held_out))
