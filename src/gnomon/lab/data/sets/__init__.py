"""Data sets, one file each, found by name in `gnomon.lab.data.dataset.registry`."""
