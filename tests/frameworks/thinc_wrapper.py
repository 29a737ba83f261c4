"""thinc: a torch module in its wrapper, updated by its own Adam."""

import time

import numpy
import thinc.api
from torch import nn

model = thinc.api.PyTorchWrapper(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4)))
optimizer = thinc.api.Adam(0.001)
draw = numpy.random.default_rng(1)
inputs = draw.standard_normal((64, 64)).astype("float32")
labels = draw.standard_normal((64, 4)).astype("float32")
model.initialize(X=inputs, Y=labels)
for _ in range(60):
    time.sleep(0.005)  # slow
    outputs, backward = model.begin_update(inputs)
    backward(outputs - labels)
    model.finish_update(optimizer)
print("truth steps=60 optimizer=none loader=none evaluations=0")
