"""Trains a linear model: `python -m trainer_package`."""
