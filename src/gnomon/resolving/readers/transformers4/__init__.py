"""transformers 4: `rope_theta` and one `rope_scaling` at the top, and what its rotary modules made of them.

`standardised` is for every stack whose config comes through these classes.
"""

from gnomon.resolving.readers.transformers4.standardising import standardised

__all__ = ["standardised"]
