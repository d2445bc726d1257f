"""Encoders of sound: fixed and learned tables, positions by convolution, relative and rotary conformers."""

from typing import Any

from tests.helpers.healthy_transformers.row import SIZES, SPECIAL, Row, rows
from tests.helpers.healthy_transformers.two_stacks import BART

WAVES: dict[str, Any] = {
    **SIZES,
    "conv_dim": [8, 8],
    "conv_stride": [5, 2],
    "conv_kernel": [10, 3],
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
    "max_source_positions": 64,
}
CONFORMER: dict[str, Any] = {**WAVES, "conv_depthwise_kernel_size": 3}
FBANK: dict[str, Any] = {
    **BART,
    "input_feat_per_channel": 8,
    "input_channels": 1,
    "conv_channels": 16,
    "max_source_positions": 64,
    "max_target_positions": 64,
}

AUDIO: dict[str, Row] = {
    **rows(
        "sinusoidal, halves, and learned",
        {**BART, "num_mel_bins": 8, "max_source_positions": 24, "max_target_positions": 32},
        "WhisperModel",
        "WhisperForConditionalGeneration",
    ),
    **rows("convolution", WAVES, "Wav2Vec2Model", "HubertModel", "WavLMModel", "UniSpeechModel", "Data2VecAudioModel"),
    **rows("convolution", {**WAVES, "squeeze_factor": 2}, "SEWModel"),
    **rows("rotary, conformer", {**CONFORMER, "position_embeddings_type": "rotary"}, "Wav2Vec2ConformerModel"),
    "Wav2Vec2ConformerModel, relative": Row(
        "Wav2Vec2ConformerModel", "transformer_xl", {**CONFORMER, "position_embeddings_type": "relative"}
    ),
    **rows(
        "bias by offset, conformer",
        {**SIZES, "feature_projection_input_dim": 16, "position_embeddings_type": "relative_key"},
        "Wav2Vec2BertModel",
    ),
    **rows("sinusoidal, halves", FBANK, "Speech2TextModel"),
    **rows(
        "learned patches of a spectrogram",
        {**{k: v for k, v in SIZES.items() if k not in SPECIAL}, "patch_size": 8, "num_mel_bins": 16, "max_length": 48}
        | {"frequency_stride": 8, "time_stride": 8},
        "ASTModel",
    ),
}
