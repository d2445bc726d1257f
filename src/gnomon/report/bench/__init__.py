"""Benchmarks as plain data, and as text."""
