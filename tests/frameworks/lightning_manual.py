"""Lightning: manual optimization."""

import time

import lightning
import torch
from torch import nn


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.001)  # slow
        generator = torch.Generator().manual_seed(index)
        return torch.randn(64, generator=generator), index % 4


def build():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))


class Manual(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.model = build()

    def training_step(self, batch, _):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(nn.functional.cross_entropy(self.model(batch[0]), batch[1]))
        optimizer.step()

    def validation_step(self, batch, _):
        self.model(batch[0])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


trainer = lightning.Trainer(
    max_epochs=3,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    num_sanity_val_steps=0,
)
trainer.fit(
    Manual(),
    torch.utils.data.DataLoader(Pairs(), batch_size=16),
    torch.utils.data.DataLoader(Pairs(), batch_size=64),
)
print("truth steps=60 optimizer=Adam loader=yes evaluations=2")
