"""Tiny random models of transformers classes with every kind of position encoding, built from configs alone."""

from tests.helpers.healthy_transformers.audio import AUDIO
from tests.helpers.healthy_transformers.decoders import DECODERS
from tests.helpers.healthy_transformers.encoders import ENCODERS
from tests.helpers.healthy_transformers.multimodal import MULTIMODAL
from tests.helpers.healthy_transformers.row import Row
from tests.helpers.healthy_transformers.two_stacks import TWO_STACKS
from tests.helpers.healthy_transformers.vision import VISION

BY_MODALITY: dict[str, dict[str, Row]] = {
    "text, decoder": DECODERS,
    "text, encoder": ENCODERS,
    "text, encoder-decoder": TWO_STACKS,
    "images": VISION,
    "sound": AUDIO,
    "several": MULTIMODAL,
}
ROWS: dict[str, Row] = {name: row for rows in BY_MODALITY.values() for name, row in rows.items()}
