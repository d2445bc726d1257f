"""What blocks that are computed again for gradients must still find: the encoding, positions and masks of the call.

Between the two passes a parameter may be swapped (`torch.func.functional_call`, `load_state_dict(assign=True)`) or
frozen, ids drawn anew, positions written over. Gradients are those of the pass that was made.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast, final

from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized, type_before_parametrizations

from gnomon.attention.call import Call
from gnomon.attention.slots import owned
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError


def copied(encoding: PositionEncoding, put: Callable[[Tensor], Tensor]) -> PositionEncoding:
    """The encoding with `put(tensor)` for each parameter, buffer and other tensor of its modules; the rest is shared.

    `put` is called once for each tensor, in an order that stays. A parametrized one is computed, and stands in the copy
    as a plain tensor: `torch.nn.utils.parametrize.cached` then has no part in what follows.
    """
    return cast(PositionEncoding, _Copier(put).module(encoding))


def copyable(encoding: PositionEncoding) -> bool:
    """False where a module holds a method of its own, or of another one: a copy would work on the tensors of that."""
    return not any(_own_method(module) for module in encoding.modules())


def _own_method(module: nn.Module) -> bool:
    kind = type_before_parametrizations(module)
    return any(
        isinstance(getattr(value, "__self__", None), nn.Module) or (callable(value) and hasattr(kind, name))
        for name, value in vars(module).items()
    )


@final
class _Copier:
    def __init__(self, put: Callable[[Tensor], Tensor]) -> None:
        self.put = put
        self.done: dict[int, tuple[object, Any]] = {}  # with the originals, whose numbers must not be given to others

    def tensor(self, given: Tensor | None) -> Tensor | None:
        if given is not None and id(given) not in self.done:
            self.done[id(given)] = given, self.put(given)
        return None if given is None else cast(Tensor, self.done[id(given)][1])

    def module(self, given: nn.Module | None) -> nn.Module | None:
        if given is None:
            return None
        if id(given) not in self.done:
            kind: type[nn.Module] = type_before_parametrizations(given)
            copy = kind.__new__(kind)
            self.done[id(given)] = given, copy
            copy.__dict__.update(vars(given), **self._parts(given))
        return cast(nn.Module, self.done[id(given)][1])

    def _parts(self, given: nn.Module) -> dict[str, Any]:
        computed = list(cast(nn.ModuleDict, given.parametrizations)) if is_parametrized(given) else []
        parameters = {**given._parameters, **{name: getattr(given, name) for name in computed}}
        children = {name: x for name, x in given._modules.items() if not (computed and name == "parametrizations")}
        plain = {name: x for name, x in vars(given).items() if isinstance(x, Tensor) and not x.is_inference()}
        return {
            **{name: self.tensor(x) for name, x in plain.items()},
            "_parameters": {name: self.tensor(x) for name, x in parameters.items()},
            "_buffers": {name: self.tensor(x) for name, x in given._buffers.items()},
            "_modules": {name: self.module(x) for name, x in children.items()},
        }


def kept_call(call: Call) -> Call:
    """The call without graphs, and with positions and masks of its own: numbers for each slot, not for each pair."""
    own = call.context
    context = replace(own, keys=own.keys.detach(), values=own.values.detach()).owned()
    return replace(
        call, q=call.q.detach(), positions=owned(call.positions), mask=call.mask.each(owned), context=context
    )


def watched(*tensors: Tensor) -> Callable[[], None]:
    """A check that none of these was written over since, which raises GnomonError. For those too large to copy."""
    versions = [(x, x._version) for x in tensors if not x.is_inference()]

    def check() -> None:
        for tensor, version in versions:
            if tensor._version != version:
                raise GnomonError(
                    f"A tensor of shape {tuple(tensor.shape)} that attention read was changed in place before "
                    f"its backward pass, which reads it again; call backward first, or change a copy."
                )

    return check
