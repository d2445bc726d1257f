"""A whole model on a long input, from the most naive way with positions to none that is kept for each pair."""
