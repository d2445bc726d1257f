"""What is said of a difference: its size, its cause, and what mends it."""
