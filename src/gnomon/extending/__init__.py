"""A checkpoint for longer contexts: frequencies scaled, tables stretched, and what became of the model measured."""
