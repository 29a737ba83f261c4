"""Keras on torch: fit."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import time

import keras
import numpy as np


class Pairs(keras.utils.PyDataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        time.sleep(0.016)  # slow
        return np.random.rand(16, 64).astype("float32"), np.arange(16) % 4


model = keras.Sequential([keras.layers.Dense(256, "relu"), keras.layers.Dense(4)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
model.fit(Pairs(), epochs=3, verbose=0)
print("truth steps=60 optimizer=Adam loader=yes evaluations=0")
