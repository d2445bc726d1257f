"""What the lab can be asked, one file each, found by name in `registry`."""

from gnomon.lab.suites.base import Size, Suite, registry

__all__ = ["Size", "Suite", "registry"]
