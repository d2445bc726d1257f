"""Which parameters of a model carry positions, in gnomon's models and in others'."""

import re
from collections.abc import Iterator

from torch import nn

from gnomon.adapters.claims import Claim
from gnomon.adapters.module import module_subject
from gnomon.adapters.position_names import is_relative_name, is_table_name, of_encodings
from gnomon.adapters.subject import MissingEvidence
from gnomon.encodings.base import registry
from gnomon.encodings.fourier import FourierFeatures
from gnomon.errors import GnomonError
from gnomon.kernels.given import require

#: What torch's parametrizations put into a name in place of `.name`.
PARAMETRIZED = re.compile(r"(^|\.)parametrizations\.(\w+)\.(original|\d+\.\w+)$")
#: Modules whose matrices have no row for each position.
MAPS = (nn.Linear, FourierFeatures)
#: Vectors that every query of a head adds: u and v of Dai et al. 2019, arXiv:1901.02860, and their names elsewhere.
HEAD_VECTORS = re.compile(r"(^|[._])(r_[wrs]_bias|pos_bias_[uv]|(content|position)_bias_vector)$")


def position_parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """Tables, biases, slopes and frequencies by name, each parameter once: those of `named_parameters` that are such.

    Three sources name them: gnomon's own encodings, the config of a transformers model, and the names that the field
    uses. A frozen parameter is among them. Raises GnomonError for what is no module.

    >>> from gnomon.encodings import T5Bias
    >>> from gnomon.models import Decoder, ModelOptions
    >>> model = Decoder(ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4), encoding=T5Bias(4))
    >>> list(position_parameters(model))
    ['stack.blocks.0.attention.encoding.weight']
    """
    require_module(model)
    own, tables = of_encodings(model), [table for claim in claims_of_model(model) for table in claim.table_names]
    found = {}
    for name, parameter in model.named_parameters():
        plain = plain_name(name)
        named = is_table_name(plain) or is_relative_name(plain) or any(re.search(table, plain) for table in tables)
        if name in own or named:
            found[name] = parameter
    return found


def learned_parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """Those of `position_parameters` that are there to be learned: a table that the config calls fixed is not."""
    require_module(model)
    fixed = [table for claim in claims_of_model(model) if _is_fixed(claim) for table in claim.table_names]
    own, every = of_encodings(model), position_parameters(model).items()
    return {n: p for n, p in every if n in own or not any(re.search(table, plain_name(n)) for table in fixed)}


def table_parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """Those of `learned_parameters` that are tables: two dimensions, and a row for each position, distance or bucket.

    Small networks that compute a bias (FIRE, LogCPB), projections of a table and vectors for each head (Transformer-XL)
    are none.
    """
    learned = learned_parameters(model)
    holders = {id(parameter): part for part, parameter in owners(model)}
    return {
        name: parameter
        for name, parameter in learned.items()
        if parameter.ndim == 2
        and not isinstance(holders[id(parameter)], MAPS)
        and not HEAD_VECTORS.search(plain_name(name))
    }


def require_module(model: nn.Module) -> None:
    """Raise GnomonError for anything but a module."""
    require(model, nn.Module, "What is fine-tuned is a torch.nn.Module, a model or an encoding")


def owners(model: nn.Module) -> Iterator[tuple[nn.Module, nn.Parameter]]:
    """Each parameter with each module that holds it itself."""
    for part in model.modules():
        for parameter in part.parameters(recurse=False):
            yield part, parameter


def claims_of_model(model: nn.Module) -> tuple[Claim, ...]:
    """What the encodings in the model, or its config, say about positions; nothing where neither does."""
    try:
        return module_subject(model, forward=False).claims
    except (MissingEvidence, GnomonError):
        return ()


def plain_name(name: str) -> str:
    """The name that a parameter has without an adapter.

    >>> plain_name("wpe.parametrizations.weight.0.rows"), plain_name("wpe.weight")
    ('wpe.weight', 'wpe.weight')
    """
    return PARAMETRIZED.sub(r"\1\2", name)


def _is_fixed(claim: Claim) -> bool:
    return claim.kind in registry.names() and not registry.get(claim.kind).learned
