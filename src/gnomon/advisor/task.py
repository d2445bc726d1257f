"""What a model is for, and what follows from that alone."""

from enum import StrEnum


class Task(StrEnum):
    """A kind of task. The value is the word that a user writes."""

    CLASSIFICATION = "classification"
    TAGGING = "tagging"
    PAIRS = "pairs"  #: dependency parsing, coreference, relations: which token belongs to which
    LANGUAGE_MODEL = "language-model"
    TRANSLATION = "translation"
    SUMMARISATION = "summarisation"
    RETRIEVAL = "retrieval"  #: vectors of texts, to be searched
    LONG_CONTEXT = "long-context"  #: facts to be found anywhere in a long input
    CODE = "code"
    IMAGES = "images"
    VIDEO = "video"
    VISION_LANGUAGE = "vision-language"  #: text, images and video in one sequence
    ALGORITHMIC = "algorithmic"  #: copying, sorting, sums: exact rules that should hold at any length

    @property
    def causal(self) -> bool:
        """Whether models for it usually see only what came before."""
        return self in _CAUSAL

    @property
    def axes(self) -> int:
        """How many coordinates a token has."""
        return _AXES.get(self, 1)

    @property
    def needs_relative(self) -> bool:
        """Whether the answer hangs on how far apart tokens are."""
        return self in (Task.PAIRS, Task.TAGGING)

    @property
    def recalls(self) -> bool:
        """Whether single tokens must be found again far back."""
        return self in (Task.LONG_CONTEXT, Task.CODE, Task.SUMMARISATION)


class Need(StrEnum):
    """Which positions decide the answer."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"


class Device(StrEnum):
    """Where the model runs."""

    EDGE = "edge"
    SERVER = "server"


class Limit(StrEnum):
    """What the attention that must be used, or the way of deployment, cannot do."""

    FLASH_ATTENTION = "flash-attention"  #: a fused kernel that takes ALiBi's slopes, but no other bias
    NO_BIAS = "no-bias"  #: a fused kernel that takes no bias at all
    NO_CUSTOM_KERNELS = "no-custom-kernels"  #: only the framework's own operations
    ONNX = "onnx"
    COMPILE = "torch-compile"


_CAUSAL = (Task.LANGUAGE_MODEL, Task.LONG_CONTEXT, Task.CODE, Task.VISION_LANGUAGE, Task.ALGORITHMIC)
_AXES = {Task.IMAGES: 2, Task.VIDEO: 3, Task.VISION_LANGUAGE: 3}
