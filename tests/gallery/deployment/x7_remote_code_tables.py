"""Code that comes with a checkpoint keeps cosines and sines in buffers that are not stored; loading does not set them.

transformers 5 builds every model on the meta device and calls `_init_weights` for what the checkpoint lacks. Remote
code written for version 4 relied on its constructor.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BufferedAngles, Turned, angles


class RemoteConfig(PretrainedConfig):
    model_type = "remote_for_this_file"


class Remote(PreTrainedModel):
    config_class = RemoteConfig
    _tied_weights_keys: Any = None

    def __init__(self, config: RemoteConfig) -> None:
        super().__init__(config)
        self.body = Turned(BufferedAngles())
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, input_ids: Tensor) -> Tensor:
        logits: Tensor = self.body(input_ids)
        return logits


class Restoring(Remote):
    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, BufferedAngles):
            for buffer, values in zip(module.buffers(), angles(64), strict=True):
                buffer.copy_(values)


def faulty(folder: Path) -> nn.Module:
    torch.manual_seed(0)
    model: nn.Module = Remote(RemoteConfig()).eval()
    return model


def healthy(folder: Path) -> nn.Module:
    torch.manual_seed(0)
    model: nn.Module = Restoring(RemoteConfig()).eval()
    return model


ITEM = Fault(
    source="macwiatrak/Bacformer#33",
    check="PE603",
    where="body.rotary.sin",
    right=r"_init_weights does not restore it: outputs change by .*compute sin of body\.rotary in _init_weights",
    build=faulty,
    healthy=healthy,
)
