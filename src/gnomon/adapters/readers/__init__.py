"""Readers that turn a foreign config into an encoding; `gnomon.encodings` finds them here by name."""
