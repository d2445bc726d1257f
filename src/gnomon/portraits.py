"""The figures that show an encoding: its values, its waves, which positions look alike, and what distance does.

`portrait` takes an encoding; the others take the plain numbers, from wherever they came.
"""

import numpy as np
import torch
from jaxtyping import Float, Int

from gnomon.encodings.base import PositionEncoding
from gnomon.encodings.rotary import Rotary
from gnomon.errors import GnomonError
from gnomon.plots.figure import Figure, Heatmap
from gnomon.plots.portraits import MAX_CELLS, decay, heat_map, kept, similarity, thinned
from gnomon.plots.spectra import spectrum, wavelengths

MIN_POSITIONS = 4  #: a shorter table has no spectrum


def portrait(encoding: PositionEncoding, *, length: int, title: str = "") -> tuple[Figure, ...]:
    """Figures of an encoding at positions 0 .. length - 1, chosen by the hooks that it uses; `title` goes in front.

    Raises GnomonError for an encoding without numbers of its own (NoPE) and PositionError past its last position.

    >>> from gnomon.encodings import ALiBi
    >>> [type(figure).__name__ for figure in portrait(ALiBi(num_heads=2), length=8)]
    ['Heatmap', 'Lines']
    """
    positions = torch.arange(length)[None]
    if isinstance(encoding, Rotary):
        frequencies = np.array(encoding.inverse_frequencies)
        factor = encoding.attention_factor
        return rotary_portrait(frequencies, length=length, attention_factor=factor, title=title)
    with torch.no_grad():
        if encoding.bias(positions[:, :1], positions[:, :1]) is not None:
            return _bias_of(encoding, positions, title)
        if "dim" in encoding.options:
            table = encoding.embed(torch.zeros(1, length, encoding.options["dim"]), positions)[0].numpy()
            return table_portrait(table, title=title)
    raise GnomonError(f"{type(encoding).__name__} has no numbers to draw: it adds no vector, no rotation and no bias.")


def table_portrait(table: Float[np.ndarray, "positions dims"], *, title: str = "") -> tuple[Figure, ...]:
    """Values, waves, similarity, and the mean cosine by distance of a table; `title` goes in front of each title."""
    distances, cosines = cosine_by_distance(table)
    return (
        heat_map(table, title=_join(title, "Values of the table")),
        *_waves(table, title),
        similarity(table, title=_join(title, "Similarity of positions")),
        decay(
            distances,
            cosines,
            names=("mean cosine",),
            title=_join(title, "Similarity by distance"),
            y_label="mean cosine of two positions",
        ),
    )


def rotary_portrait(
    frequencies: Float[np.ndarray, " pairs"], *, length: int, attention_factor: float = 1.0, title: str = ""
) -> tuple[Figure, ...]:
    """Figures of rotary frequencies (radians a position): the table is cos | sin of the angles.

    The decay is the mean over pairs of the score that two equal vectors get at each distance: sum cos(d w) / pairs.
    """
    turned = np.arange(length)[:, None] * frequencies
    table = attention_factor * np.concatenate([np.cos(turned), np.sin(turned)], axis=1)
    return (
        heat_map(table, title=_join(title, "Cosines | sines of the angles")),
        wavelengths(frequencies, context_length=length, title=_join(title, "Wavelength of each frequency")),
        *_waves(table, title),
        similarity(table, title=_join(title, "Similarity of positions")),
        decay(
            np.arange(length, dtype=np.float64),
            attention_factor**2 * np.cos(turned).mean(axis=1),
            names=("mean score",),
            title=_join(title, "Score of equal vectors by distance"),
            y_label="score / score at distance 0 without scaling",
        ),
    )


def bias_portrait(
    head: Float[np.ndarray, "positions positions"],
    by_distance: Float[np.ndarray, "heads distances"],
    *,
    ids: Int[np.ndarray, " positions"] | None = None,
    title: str = "",
) -> tuple[Figure, ...]:
    """The bias of the first head between the positions `ids` as a heat map, and of every head by distance as lines."""
    rows = np.arange(len(head)) if ids is None else ids
    axis = rows.astype(np.float64)
    note = thinned(by_distance.shape[1], len(rows), "position")
    title_of_map = _join(title, "Bias of head 0")
    lines = decay(
        np.arange(by_distance.shape[1], dtype=np.float64),
        by_distance - by_distance[:, :1],
        names=[f"head {index}" for index in range(len(by_distance))],
        title=_join(title, "Bias by distance"),
        y_label="bias on the logits, against distance 0",
    )
    return Heatmap(title_of_map, head, "key position", "query position", "bias", True, note, axis, axis), lines


def cosine_by_distance(
    table: Float[np.ndarray, "positions dims"],
) -> tuple[Float[np.ndarray, " distances"], Float[np.ndarray, " distances"]]:
    """For each distance, the mean cosine of the pairs of positions that far apart; rows of zeros count as cosine 0.

    >>> cosine_by_distance(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))[1].round(6).tolist()
    [1.0, 0.0, 1.0]
    """
    values = np.asarray(table, dtype=np.float64)
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    units = np.divide(values, norms, out=np.zeros_like(values), where=(norms > 0) & np.isfinite(norms))
    count = len(units)
    # Sums over the pairs at each distance are an autocorrelation; twice the length keeps the ends from wrapping round.
    power = (np.abs(np.fft.rfft(units, 2 * count, axis=0)) ** 2).sum(axis=1)
    sums = np.fft.irfft(power, 2 * count)[:count]
    return np.arange(count, dtype=np.float64), sums / np.arange(count, 0, -1)


def _waves(table: Float[np.ndarray, "positions dims"], title: str) -> tuple[Figure, ...]:
    """The spectrum, of a table that is long enough to have one."""
    return (spectrum(table, title=_join(title, "Waves along the positions")),) if len(table) >= MIN_POSITIONS else ()


def _bias_of(encoding: PositionEncoding, positions: Int[torch.Tensor, "1 S"], title: str) -> tuple[Figure, ...]:
    """Asks for the cells that are drawn only: a whole bias grows with the square of the length."""
    ids = kept(positions.shape[1], MAX_CELLS)
    drawn = positions[:, torch.from_numpy(ids)]
    between, last_row = encoding.bias(drawn, drawn), encoding.bias(positions[:, -1:], positions)
    if between is None or last_row is None:
        raise GnomonError(f"{type(encoding).__name__} gives a bias for some positions only.")
    return bias_portrait(between[0, 0].numpy(), last_row[0, :, 0].flip(-1).numpy(), ids=ids, title=title)


def _join(title: str, what: str) -> str:
    return f"{title}: {what[0].lower()}{what[1:]}" if title else what
