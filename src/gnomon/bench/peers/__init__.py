"""Libraries that gnomon is compared with, each in the layout that it has."""
