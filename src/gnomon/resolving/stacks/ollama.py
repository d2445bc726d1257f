"""ollama: GGUF files, given or made by its own converters, turned by llama.cpp; or its runner on MLX."""

from collections.abc import Iterator
from enum import Enum
from typing import ClassVar, final

from gnomon.resolving.given import Given
from gnomon.resolving.readers.llama_cpp.metadata import ARCHITECTURE, architecture_of, unread, view, written
from gnomon.resolving.readers.llama_cpp.remedies import as_file, remedies_for
from gnomon.resolving.readers.llama_cpp.runtime import Loaded, Rules, loaded
from gnomon.resolving.readers.ollama.converter import converted
from gnomon.resolving.readers.ollama.mlx_runner import BASES, layers_of
from gnomon.resolving.readers.ollama.patch import found_in, patched
from gnomon.resolving.reading import Ignored, Reading, Remedy, Wanted
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stack import Stack, Version, registry
from gnomon.resolving.stopping import NoSuchModel

WARNED = "a num_ctx above the cap is warned about, not refused"
#: names that ollama's converters gave to architectures that llama.cpp calls otherwise
RENAMED = {"gptoss": "gpt-oss"}


@final
class Runner(Enum):
    """Which of its programs runs a model."""

    LLAMA_CPP = "llama.cpp"
    MLX = "mlx"


@registry.register("ollama")
@final
class Ollama(Stack):
    """`ollama create` and `ollama run`; no rope options are left but num_ctx."""

    name: ClassVar[str] = "ollama"
    title: ClassVar[str] = "ollama"
    versions: ClassVar[tuple[Version, ...]] = (
        Version("gguf", "fb307609 (August 2026), llama.cpp b10488", own=Runner.LLAMA_CPP),
        Version("mlx", "fb307609 (August 2026), the MLX runner", own=Runner.MLX),
    )
    sources: ClassVar[str] = (
        "convert/convert*.go, x/mlxrunner, x/models at fb307609 (August 2026), single files older; llama.cpp b10488 "
        "with a compatibility patch; PR #13452 (#13449, #13450), PR #13474, PR #5924, #2379"
    )

    def read(self, given: Given, version: Version, served: int | None) -> Reading:
        if version.rules(Runner) is Runner.MLX:
            return self._mlx(given, version)
        if given.metadata is not None:
            return self._file(given, version)
        file = Keys(given.config or {})
        made = converted(given.config or {}, file)
        keys = written(file, patched(made.architecture, made.values))
        found = loaded(keys, made.architecture, made.factors, Rules())
        return self._reading(version, found, file, (), made.notes)

    def _file(self, given: Given, version: Version) -> Reading:
        metadata = given.metadata or {}
        own = architecture_of(metadata)
        architecture = RENAMED.get(own, own)
        keys = written(view(metadata), patched(architecture, found_in(metadata, own)))
        found = loaded(keys, architecture, given.factors, Rules())
        return self._reading(version, found, keys, tuple(unread(metadata, keys)))

    def _mlx(self, given: Given, version: Version) -> Reading:
        if given.config is None:
            raise NoSuchModel("ollama's MLX runner does not read GGUF files")
        outer = Keys(given.config)
        name = given.config.get("model_type")
        if not isinstance(name, str) or name not in BASES:
            raise NoSuchModel(f"ollama's MLX runner for {name!r} was not traced")
        keys = outer.part("text_config") if name == "gemma3" else outer
        layers = tuple(layers_of(keys, name))
        cap = keys.whole("cap", "max_position_embeddings")
        return Reading(self.name, version.name, self.sure, layers, cap, outer.used(), outer.ignored())

    def _reading(
        self, version: Version, found: Loaded, keys: Keys, unread: tuple[Ignored, ...], notes: tuple[str, ...] = ()
    ) -> Reading:
        ignored = (*keys.ignored(), *unread)
        return Reading(
            self.name,
            version.name,
            self.sure,
            found.layers,
            found.cap,
            keys.used(),
            ignored,
            (*notes, *found.notes, WARNED),
        )

    def remedies(self, given: Given, wanted: Wanted) -> Iterator[Remedy]:
        """A GGUF file that carries the keys: llama.cpp's converter, with metadata edited where that is needed."""
        file = as_file(given)
        if file is not None and given.config is not None:
            yield Remedy("convert with llama.cpp's convert_hf_to_gguf.py, then ollama create from that GGUF file", file)
        for remedy in remedies_for(file or given, wanted):
            if remedy.after.metadata is not None:
                yield Remedy(_keys(file, remedy.after), remedy.after)


def _keys(before: Given | None, after: Given) -> str:
    """What has to stand in the file."""
    old, new = (before.metadata or {} if before else {}), after.metadata or {}
    changed = {key: value for key, value in new.items() if old.get(key) != value and key != ARCHITECTURE}
    listed = ", ".join(f"{key}={value}" for key, value in changed.items())
    return f"ollama create from a GGUF file with {listed}"
