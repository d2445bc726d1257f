"""Copies of a model that is run several times from the same state: large weights are shared, the rest is copied."""

import copy

from torch import nn

from gnomon.doctor.evidence.calling import Model

LARGE = 100_000  # numbers in a weight; a smaller one costs nothing to copy


def light_copy(probe: Model) -> Model:
    """The probe around a copy of its module for forwards without gradients.

    Shared are large weights that a forward reads as factors or looks words up in, which gives new numbers: those of
    linear layers and of tables with a row for each token. Buffers, attributes and tables of positions, which code may
    write into, are the copy's own.
    """
    memo = {
        id(weight): weight
        for layer in probe.module.modules()
        if type(layer) is nn.Linear or (type(layer) is nn.Embedding and layer.num_embeddings == probe.vocabulary)
        for weight in (layer.weight,)
        if type(weight) is nn.Parameter and weight.numel() >= LARGE
    }
    other = copy.copy(probe)
    other.module = copy.deepcopy(probe.module, memo)
    return other
