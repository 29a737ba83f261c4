"""Trains a classifier with Accelerate: `accelerate launch accelerate_train.py`."""

import argparse

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch.optim import AdamW
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset


def loaders(batch_size):
    draws = torch.Generator().manual_seed(1)
    inputs = torch.randn(4096, 128, generator=draws)
    labels = (inputs[:, :8].sum(1) > 0).long()
    train, held_out = TensorDataset(inputs[:3584], labels[:3584]), TensorDataset(inputs[3584:], labels[3584:])
    return DataLoader(train, shuffle=True, batch_size=batch_size), DataLoader(held_out, batch_size=2 * batch_size)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_epochs", type=int, default=40)
    parser.add_argument("--batch_size", type=int, default=32)
    args = parser.parse_args()
    accelerator = Accelerator(gradient_accumulation_steps=2)
    train_dataloader, eval_dataloader = loaders(args.batch_size)
    model = torch.nn.Sequential(
        torch.nn.Linear(128, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 2)
    )
    optimizer = AdamW(model.parameters(), lr=1e-3)
    lr_scheduler = OneCycleLR(optimizer, max_lr=3e-3, epochs=args.num_epochs, steps_per_epoch=len(train_dataloader))
    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, lr_scheduler
    )
    for epoch in range(args.num_epochs):
        model.train()
        for inputs, labels in train_dataloader:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(inputs), labels)
                accelerator.backward(loss)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
        model.eval()
        correct = 0
        for inputs, labels in eval_dataloader:
            with torch.no_grad():
                predictions = model(inputs).argmax(dim=-1)
            predictions, labels = accelerator.gather_for_metrics((predictions, labels))
            correct += (predictions == labels).sum().item()
        accelerator.print(f"epoch {epoch}: accuracy {correct / 512:.3f}")


if __name__ == "__main__":
    main()
