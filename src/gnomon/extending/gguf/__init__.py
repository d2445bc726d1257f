"""GGUF files for longer contexts: other metadata and lists of divisors, all other bytes as they were."""
