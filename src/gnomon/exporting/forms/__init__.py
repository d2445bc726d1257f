"""What stands for an encoding in a graph. A new file in this folder is a new form, found by its registration."""
