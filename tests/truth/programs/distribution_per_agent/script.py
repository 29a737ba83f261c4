# Policy gradient with many agents. Each agent's action gets a distribution of its own.
import time

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(16, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 6))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)


def play(observations):
    with torch.no_grad():
        logits = policy(observations)
        return torch.stack([Categorical(logits=row).sample() for row in logits])


start = time.time()
for step in range(250):
    observations = torch.randn(128, 16)
    actions = play(observations)
    rewards = observations[:, 0] * (actions == 2) - observations[:, 1] * (actions == 4)
    log_probabilities = torch.log_softmax(policy(observations), 1).gather(1, actions.unsqueeze(1)).squeeze(1)
    loss = -(log_probabilities * (rewards - rewards.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1} reward {rewards.mean():.3f} {(time.time() - start) * 20:.1f} ms/step", flush=True)
        start = time.time()
