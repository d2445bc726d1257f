"""What a GGUF file says of rotation, in the words of a config: its metadata, and its lists of divisors."""

from dataclasses import replace

from gnomon.adapters.gguf.config import gguf_config
from gnomon.adapters.gguf.divisors import BASE, FREQS, with_lists
from gnomon.adapters.gguf.pairs import Head
from gnomon.errors import GnomonError
from gnomon.extending.rotary.reading import RotaryConfig, read_rotary
from gnomon.resolving.given import Given
from gnomon.resolving.loading import load


def read_gguf_rotary(head: Head) -> tuple[RotaryConfig, Given]:
    """The rotation, and the file as stacks see it; raises GnomonError for a file without one, or with its own."""
    given = load(head.path)
    read = with_lists(gguf_config(head.header.metadata), head.header.metadata, given.factors)
    config = dict(read.config)
    config.setdefault("rope_theta", BASE)
    rotary = read_rotary(config)
    if rotary is None:
        raise GnomonError(f"A GGUF file of {read.architecture or 'no architecture'} has no rotation to extend.")
    rotary = replace(rotary, longrope_only=False)  # that is a limit of transformers' classes
    if read.rotated is not None and not rotary.nested:
        rotary = replace(rotary, held=tuple(replace(held, rotary_dim=read.rotated) for held in rotary.held))
    if FREQS in given.factors and not any(held.rule == "llama3" for held in rotary.held):
        raise GnomonError(
            f"The file has divisors of its own ({FREQS}) that follow from no rule gnomon knows; "
            "extend the folder that it was made from."
        )
    return rotary, given
