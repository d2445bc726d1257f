"""Slopes of a linear bias that a model keeps in a buffer: one number a head, or a bias that grows evenly."""

import math
import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.doctor.evidence.base import attempt, evidence

NAME = re.compile(r"alibi|(^|[._])slopes?$", re.IGNORECASE)
EVEN = 1e-2  # of a step: what rounding may do to a bias that grows evenly
MOST = 16_000_000  # numbers; larger ones are left unread


@dataclass(frozen=True)
class StoredSlopes:
    """The slope of each head, above 0 whatever sign the bias is kept with."""

    name: str
    values: Float64[np.ndarray, " heads"]


@evidence
def stored_slopes(subject: Subject) -> tuple[StoredSlopes, ...]:
    """Every buffer of slopes, in the files and in the model; learned ones are no part of it."""
    stored = attempt(lambda s: s.tensors, subject)
    built = None if isinstance(stored, ModuleTensors) else attempt(lambda s: ModuleTensors(s.module), subject)
    found: dict[str, StoredSlopes] = {}
    for source in (stored, built):
        for info in source.infos() if source is not None else ():
            slopes = _slopes(source, info) if source is not None and _fixed(info) else None
            if slopes is not None and info.name not in found:
                found[info.name] = StoredSlopes(info.name, slopes)
    if not found:
        raise MissingEvidence("no buffer of ALiBi slopes (a bias that is computed in the forward is PE308's matter)")
    return tuple(found.values())


def _fixed(info: TensorInfo) -> bool:
    size = math.prod(info.shape)
    return bool(NAME.search(info.name)) and not info.trainable and "float" in info.dtype and 1 < size <= MOST


def _slopes(source: TensorSource, info: TensorInfo) -> Float64[np.ndarray, " heads"] | None:
    """One number a head, or the step of a bias (heads, keys); None for anything else."""
    try:
        values = source.load(info.name).double().numpy().squeeze()
    except MissingEvidence:
        return None
    if not np.isfinite(values).all() or values.ndim not in (1, 2):
        return None
    if values.ndim == 1:
        slopes: Float64[np.ndarray, " heads"] = np.abs(values)
    else:
        steps = np.diff(values, axis=1)
        slopes = np.abs(steps.mean(axis=1)) if steps.size else np.zeros(1)
        if np.abs(np.abs(steps) - slopes[:, None]).max(initial=0.0) > EVEN * slopes.max():
            return None
    return slopes if (slopes > 0).all() else None
