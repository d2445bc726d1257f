"""Advice as plain data, and how it is written for a reader. Nothing here imports torch."""
