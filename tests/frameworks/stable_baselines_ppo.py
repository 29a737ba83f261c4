"""Stable-Baselines3: PPO in an environment made here."""

import time

import gymnasium
import numpy
import torch
from stable_baselines3 import PPO


class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (8,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.left = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 32
        return self.observation_space.sample(), {}

    def step(self, action):
        time.sleep(0.001)  # slow
        self.left -= 1
        return self.observation_space.sample(), float(action), self.left == 0, False, {}


torch.manual_seed(1)
agent = PPO("MlpPolicy", Walk(), n_steps=64, batch_size=16, n_epochs=3, device="cpu", seed=1)
agent.learn(320)
print("truth steps=60 optimizer=Adam loader=none evaluations=4")  # rollouts: its policy acts in evaluation mode
