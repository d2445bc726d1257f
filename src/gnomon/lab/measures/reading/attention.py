"""The attention of each layer as the layer computes it: read where torch's fused attention is called."""

from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it
from torch.overrides import TorchFunctionMode

from gnomon.lab.measures.base import Trained
from gnomon.lab.measures.reading.pieces import layers
from gnomon.lab.tasks.base import Batch


def attention_maps(trained: Trained, batch: Batch, generator: torch.Generator) -> list[Float[Tensor, "B H S S"]]:
    """For each layer the logarithm of the attention from query (row) to key (column); -inf where a key is hidden.

    Rotations, biases and masks are in it, whatever the encoding: the numbers are those that the layer gives to torch.
    One such map is S times S for each head and row, so pass `pieces_for_maps` of a large batch one by one.
    """
    reader = _Reader(batch.ids.shape[1])
    attentions = layers(trained)
    hooks = [each.register_forward_pre_hook(reader.enter) for each in attentions]
    try:
        with reader:
            trained.logits(batch, generator)
    finally:
        for hook in hooks:
            hook.remove()
    return [torch.cat(parts, dim=2) for parts in reader.maps]


@final
class _Reader(TorchFunctionMode):
    """Keeps the maps of the layer that runs now, which may come in several runs of queries."""

    def __init__(self, slots: int) -> None:
        super().__init__()
        self.slots, self.maps = slots, list[list[Tensor]]()

    def enter(self, _: nn.Module, __: Any) -> None:
        self.maps.append([])

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        if func is F.scaled_dot_product_attention:
            self.maps[-1].append(self._log_attention(*args[:2], **given))
        return func(*args, **given)

    def _log_attention(
        self,
        query: Tensor,
        key: Tensor,
        *,
        scale: float,
        is_causal: bool = False,
        attn_mask: Tensor | None = None,
    ) -> Tensor:
        logits = query.float() @ key.float().mT * scale
        if is_causal:
            hidden = torch.ones(logits.shape[-2:], dtype=torch.bool, device=logits.device).triu(1)
            logits = logits.masked_fill(hidden, -torch.inf)
        elif attn_mask is not None and attn_mask.dtype == torch.bool:
            logits = logits.masked_fill(~attn_mask, -torch.inf)
        elif attn_mask is not None:
            logits = logits + attn_mask
        later = self.slots - key.shape[2]  # keys after a run of queries were not passed
        return F.pad(logits.log_softmax(-1), (0, later), value=-torch.inf).cpu()
