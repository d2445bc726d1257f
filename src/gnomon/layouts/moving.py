"""Rows of a model in memory moved to other pairs, to see what that does to its outputs."""

import copy

import torch
from torch import nn

from gnomon.adapters.module import ModuleTensors
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.calling import Model
from gnomon.doctor.evidence.layout_loss import gather_projections
from gnomon.doctor.evidence.query_key_rows import heads
from gnomon.errors import GnomonError
from gnomon.layouts.geometry import geometry_of
from gnomon.layouts.places import Attention, places_of


def move_rows(subject: Subject, module: nn.Module, how: str) -> int:
    """Gathers the rows of queries and keys of `module`, a copy of the subject's, to "half" or "interleaved".

    Fused projections and QK-norms too where the config is of a family that is known; else projections of their own.
    Returns how many tensors moved; raises MissingEvidence where none can be.
    """
    attentions = _places(subject, module)
    if attentions is None:
        return gather_projections(module, heads(subject), how)
    count = 0
    with torch.no_grad():
        for attention in attentions:
            for name, lanes in attention.lanes.items():
                weight = module.get_parameter(name)
                moved = weight.detach().clone(memory_format=torch.contiguous_format)
                weight.copy_(lanes.move(moved, "half" if how == "half" else "interleaved"))
                count += 1
    return count


def moved(subject: Subject, probe: Model, how: str) -> Model:
    """The probe on a copy of its module with the rows moved; itself for "same"."""
    if how == "same":
        return probe
    other = copy.copy(probe)
    other.module = copy.deepcopy(probe.module)
    move_rows(subject, other.module, how)
    return other


def _places(subject: Subject, module: nn.Module) -> tuple[Attention, ...] | None:
    infos = [info for info in ModuleTensors(module).infos() if info.role == "parameter"]
    try:
        return places_of(infos, geometry_of(subject.config))
    except (GnomonError, MissingEvidence):
        return None
