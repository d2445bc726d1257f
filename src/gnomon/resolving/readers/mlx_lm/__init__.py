"""mlx-lm: which fields of config.json each of its model files asks for, and what it makes of them."""
