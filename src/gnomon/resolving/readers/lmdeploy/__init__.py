"""lmdeploy's two engines: PyTorch by transformers' rules, TurboMind by its own."""
