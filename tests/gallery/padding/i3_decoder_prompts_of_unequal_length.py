"""Prompts of unequal length in one batch of Whisper: the decoder numbers cached slots, so short rows are moved.

In transformers 5.24 `generate` passes ids from the mask; a bare forward of the decoder still counts the padding.
"""

from pathlib import Path
from typing import Any

import torch

from tests.gallery.item import Fault

SPEECH = {"input_features": torch.zeros(2, 5, 46), "decoder_input_ids": torch.arange(5, 23).view(2, 9)}


def build(kind: type | None = None) -> Any:
    import transformers

    torch.manual_seed(0)
    config = transformers.WhisperConfig(
        vocab_size=60,
        d_model=32,
        encoder_layers=1,
        decoder_layers=2,
        num_mel_bins=5,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=24,
        decoder_ffn_dim=24,
        max_source_positions=23,
        max_target_positions=32,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=0,
    )
    return (kind or transformers.WhisperForConditionalGeneration)(config).eval(), SPEECH


def faulty(_: Path) -> Any:
    return build()


def healthy(_: Path) -> Any:
    import transformers

    class FromTheMask(transformers.WhisperForConditionalGeneration):  # type: ignore[misc]
        def forward(
            self,
            input_features: Any = None,
            decoder_input_ids: Any = None,
            decoder_attention_mask: Any = None,
            decoder_position_ids: Any = None,
            **more: Any,
        ) -> Any:
            if decoder_position_ids is None and decoder_attention_mask is not None:
                counted = (decoder_attention_mask.long().cumsum(1) - 1).clamp(min=0)
                decoder_position_ids = counted[:, -decoder_input_ids.shape[1] :]
            return super().forward(
                input_features,
                decoder_input_ids=decoder_input_ids,
                decoder_attention_mask=decoder_attention_mask,
                decoder_position_ids=decoder_position_ids,
                **more,
            )

    return build(FromTheMask)


ITEM = Fault(
    source="huggingface/transformers#20624",
    check="PE401",
    where="the forward",
    right=r"padding is counted .* derive position ids from the mask, for each row",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
