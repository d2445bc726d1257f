"""Longer contexts of rotary models: what scaling is there, how it composes with more, and how both are written."""
