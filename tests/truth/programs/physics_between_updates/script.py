import numpy as np
import torch
from torch import nn


class Pendulums:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.state = self.random.normal(size=8)

    def step(self, action):
        for _ in range(40):
            self.state = 0.99 * self.state + 0.01 * np.sin(self.state + action)
        return self.state.astype(np.float32), float(self.state.sum())


torch.manual_seed(0)
games = [Pendulums(seed) for seed in range(8)]
policy = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 5))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
seen = np.stack([game.state for game in games]).astype(np.float32)
for update in range(60):
    states, actions, rewards = [], [], []
    for turn in range(32):
        with torch.no_grad():
            chosen = torch.distributions.Categorical(logits=policy(torch.from_numpy(seen))).sample()
        played = [game.step(int(one)) for game, one in zip(games, chosen)]
        states.append(torch.from_numpy(seen))
        actions.append(chosen)
        rewards.append(torch.tensor([reward for _, reward in played]))
        seen = np.stack([state for state, _ in played])
    state, action, reward = torch.cat(states), torch.cat(actions), torch.cat(rewards)
    for epoch in range(4):
        for rows in torch.randperm(len(state)).split(64):
            likely = torch.distributions.Categorical(logits=policy(state[rows])).log_prob(action[rows])
            loss = -(likely * reward[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
