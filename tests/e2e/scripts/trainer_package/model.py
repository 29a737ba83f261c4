import torch


class Regression(torch.nn.Module):
    def __init__(self, features=64):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(features, 256),
            torch.nn.Tanh(),
            torch.nn.Linear(256, 256),
            torch.nn.Tanh(),
            torch.nn.Linear(256, 1),
        )

    def forward(self, inputs):
        return self.layers(inputs)
