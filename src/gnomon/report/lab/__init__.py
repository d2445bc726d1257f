"""What the lab measured, as plain data, and the ways to show it. Nothing here imports torch."""
