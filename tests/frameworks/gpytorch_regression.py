"""GPyTorch: exact regression."""

import time

import gpytorch
import torch

inputs = torch.linspace(0, 1, 100)
targets = torch.sin(inputs * 6)


class Process(gpytorch.models.ExactGP):
    def __init__(self, likelihood):
        super().__init__(inputs, targets, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        time.sleep(0.01)  # slow
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Process(likelihood)
model.train()
likelihood.train()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for _ in range(60):
    optimizer.zero_grad()
    loss = -objective(model(inputs), targets)
    loss.backward()
    optimizer.step()
print("truth steps=60 optimizer=Adam loader=none evaluations=0")
