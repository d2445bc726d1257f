"""Evidence that the doctor derives from what the adapters gave. One file, one kind; each is measured at most once."""
