"""The config of the model as it was before it was converted, extended or exported."""

from collections.abc import Mapping
from typing import Any

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.errors import GnomonError


@evidence
def reference_config(subject: Subject) -> Mapping[str, Any]:
    """The config of what the caller passed as `reference`: a mapping, a file, a folder or a module."""
    if not subject.has("reference"):
        raise MissingEvidence("no reference: pass the config or model before the change, reference=...")
    given = subject.get("reference")
    if isinstance(given, Mapping):
        return given
    try:
        return load_subject(given, forward=False).config
    except GnomonError as error:
        raise MissingEvidence(f"the reference cannot be read: {error}") from None
