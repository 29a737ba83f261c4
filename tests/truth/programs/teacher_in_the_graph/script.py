import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.first = nn.Linear(120, width)
        self.middle = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.last = nn.Linear(width, 20)

    def forward(self, x):
        x = torch.relu(self.first(x))
        for layer in self.middle:
            x = torch.relu(layer(x))
        return self.last(x)


torch.manual_seed(0)
teacher, student = Net(640, 4), Net(96, 1)
teacher.eval()
optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
rows, labels = torch.randn(8000, 120), torch.randint(0, 20, (8000,))
for step in range(300):
    chosen = torch.randint(0, len(rows), (256,))
    expert, guess = teacher(rows[chosen]), student(rows[chosen])
    soft = F.kl_div(F.log_softmax(guess / 4, 1), F.softmax(expert / 4, 1), reduction="batchmean")
    loss = 0.3 * F.cross_entropy(guess, labels[chosen]) + 0.7 * 16 * soft
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
