"""Training: the same loop on one process and on many, which goes on from its last checkpoint."""
