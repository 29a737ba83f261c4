"""Hugging Face: Trainer with a plain module."""

import time

import torch
from torch import nn
from transformers import Trainer, TrainingArguments


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.001)  # slow
        generator = torch.Generator().manual_seed(index)
        return {"inputs": torch.randn(64, generator=generator), "labels": torch.tensor(index % 4)}


def build():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = build()

    def forward(self, inputs, labels):
        logits = self.model(inputs)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


arguments = TrainingArguments(
    "unused",
    num_train_epochs=3,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    eval_strategy="epoch",
    save_strategy="no",
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
)
Trainer(Classifier(), arguments, train_dataset=Pairs(), eval_dataset=Pairs()).train()
print("truth steps=60 optimizer=AdamW loader=yes evaluations=2")
