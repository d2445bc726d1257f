"""The numbers of a study, as suites and statistics read them; the reports read them too, so it lives with the data."""

from gnomon.report.lab.evidence import Evidence

__all__ = ["Evidence"]
