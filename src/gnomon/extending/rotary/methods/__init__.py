"""Ways to scale rotary frequencies for a longer context. Each says what it does and what it costs, in numbers.

A method takes what turns a kind of layer now and the lengths, and gives what shall turn it. Where the same rule is
there already it goes on from the original length; another rule on top of one is refused, because two rules in a row
are neither.
"""

from collections.abc import Callable, Mapping

from gnomon.extending.rotary.held import Held, Lengths, Scaled
from gnomon.extending.rotary.methods.dynamic import dynamic
from gnomon.extending.rotary.methods.linear import linear
from gnomon.extending.rotary.methods.llama3 import llama3
from gnomon.extending.rotary.methods.longrope import longrope
from gnomon.extending.rotary.methods.ntk import ntk
from gnomon.extending.rotary.methods.yarn import yarn

Method = Callable[[Held, Lengths], Scaled]

#: those that a user can name; "llama3" is what "auto" goes on with where it is there
METHODS: Mapping[str, Method] = {
    "linear": linear,
    "ntk": ntk,
    "yarn": yarn,
    "longrope": longrope,
    "dynamic": dynamic,
    "llama3": llama3,
}
