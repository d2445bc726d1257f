"""Which encodings are weighed: for a model from scratch by the axes of its positions, else by what the checkpoint has.

Encodings that are not here (CoPE, FIRE, xPos, Sandwich, DeBERTa, Shaw, window biases) can be built, but there is no
matched public comparison that would put them in a place, or they belong to one architecture.
"""

from dataclasses import dataclass, replace

from gnomon.advisor.facts import Facts
from gnomon.advisor.task import Task


@dataclass(frozen=True)
class Candidate:
    """One thing to recommend: a name, the registered encoding it builds, and a title for readers."""

    name: str
    encoding: str
    title: str


ROTARY = Candidate("rotary", "rotary", "rotary encoding, a base that fits the context")
ALIBI = Candidate("alibi", "alibi", "a linear penalty for distance, nothing learned")
LEARNED = Candidate("learned", "learned", "a table of learned position vectors")
SEQUENCE = (
    ROTARY,
    ALIBI,
    Candidate("t5", "t5", "a learned bias for each bucket of distances"),
    LEARNED,
    Candidate("kerple", "kerple", "a logarithmic penalty for distance, learned for each head"),
    Candidate("transformer_xl", "transformer_xl", "the relative encoding of Transformer-XL"),
    Candidate("sinusoidal", "sinusoidal", "the sinusoids of the first Transformer"),
    Candidate("nope", "nope", "no position encoding; the causal mask alone"),
)
RANDOMIZED = Candidate("randomized", "randomized", "learned vectors at random rising ids of a span beyond the target")
AXIAL = Candidate("axial_rotary", "axial_rotary", "rotary encoding with an equal share of the pairs for each axis")
GRID = (
    AXIAL,
    Candidate("mixed_rotary", "mixed_rotary", "rotary encoding with learned directions"),
    Candidate("sinusoidal_grid", "sinusoidal_grid", "sinusoids of each coordinate"),
    Candidate("alibi_grid", "alibi_grid", "a linear penalty for distance on the grid"),
    LEARNED,
)
VIDEO = tuple(candidate for candidate in GRID if candidate.name != "mixed_rotary")
VISION_LANGUAGE = (
    Candidate("mrope", "mrope", "rotary encoding by time, height and width"),
    Candidate("rotary", "rotary", "rotary encoding along the flattened sequence"),
)
#: encodings of places in an image or a video
GRIDS = ("axial_rotary", "mixed_rotary", "sinusoidal_grid", "alibi_grid", "window_bias", "log_cpb", "fourier")
KEEP = "keep"
SWITCH = Candidate("switch", "rotary", "replace the encoding by rotary, and train further")
INTERPOLATE = Candidate("interpolate", "learned", "the table resampled to more rows")
EXTENSIONS = (
    Candidate("yarn", "rotary", "YaRN: slow pairs stretched, fast ones kept, logits sharpened"),
    Candidate("linear", "rotary", "position interpolation: every frequency divided"),
    Candidate("ntk", "rotary", "NTK-aware scaling: a larger base"),
)
RESCALE = Candidate("rescale", "rotary", "the scaling that the checkpoint has, carried further")


def candidates(facts: Facts) -> tuple[Candidate, ...]:
    """What there is to choose from, in the order that decides between equal points."""
    if facts.existing is not None:
        return _for_checkpoint(facts, facts.existing)
    if facts.task == Task.VISION_LANGUAGE:
        return VISION_LANGUAGE
    if facts.axes > 1:
        return GRID if facts.axes == 2 else VIDEO
    return (RANDOMIZED, *SEQUENCE) if facts.task == Task.ALGORITHMIC else SEQUENCE


def _for_checkpoint(facts: Facts, encoding: str) -> tuple[Candidate, ...]:
    keep = Candidate(KEEP, encoding, f"the checkpoint's own {encoding} encoding, as it is")
    if facts.target <= facts.trained:
        return (keep,)
    if facts.turns:
        ways = EXTENSIONS if facts.rotary_kind == "plain" else (RESCALE,)
        return (*(replace(way, encoding=encoding) for way in ways), keep)
    more = (INTERPOLATE,) if encoding == "learned" else ()
    stays = encoding in ("nope", *GRIDS) or facts.axes > 1
    return (keep, *more, *(() if stays else (SWITCH,)))
