"""Optimizers and learning-rate schedules."""

from ._core import SGD, Adam, AdamW, CosineSchedule, Optimizer, StepSchedule

__all__ = ["SGD", "Adam", "AdamW", "CosineSchedule", "Optimizer", "StepSchedule"]
