"""Small healthy models in the styles that people write: every check must be silent on each of them.

A builder gives a module, or (module, example) where a user would have to say how it is called.
"""

from tests.helpers.healthy_plain.biases import BIASES
from tests.helpers.healthy_plain.kinds import Builder
from tests.helpers.healthy_plain.language import LANGUAGE
from tests.helpers.healthy_plain.libraries import LIBRARIES
from tests.helpers.healthy_plain.mixers import MIXERS
from tests.helpers.healthy_plain.rotary import ROTARY
from tests.helpers.healthy_plain.signals import SIGNALS
from tests.helpers.healthy_plain.two_stacks import TWO_STACKS
from tests.helpers.healthy_plain.vectors import VECTORS

PLAIN: dict[str, Builder] = {**LANGUAGE, **ROTARY, **BIASES, **TWO_STACKS, **SIGNALS, **VECTORS, **MIXERS, **LIBRARIES}
"""name -> builder"""
