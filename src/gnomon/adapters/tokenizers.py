"""The tokenizer that lies with a model, and the text files it is used on. Code that a folder brings is never run."""

from pathlib import Path
from typing import Any, Final

from gnomon.adapters.checkpoints.transformers_models import quiet_transformers
from gnomon.adapters.subject import MissingEvidence
from gnomon.adapters.wording import said
from gnomon.errors import GnomonError

FILES: Final = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")


def has_tokenizer(folder: Path) -> bool:
    """Whether a folder has a file that tokenizers are made from."""
    return any((folder / name).exists() for name in FILES)


def load_tokenizer(path: Path) -> Any:
    """The tokenizer of a folder, or of a GGUF file, as transformers loads it; nothing is fetched.

    Raises MissingEvidence where there is none that can be loaded.
    """
    try:
        with quiet_transformers():
            from transformers import AutoTokenizer

            where, more = (path.parent, {"gguf_file": path.name}) if path.is_file() else (path, {})
            return AutoTokenizer.from_pretrained(str(where), local_files_only=True, trust_remote_code=False, **more)
    except MissingEvidence:
        raise
    except Exception as error:  # noqa: BLE001  transformers raises every kind of error for what it cannot load
        raise MissingEvidence(
            f"there is no tokenizer that can be read in {path} ({said(error)}); copy tokenizer.json and "
            "tokenizer_config.json there"
        ) from None


def read_text(path: str | Path, *, most: int | None = None) -> str:
    """The text of a file in UTF-8, its first `most` characters; raises GnomonError where there is none."""
    try:
        with Path(path).expanduser().open(encoding="utf-8") as file:
            return file.read(most)
    except UnicodeDecodeError:
        raise GnomonError(f"{path} is no text in UTF-8; give a text file of natural language or code.") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or said(error)
        raise GnomonError(f"The text {str(path)[:200]!r} cannot be read: {reason}; give a text file.") from None
