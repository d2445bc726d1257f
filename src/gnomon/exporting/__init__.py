"""Models as ONNX graphs of any batch and length, checked against the model before the file appears."""

from gnomon.exporting.exporter import export
from gnomon.exporting.options import ExportOptions
from gnomon.exporting.result import Check, Exported, WrongExportError

__all__ = ["Check", "ExportOptions", "Exported", "WrongExportError", "export"]
