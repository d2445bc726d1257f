"""The sums behind the numbers of an advice, over plain Python numbers."""
