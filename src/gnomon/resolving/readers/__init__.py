"""How each stack reads a file, where that is more than its own file in `stacks` holds, and what several share."""
