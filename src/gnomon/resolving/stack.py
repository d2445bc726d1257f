"""What a stack is here: choices with names for each of its versions, and a reader of the raw file of its own."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, final

from gnomon.errors import GnomonError
from gnomon.registry import Registry
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Reading, Remedy, Sure, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.stopping import NoSuchModel, StackStops

OTHER_NAMES = {
    "hf": "hf5",
    "transformers": "hf5",
    "transformers5": "hf5",
    "transformers4": "hf4",
    "llamacpp": "llama.cpp",
    "llama-cpp": "llama.cpp",
    "mlx": "mlx-lm",
    "trt": "trt-llm",
    "tensorrt-llm": "trt-llm",
    "exl2": "exllama2",
    "exl3": "exllama3",
    "exllamav2": "exllama2",
    "exllamav3": "exllama3",
    "ctranslate2": "ct2",
    "onnxruntime-genai": "ort-genai",
    "oga": "ort-genai",
    "deepspeed": "fastgen",
    "megatron-lm": "megatron",
    "megatron-bridge": "megatron",
    "turbomind": "lmdeploy",
}

registry: Registry[type["Stack"]] = Registry("stack", package="gnomon.resolving.stacks", also=OTHER_NAMES)


@final
@dataclass(frozen=True)
class Version:
    """A range of versions with the same rules. `name` is short, as in hf4@4.43; `since` says the range in words."""

    name: str
    since: str
    choices: Choices
    options: Mapping[str, str] = field(default_factory=dict)  #: choices that only this stack's reader knows


class Stack(ABC):
    """One program that serves or trains models. `versions` stand newest first; the first one is the usual one."""

    name: ClassVar[str]
    title: ClassVar[str]
    versions: ClassVar[tuple[Version, ...]]
    sure: ClassVar[Sure] = "by reading"
    sources: ClassVar[str]  #: files with commits, threads, and the date of reading

    @abstractmethod
    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        """What this version makes of the file where a server is started for `served` tokens (None: its own default).

        Raises StackStops where the stack ends with an error, NoSuchModel where it has no such model.
        """

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """Flags or edits that may bring about what is wanted, the easiest first; each is read again before it is told.

        None by default: nothing in this stack does.
        """
        yield from ()

    def reading(self, given: Given, version: Version | None = None, served: int | None = None) -> Reading:
        """As `read`, where an error of the stack is part of the answer."""
        chosen = version or self.versions[0]
        try:
            return self.read(given, chosen, served)
        except StackStops as error:
            return Reading(self.name, chosen.name, self.sure, refusal=str(error))
        except NoSuchModel as error:
            return Reading(self.name, chosen.name, self.sure, absent=str(error))

    @classmethod
    def version(cls, name: str) -> Version:
        """The version called `name`; raises GnomonError with those that there are."""
        for version in cls.versions:
            if version.name == name:
                return version
        known = ", ".join(version.name for version in cls.versions)
        raise GnomonError(f"{cls.title} has no version {name!r} in gnomon; there are {known}.")
