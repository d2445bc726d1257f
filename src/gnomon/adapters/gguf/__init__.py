"""GGUF files: a checked header, tensors one at a time, an HF-like config, and the model through transformers."""
