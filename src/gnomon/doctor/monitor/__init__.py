"""Watches positions while a model trains: a plain loop, transformers' Trainer, or Lightning."""

from gnomon.doctor.monitor.monitor import Monitor

__all__ = ["Monitor"]
