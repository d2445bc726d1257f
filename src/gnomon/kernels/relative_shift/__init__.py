"""Attention whose logits need the query and its distance to the key, without a number for each pair of the two.

Transformer-XL (Dai et al. 2019, arXiv:1901.02860, appendix B) makes the logits of a query for all distances and shifts
each row into place. Here the shift is a view: in memory, row a of (rows, distances) starts one number earlier for every
row, which is a stride. Queries go through in blocks, each with the distances that it can reach.
"""

from gnomon.kernels.relative_shift.attention import Added, shifted_attention
from gnomon.kernels.relative_shift.shift import Block, Shift
from gnomon.kernels.relative_shift.terms import RelativeTerms

__all__ = ["Added", "Block", "RelativeTerms", "Shift", "shifted_attention"]
