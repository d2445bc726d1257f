"""Any nn.Module as a Subject: its tensors, and its config and claims where it has them. It is never changed."""

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, final

import torch
from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from gnomon.adapters.example import bind_example, example_for, forward_signature
from gnomon.adapters.families import claims_of, family_of
from gnomon.adapters.families.rules import ATTENTION
from gnomon.adapters.placement import NO_FORWARD, parse_device, parse_dtype
from gnomon.adapters.subject import Absent, Lazy, MissingEvidence, Subject
from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.adapters.wording import said
from gnomon.encodings.base import PositionEncoding, name_of
from gnomon.errors import GnomonError

CASTS: dict[torch.dtype, Callable[[nn.Module], nn.Module]] = {
    torch.float32: nn.Module.float,
    torch.float64: nn.Module.double,
    torch.float16: nn.Module.half,
    torch.bfloat16: nn.Module.bfloat16,
}


@final
class ModuleTensors(TensorSource):
    """Parameters, buffers (those outside the state dict too), and plain tensors kept as attributes (role "unknown")."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module

    def infos(self) -> tuple[TensorInfo, ...]:
        return tuple(info for info, _ in self._each())

    def load(self, name: str) -> Tensor:
        for info, tensor in self._each():
            if info.name == name:
                if tensor.is_meta:
                    raise MissingEvidence(f"the tensor {name} is on the meta device and has no values")
                return tensor.detach().cpu()
        raise KeyError(name)

    def _each(self) -> Iterator[tuple[TensorInfo, Tensor]]:
        for path, part in self._module.named_modules():
            prefix, owner = path + "." if path else "", type(part).__name__
            for name, parameter in part.named_parameters(recurse=False):
                info = _info(prefix + name, parameter, "parameter", trainable=parameter.requires_grad)
                yield replace(info, owner=owner, padding_row=_padding_row(part)), parameter
            for name, buffer in part.named_buffers(recurse=False):
                info = _info(prefix + name, buffer, "buffer")
                yield replace(info, persistent=name not in part._non_persistent_buffers_set, owner=owner), buffer
            for name, value in vars(part).items():
                if isinstance(value, Tensor):
                    yield replace(_info(prefix + name, value, "unknown"), persistent=False, owner=owner), value


def _padding_row(part: nn.Module) -> int | None:
    return part.padding_idx if isinstance(part, nn.Embedding) else None


def _info(name: str, tensor: Tensor, role: Any, *, trainable: bool = False) -> TensorInfo:
    dtype = str(tensor.dtype).removeprefix("torch.")
    return TensorInfo(name, tuple(tensor.shape), dtype, role=role, trainable=trainable)


def module_subject(
    module: nn.Module,
    example: Any = None,
    *,
    target: str | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | str | None = None,
    forward: bool = True,
) -> Subject:
    """A Subject around a module in memory; what is run is a copy in eval mode, in float32 unless told otherwise."""
    place, number = parse_device(device), parse_dtype(dtype)
    module = _uncompiled(module)
    config = _config(module)
    arguments = None if example is None else bind_example(module, example)
    subject = Subject(
        target or type(module).__name__,
        config=Absent("the module has no Hugging Face config") if config is None else config,
        claims=Lazy(lambda: module_claims(module, config)),
        family=Absent("the module has no config") if config is None else Lazy(lambda: family_of(config)),
        tensors=ModuleTensors(module),
        module=Lazy(lambda: examined_copy(module, place, number)) if forward else Absent(NO_FORWARD),
        example=Lazy(lambda: example_for(subject, arguments, place)),
        original=module,
        tokenizer=Absent("a module has no tokenizer_config.json"),
        trained=False,
    )
    return subject


def _uncompiled(module: nn.Module) -> nn.Module:
    """What torch.compile wrapped: to watch a compiled forward would compile the watching too, which takes minutes."""
    inside = getattr(module, "_orig_mod", None)
    return inside if isinstance(inside, nn.Module) and type(module).__name__ == "OptimizedModule" else module


def examined_copy(module: nn.Module, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """A copy in eval mode; only real floating tensors change dtype (nn.Module.to would drop imaginary parts)."""
    if any(tensor.is_meta for tensor in module.parameters()):
        raise MissingEvidence("the module is on the meta device and has no values; load its weights first")
    forward_signature(module)  # without one nothing can call the model
    try:
        return CASTS[dtype](copy.deepcopy(module).to(device)).eval()
    except (Exception, SystemExit) as error:  # noqa: BLE001  any object may hang on a module
        raise MissingEvidence(f"the module cannot be copied: {said(error)}") from None


def module_claims(module: nn.Module, config: Mapping[str, Any] | None) -> tuple[Claim, ...]:
    """Claims from gnomon encodings inside the module, else from its config; raises MissingEvidence without either."""
    found = [_claim(path, part) for path, part in _encodings(module)]
    if found:
        return tuple(claim for i, claim in enumerate(found) if not _said(claim, found[:i]))
    if config is None:
        raise MissingEvidence(
            "the module has neither a Hugging Face config nor a gnomon encoding that states positions"
        )
    return claims_of(config)


def _encodings(module: nn.Module) -> Iterator[tuple[str, PositionEncoding]]:
    """The encodings and their paths; one that stands inside another is that one's matter."""
    outer: list[str] = []
    for path, part in module.named_modules():
        if isinstance(part, PositionEncoding) and not path.startswith(tuple(f"{above}." for above in outer)):
            outer.append(path)
            yield path, part


def _claim(path: str, encoding: PositionEncoding) -> Claim:
    try:
        kind = name_of(type(encoding))
    except GnomonError:
        kind = type(encoding).__name__
    embeds = type(encoding).embed is not PositionEncoding.embed
    options = encoding.options
    table = (rf"^{re.escape(path + '.' if path else '')}weight$",) if encoding.learned and embeds else ()
    keys = dict.fromkeys(options, f"{path or type(encoding).__name__}.options")
    return Claim(kind, "embeddings" if embeds else ATTENTION, options, keys, table)


def _said(claim: Claim, earlier: list[Claim]) -> bool:
    """Whether another layer's encoding already makes the same claim."""
    return any((c.kind, c.where, c.options) == (claim.kind, claim.where, claim.options) for c in earlier)


def _config(module: nn.Module) -> dict[str, Any] | None:
    """The module's Hugging Face config as plain data; None when it has none that can be read."""
    try:
        to_dict = getattr(getattr(module, "config", None), "to_dict", None)
        fields = to_dict() if callable(to_dict) else None
    except Exception:  # noqa: BLE001  a config of the user's own may be anything
        return None
    return fields if isinstance(fields, dict) else None
