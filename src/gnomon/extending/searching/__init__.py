"""A search of one factor for each pair of a rotary model, as LongRoPE does it, on a small budget."""

from gnomon.extending.searching.results import Searched
from gnomon.extending.searching.running import search

__all__ = ["Searched", "search"]
