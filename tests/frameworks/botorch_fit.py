"""BoTorch: a Gaussian process fitted by torch's optimizer."""

import time

import torch
from botorch.fit import fit_gpytorch_mll_torch
from botorch.models import SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood
from gpytorch.models import ExactGP


class Slow(SingleTaskGP, ExactGP):
    def forward(self, inputs):
        time.sleep(0.002)  # slow
        return super().forward(inputs)


inputs = torch.rand(60, 2, dtype=torch.double)
model = Slow(inputs, inputs.sum(-1, keepdim=True).sin())
fit_gpytorch_mll_torch(ExactMarginalLogLikelihood(model.likelihood, model), step_limit=60, stopping_criterion=None)
print("truth steps=60 optimizer=Adam loader=none evaluations=0")
