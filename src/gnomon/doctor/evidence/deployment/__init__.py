"""What happens to a model on its way out: other devices, casts, ranks, exporters, and the memory it takes."""
