"""transformers 5: how its config classes put a rotary block in order, and how its modules turn by it.

`standardised` is for every stack whose config comes through these classes.
"""

from gnomon.resolving.readers.transformers5.standard import Block, Standard
from gnomon.resolving.readers.transformers5.standardising import standardised

__all__ = ["Block", "Standard", "standardised"]
