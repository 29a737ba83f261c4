import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(200, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=0.05)
samples, labels = torch.randn(6000, 200), torch.randint(0, 5, (6000,))
loss_of = nn.CrossEntropyLoss()

for step in range(250):
    sums = [torch.zeros_like(one) for one in parameters]
    for index in torch.randperm(len(samples))[:48].tolist():
        model.zero_grad()
        guess = model(samples[index : index + 1])
        loss = loss_of(guess, labels[index : index + 1])
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        for total, one in zip(sums, parameters):
            total += one.grad
    for total, one in zip(sums, parameters):
        one.grad = total / 48 + 0.01 * torch.randn_like(one)
    optimizer.step()
print(loss.item())
