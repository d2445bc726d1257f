"""What each stack would compute from one config: readings, how they differ, and what makes them agree."""

from gnomon.report.resolved.document import Resolution
from gnomon.resolving.given import Given
from gnomon.resolving.resolution import resolve

__all__ = ["Given", "Resolution", "resolve"]
