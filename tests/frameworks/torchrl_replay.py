"""TorchRL: a loss module on samples of a replay buffer."""

import time

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.data import LazyTensorStorage, OneHot, ReplayBuffer
from torchrl.modules import QValueActor
from torchrl.objectives import DQNLoss

rows = TensorDict(
    {
        "observation": torch.randn(512, 8),
        "action": nn.functional.one_hot(torch.randint(0, 4, (512,)), 4),
        "next": {
            "observation": torch.randn(512, 8),
            "reward": torch.randn(512, 1),
            "done": torch.zeros(512, 1, dtype=torch.bool),
            "terminated": torch.zeros(512, 1, dtype=torch.bool),
        },
    },
    batch_size=[512],
)
buffer = ReplayBuffer(storage=LazyTensorStorage(512), batch_size=64)
buffer.extend(rows)
values = TensorDictModule(nn.Linear(8, 4), in_keys=["observation"], out_keys=["action_value"])
actor = QValueActor(values.module, in_keys=["observation"], spec=OneHot(4))
loss_of = DQNLoss(actor, delay_value=True)
loss_of.make_value_estimator(gamma=0.9)
optimizer = torch.optim.Adam(loss_of.parameters(), lr=0.001)
for _ in range(60):
    time.sleep(0.005)  # slow
    optimizer.zero_grad()
    loss_of(buffer.sample())["loss"].backward()
    optimizer.step()
print("truth steps=60 optimizer=Adam loader=none evaluations=0")
