"""Dynamic NTK scaling: emozilla 2023, in Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.3."""

from gnomon.errors import GnomonError
from gnomon.extending.rotary.held import Held, Lengths, Scaled
from gnomon.extending.rotary.methods.goes_on import kept, require_rule, with_factor


def dynamic(held: Held, lengths: Lengths) -> Scaled:
    """Plain up to the original length, a base that grows with the sequence above it.

    Readers take `max_position_embeddings` for the original length, so it stays, and the new length is its product with
    the factor.

    >>> scaled = dynamic(Held(None, "default", 1e4, 128), Lengths(4096, 4096, 4096, 16384))
    >>> scaled.values, scaled.positions
    ({'factor': 4.0}, 4096)
    """
    require_rule(held, "dynamic", "default", "dynamic")
    if "alpha" in held.values:
        raise GnomonError(
            "The checkpoint has dynamic scaling by alpha, a fixed larger base and no factor of a length; "
            "it cannot be extended by a rule."
        )
    s, length = lengths.factor, lengths.original
    grown = s * s - (s - 1)
    return Scaled(
        "dynamic",
        held.base,
        with_factor(kept(held), s),
        length,
        (
            f"up to {length:,} tokens nothing changes; a sequence of n tokens gets the base b ({s:g} n / {length:,} - "
            f"{s - 1:g})^(d / (d - 2)), at {lengths.to:,} tokens that of an NTK factor of {grown:g}",
            f"max_position_embeddings stays {length:,}, because readers of this rule take it for the original length",
        ),
        (
            "cached keys keep the frequencies of the length at which they were rotated, so an answer that grows past "
            f"{length:,} tokens mixes several; some engines pass over this rule or fix one length",
        ),
    )
