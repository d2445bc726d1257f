"""What can be measured of an encoder that gives vectors alone: short inputs, and long documents found by their parts.

A document's vector is the mean over its places, as sentence encoders are mostly read. A part of a document is a query;
the documents are what is searched. A model whose table ends early sees the beginning of a long document only, so parts
from beyond it are found by chance or by the topic: the extended model should find more of them.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from gnomon.extending.checking.logits import hidden_states
from gnomon.extending.checking.noise import Change, compare
from gnomon.extending.checking.opened import Opened

PART = 64  #: tokens of a query
PARTS = 8  #: queries of a document
TOGETHER = 8192  #: tokens of one forward pass

Vectors = Float64[np.ndarray, "rows width"]


@final
@dataclass(frozen=True)
class Embedded:
    """The vectors of one model for documents of one length, and those of their parts, each of length 1."""

    documents: Vectors
    parts: Float64[np.ndarray, "rows parts width"]
    starts: Int64[np.ndarray, " parts"]  #: where each part starts in its document

    @property
    def found(self) -> Float64[np.ndarray, "rows parts"]:
        """1 where the nearest document of a part is its own, else 0."""
        scores = np.einsum("rpw,dw->rpd", self.parts, self.documents)
        result: Float64[np.ndarray, "rows parts"] = (
            scores.argmax(axis=-1) == np.arange(len(self.documents))[:, None]
        ).astype(np.float64)
        return result

    @property
    def agreement(self) -> Float64[np.ndarray, "rows one"]:
        """The cosine of each document and the mean of its parts."""
        mean = self.parts.mean(axis=1)
        result: Float64[np.ndarray, "rows one"] = (_unit(mean) * self.documents).sum(axis=1, keepdims=True)
        return result


@final
@dataclass(frozen=True)
class Documents:
    """Documents of `length` tokens: shares of their parts that find them, and cosines with the mean of their parts.

    `beyond`: the share among parts from beyond the old length, which the model before never sees; None where all are
    within it.
    """

    length: int
    documents: int
    found: Change
    beyond: Change | None
    agreement: Change

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "length": self.length,
            "documents": self.documents,
            "found": self.found.to_dict(),
            "beyond": None if self.beyond is None else self.beyond.to_dict(),
            "agreement": self.agreement.to_dict(),
        }


@final
@dataclass(frozen=True)
class Short:
    """Cosines between the vectors of the same inputs of `length` tokens before and after."""

    length: int
    inputs: int
    mean: float
    lowest: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"length": self.length, "inputs": self.inputs, "mean": self.mean, "lowest": self.lowest}


def vectors(opened: Opened, rows: Int64[np.ndarray, "rows places"]) -> Vectors:
    """The mean over places of each row's states, of length 1, float64."""
    whole = torch.stack([opened.row(row.tolist()) for row in rows])
    at_once = max(1, TOGETHER // whole.shape[1])
    means = [hidden_states(opened.module, part).double().mean(dim=1) for part in whole.split(at_once)]
    return _unit(_plain(torch.cat(means)))


def embed(opened: Opened, rows: Int64[np.ndarray, "rows places"], most: int | None = None) -> Embedded:
    """Documents, cut after `most` tokens (special ones among them) where the model takes no more, and their parts."""
    width = rows.shape[1]
    starts = np.linspace(0, width - PART, PARTS).round().astype(np.int64)
    parts = np.stack([rows[:, start : start + PART] for start in starts], axis=1)
    room = width if most is None else min(width, most - opened.tokens.special)
    found = vectors(opened, parts.reshape(-1, PART))
    return Embedded(vectors(opened, rows[:, :room]), found.reshape(len(rows), PARTS, -1), starts)


def documents(length: int, before: Embedded, after: Embedded, old: int | None) -> Documents:
    """Both models over the same documents; the parts of a document are one draw."""
    late = before.starts >= (length if old is None else old)
    return Documents(
        length,
        len(before.documents),
        compare(before.found, after.found, block=None),
        compare(before.found[:, late], after.found[:, late], block=None) if late.any() else None,
        compare(before.agreement, after.agreement, block=None),
    )


def short(length: int, before: Vectors, after: Vectors) -> Short:
    """Cosines of the same inputs."""
    cosines = (before * after).sum(axis=1)
    return Short(length, len(cosines), float(cosines.mean()), float(cosines.min()))


def _unit(values: Vectors) -> Vectors:
    result: Vectors = values / np.linalg.norm(values, axis=-1, keepdims=True)
    return result


def _plain(values: Tensor) -> Vectors:
    result: Vectors = values.cpu().numpy()
    return result
