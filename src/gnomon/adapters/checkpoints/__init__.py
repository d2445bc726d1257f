"""Checkpoint folders and files of the Hugging Face kind: JSON, safetensors, pickle on request, and the model."""
