"""The figures of a rotation of queries and keys along one axis."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from gnomon.encodings.base import PositionEncoding
from gnomon.encodings.frequencies.base import Frequencies
from gnomon.encodings.rotary import Rotary
from gnomon.plots.figure import Figure, Heatmap
from gnomon.plots.portraits import MAX_CELLS, decay, heat_map, kept, sentences, similarity, thinned
from gnomon.plots.spectra import compared_wavelengths, wavelengths
from gnomon.portraits.tables import waves
from gnomon.portraits.titles import join

LONGER = 4  #: of a rule that depends on the length: the second length drawn, in trained lengths
SCORE_LABEL = "score / score at distance 0 without scaling"


def rotary_portrait(
    frequencies: Float[np.ndarray, " pairs"], *, length: int, attention_factor: float = 1.0, title: str = ""
) -> tuple[Figure, ...]:
    """Figures of rotary frequencies (radians a position): the table is cos | sin of the angles.

    The decay is the mean over pairs of the score that two equal vectors get at each distance: sum cos(d w) / pairs.
    """
    turned = np.arange(length)[:, None] * frequencies
    table = attention_factor * np.concatenate([np.cos(turned), np.sin(turned)], axis=1)
    return (
        heat_map(table, title=join(title, "Cosines | sines of the angles")),
        wavelengths(frequencies, context_length=length, title=join(title, "Wavelength of each frequency")),
        *waves(table, title),
        similarity(table, title=join(title, "Similarity of positions")),
        decay(
            np.arange(length, dtype=np.float64),
            attention_factor**2 * np.cos(turned).mean(axis=1),
            names=("mean score",),
            title=join(title, "Score of equal vectors by distance"),
            y_label=SCORE_LABEL,
        ),
    )


def rotary_of(encoding: Rotary, length: int, title: str) -> tuple[Figure, ...]:
    """The figures of its frequencies; where they depend on the length, those of the trained one and a comparison."""
    frequencies, factor = np.array(encoding.inverse_frequencies), encoding.attention_factor
    figures = rotary_portrait(frequencies, length=length, attention_factor=factor, title=title)
    if not encoding.length_dependent:
        return figures
    return *figures, compared_wavelengths(
        lengths_compared(encoding.frequencies, encoding.rotary_dim),
        title=join(title, "Wavelengths at the trained length and beyond"),
    )


def lengths_compared(rule: Frequencies, rotary_dim: int) -> dict[str, Float[np.ndarray, " pairs"]]:
    """The frequencies of a rule that depends on the length, at the trained one and at 4 times it."""
    trained = int(rule.options["original_max_length"])
    return {f"length {n}": rule.at_length(n).inverse(rotary_dim) for n in (trained, LONGER * trained)}


def scores_of(encoding: PositionEncoding, positions: Int[torch.Tensor, "1 S"], title: str) -> tuple[Figure, ...]:
    """Of a rotation that is more than one (xPos): the scores of equal vectors, as a map and by distance."""
    length = positions.shape[1]
    ids = kept(length, MAX_CELLS)
    drawn, axis = positions[:, torch.from_numpy(ids)], ids.astype(np.float64)
    between = equal_scores(encoding, drawn, drawn)[0].astype(np.float64)
    if encoding.causal_only:
        between[np.triu_indices(len(ids), 1)] = np.nan
    note = sentences(
        "Keys after the query are hidden." if encoding.causal_only else "", thinned(length, len(ids), "position")
    )
    lines = decay(
        np.arange(length, dtype=np.float64),
        equal_scores(encoding, positions[:, -1:], positions)[0, 0, ::-1],
        names=("score",),
        title=join(title, "Score of equal vectors by distance"),
        y_label=SCORE_LABEL,
    )
    heading = join(title, "Score of equal vectors at two positions")
    return Heatmap(heading, between, "key position", "query position", "score", True, note, axis, axis), lines


def equal_scores(
    encoding: PositionEncoding, queries: Int[torch.Tensor, "1 Q *axes"], keys: Int[torch.Tensor, "1 K *axes"]
) -> Float[np.ndarray, "heads Q K"]:
    """The score of a query and a key that are equal before they turn, over the score without turning.

    With ones everywhere all pairs count the same, so this is the mean over pairs.
    """
    heads, width = sizes(encoding)
    q, k = (torch.ones(1, heads, positions.shape[1], width) for positions in (queries, keys))
    turned = encoding.rotate_query(q, queries) @ encoding.rotate_key(k, keys).mT
    scores: Float[np.ndarray, "heads Q K"] = (turned[0] / width).numpy()
    return scores


def sizes(encoding: PositionEncoding) -> tuple[int, int]:
    """The number of heads (1 for an encoding that asks for none) and their width; width 0 says that it has no heads."""
    options: dict[str, Any] = encoding.options
    return options.get("num_heads", 1), options.get("head_dim", 0)
