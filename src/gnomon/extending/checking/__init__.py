"""What an extension did to a model, measured before and after on a text."""

from gnomon.extending.checking.comparing import check
from gnomon.extending.checking.figure import figures
from gnomon.extending.checking.results import Checked

__all__ = ["Checked", "check", "figures"]
