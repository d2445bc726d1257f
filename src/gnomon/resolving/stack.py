"""What a stack is here: choices with names for each of its versions, and a reader of the raw file of its own."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar, final

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
}
#: names of engines that are one version of a stack
OTHER_VERSIONS = {"turbomind": "lmdeploy@turbomind"}

Own = TypeVar("Own")
NONE = Choices()

registry: Registry[type["Stack"]] = Registry("engine", package="gnomon.resolving.stacks", also=OTHER_NAMES)


@final
@dataclass(frozen=True)
class Version:
    """A range of versions with the same rules. `name` is short, as in hf4@4.43; `since` says the range in words.

    `own`: what only this stack's reader knows, in a class of its own; None where `choices` say all.
    """

    name: str
    since: str
    choices: Choices = NONE
    own: object = None

    def rules(self, kind: type[Own]) -> Own:
        """`own`, which is of this class in all versions of the stack; raises GnomonError where it is not."""
        if not isinstance(self.own, kind):
            raise GnomonError(f"Version {self.name!r} holds no {kind.__name__}; its stack has to give it one.")
        return self.own


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
            return Reading(self.name, chosen.name, self.sure_of(given), refusal=str(error))
        except NoSuchModel as error:
            return Reading(self.name, chosen.name, self.sure_of(given), absent=str(error))

    def sure_of(self, given: Given) -> Sure:
        """How the rules for this file are known; `sure` unless a stack tells files apart."""
        return self.sure

    @classmethod
    def version(cls, name: str) -> Version:
        """The version called `name`; raises GnomonError with those that there are."""
        for version in cls.versions:
            if version.name == name:
                return version
        known = ", ".join(version.name for version in cls.versions)
        raise GnomonError(f"{cls.title} has no version {name!r} in gnomon; there are {known}.")
