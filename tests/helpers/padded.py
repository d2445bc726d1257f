"""One padded batch for models of transformers, and what a comparison of their hidden states says."""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon import positions
from tests.helpers.tiny_transformers import VOCABULARY, tiny_model
from tests.helpers.weights import redraw, token_ids

TOKENS = 11
MASK = torch.tensor([[0, 0, 0, *[1] * (TOKENS - 3)], [1] * TOKENS])
REAL = MASK.bool()
#: padded on the left, and each row counts from its own start
PLACES = positions.from_mask(MASK) + torch.tensor([[7], [19]])
#: no token is one of the ids that families keep for padding
IDS = 3 + token_ids(2, TOKENS, vocabulary=VOCABULARY - 3)


def drawn(options: dict[str, Any]) -> Any:
    """A tiny model, eager unless it says otherwise, with all trained weights redrawn; sines kept as parameters stay."""
    model = tiny_model(**{"attn_implementation": "eager", **options})
    fixed = {name: parameter.clone() for name, parameter in model.named_parameters() if not parameter.requires_grad}
    redraw(model)
    model.load_state_dict(fixed, strict=False)
    return model


@torch.no_grad()
def hidden(model: nn.Module, **inputs: Any) -> Tensor:
    """The last hidden states for the batch, or for other inputs."""
    batch = {"input_ids": IDS, "attention_mask": MASK}
    result: Tensor = model(**batch | inputs).last_hidden_state
    return result


def assert_ours(expected: Tensor, ours: Tensor, wrong: Tensor, real: Tensor = REAL) -> None:
    """Ours is theirs to 1e-5 at every real token, and what is known to be wrong is far from it."""
    torch.testing.assert_close(ours[real], expected[real], atol=1e-5, rtol=1e-5)
    assert (wrong - expected)[real].abs().max() > 1e-2
