"""litdata: a stream of optimized chunks."""

import tempfile
import time

import litdata
import torch
from torch import nn


def numbers_of(index):
    generator = torch.Generator().manual_seed(index)
    return {"inputs": torch.randn(64, generator=generator), "label": index % 4}


class Rows(litdata.StreamingDataset):
    def __getitem__(self, index):
        time.sleep(0.001)  # slow
        row = super().__getitem__(index)
        return row["inputs"], row["label"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        litdata.optimize(numbers_of, list(range(320)), output_dir=folder, chunk_bytes="64KB", num_workers=1)
        model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 4))
        optimizer = torch.optim.AdamW(model.parameters())
        loader = litdata.StreamingDataLoader(Rows(folder), batch_size=16)
        for _ in range(3):
            for inputs, labels in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(inputs), labels).backward()
                optimizer.step()
    print("truth steps=60 optimizer=AdamW loader=yes evaluations=0")


if __name__ == "__main__":
    main()
