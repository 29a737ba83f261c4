"""Pyro: stochastic variational inference."""

import time

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal

data = torch.randn(256, 8)


def model(data):
    time.sleep(0.005)  # slow
    weight = pyro.sample("weight", dist.Normal(torch.zeros(8), 1.0).to_event(1))
    with pyro.plate("data", 256):
        pyro.sample("seen", dist.Normal(data @ weight, 1.0), obs=data.sum(1))


inference = SVI(model, AutoNormal(model), pyro.optim.Adam({"lr": 0.01}), Trace_ELBO())
for _ in range(60):
    inference.step(data)
print("truth steps=60 optimizer=Adam loader=none evaluations=0")
