"""Differentially private training in functional style: each sample's gradient is clipped. No module trains, no optimizer
steps, and nothing calls backward."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images, labels = torch.randn(4096, 1, 16, 16), torch.randint(0, 10, (4096,))
net = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 7 * 7, 10))
parameters = {name: value.detach() for name, value in net.named_parameters()}


def loss_of_one(parameters, image, label):
    return F.cross_entropy(functional_call(net, parameters, (image[None],)), label[None])


gradients_of_each = vmap(grad(loss_of_one), in_dims=(None, 0, 0))


def step(image, label):
    gradients = gradients_of_each(parameters, image, label)
    norms = torch.sqrt(sum(each.flatten(1).pow(2).sum(1) for each in gradients.values()))
    scale = (1 / norms).clamp(max=1)
    for name in parameters:
        mean = torch.einsum("b,b...->...", scale, gradients.pop(name)) / len(image)
        parameters[name] -= 0.5 * (mean + 0.01 * torch.randn_like(mean) / len(image))


loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)
for epoch in range(50):
    for image, label in loader:
        step(image, label)
    with torch.no_grad():
        loss = F.cross_entropy(functional_call(net, parameters, (images[:512],)), labels[:512])
    print(f"epoch {epoch} loss {loss:.4f}", flush=True)
