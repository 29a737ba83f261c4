"""Trains an autoencoder with the Lightning Trainer."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class LitAutoEncoder(L.LightningModule):
    def __init__(self, width=256):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.Sequential(nn.Linear(28 * 28, width), nn.ReLU(), nn.Linear(width, 16))
        self.decoder = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 28 * 28))

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, batch, batch_idx):
        x, _ = batch
        loss = nn.functional.mse_loss(self(x), x)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, _ = batch
        self.log("val_loss", nn.functional.mse_loss(self(x), x))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    L.seed_everything(7)
    images = torch.rand(2400, 28 * 28)
    dataset = TensorDataset(images, torch.zeros(len(images)))
    train, val = random_split(dataset, [2000, 400])
    trainer = L.Trainer(max_epochs=30, accelerator="cpu", log_every_n_steps=10)
    trainer.fit(LitAutoEncoder(), DataLoader(train, batch_size=64, shuffle=True), DataLoader(val, batch_size=64))


if __name__ == "__main__":
    main()
