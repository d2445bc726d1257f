"""ollama: a Go converter to GGUF whose files llama.cpp turns, and a runner of its own on MLX."""
