"""Text Generation Inference: how each kind of scaling is computed."""
