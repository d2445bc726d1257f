"""TensorRT-LLM's PyTorch backend: how each kind of scaling is computed."""
