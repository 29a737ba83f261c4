"""Trains a tiny, randomly initialised text classifier with the Hugging Face Trainer."""

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Reviews(Dataset):
    """Sentences of token ids whose label is whether most of the words come before 500."""

    def __init__(self, samples, seed):
        draws = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 2, (samples,), generator=draws)
        low, high = (torch.randint(first, first + 495, (samples, 48), generator=draws) for first in (5, 500))
        mostly = torch.rand(samples, 48, generator=draws) < 0.8
        self.tokens = torch.where(mostly == (self.labels[:, None] == 1), low, high)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        tokens = self.tokens[index]
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": self.labels[index]}


def compute_metrics(prediction):
    logits, labels = prediction
    return {"accuracy": float((np.argmax(logits, axis=-1) == labels).mean())}


def main():
    config = BertConfig(
        vocab_size=1000,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=64,
        num_labels=2,
    )
    arguments = TrainingArguments(
        output_dir="results",
        num_train_epochs=20,
        learning_rate=1e-3,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=16,
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_steps=10,
        report_to="none",
        use_cpu=True,
    )
    trainer = Trainer(
        model=BertForSequenceClassification(config),
        args=arguments,
        train_dataset=Reviews(640, seed=1),
        eval_dataset=Reviews(64, seed=2),
        compute_metrics=compute_metrics,
    )
    trainer.train()


if __name__ == "__main__":
    main()
