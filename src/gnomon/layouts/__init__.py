"""The layout of rotated pairs, half or interleaved: told from a checkpoint, and changed in its rows."""
