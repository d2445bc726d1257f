"""One file for each stack; they register themselves."""
