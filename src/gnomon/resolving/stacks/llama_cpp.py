"""llama.cpp: its converter writes GGUF metadata, its runtime reads it. ik_llama.cpp is the version "ik"."""

from collections.abc import Iterator
from typing import ClassVar, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.llama_cpp.converter import converted
from gnomon.resolving.readers.llama_cpp.metadata import architecture_of, unread, view
from gnomon.resolving.readers.llama_cpp.remedies import remedies_for
from gnomon.resolving.readers.llama_cpp.runtime import Loaded, Rules, loaded
from gnomon.resolving.reading import Ignored, Reading, Remedy, Wanted
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stack import Stack, Version, registry

NEW, OLD = Choices(source="transformers 5"), Choices(source="transformers 4")
WARNED = "a context above the cap is warned about, not refused"


@registry.register("llama.cpp")
@final
class LlamaCpp(Stack):
    """A GGUF file, or what the converter would make of a config."""

    name: ClassVar[str] = "llama.cpp"
    title: ClassVar[str] = "llama.cpp"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("current", "since PR #18013 (December 2025)", NEW, Rules()),
        Version("before-18013", "PR #17945 to PR #18013", OLD, Rules()),
        Version("before-17945", "until PR #17945", OLD, Rules(cancels=False)),
        Version("ik", "ik_llama.cpp 8337e4cd", NEW, Rules(cancels=False, fork=True)),
    )
    sources: ClassVar[str] = (
        "conversion/*.py, src/llama-context.cpp, src/llama-model.cpp, src/models/*.cpp, ggml/src/ggml-cpu/ops.cpp, "
        "read in 2026 at mixed commits; PR #17945, discussion #7416 (factor on cos and sin); PR #18013 "
        "(rope_parameters); #24823, PR #24875 (LongRoPE by context); #14367 (Gemma 3); ik_llama.cpp 8337e4cd"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        rules = version.rules(Rules)
        if given.metadata is not None:
            keys = view(given.metadata)
            found = loaded(keys, architecture_of(given.metadata), given.factors, rules)
            return self._reading(version, found, keys, tuple(unread(given.metadata, keys)))
        file = Keys(given.config or {})
        writer = converted(file, new_form=version.choices.source == "transformers 5")
        found = loaded(writer.keys, writer.source.architecture, writer.factors, rules)
        return self._reading(version, found, file, (), tuple(writer.notes))

    def _reading(
        self, version: Version, found: Loaded, keys: Keys, unread: tuple[Ignored, ...], notes: tuple[str, ...] = ()
    ) -> Reading:
        return Reading(
            self.name,
            version.name,
            self.sure,
            found.layers,
            found.cap,
            keys.used(),
            (*keys.ignored(), *unread),
            (*notes, *found.notes, WARNED),
        )

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        yield from remedies_for(given, wanted)
