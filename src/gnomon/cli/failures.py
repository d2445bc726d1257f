"""How the command ends when something goes wrong: one sentence on stderr, exit code 2, no traceback for bad input."""

import errno
import re
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from gnomon.errors import GnomonError

COULD_NOT_RUN = 2
INTERRUPTED = 130
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  #: the output's fault, not ours


class GuardedGroup(TyperGroup):
    """Runs a subcommand and turns what it raises into an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Typer's own exits pass through."""
        try:
            return super().invoke(ctx)
        except GnomonError as error:
            _end(f"gnomon: {error}", COULD_NOT_RUN)
        except KeyboardInterrupt:
            _end("gnomon: interrupted", INTERRUPTED)
        except BrokenPipeError:
            raise typer.Exit(0) from None  # whoever read our output has gone: not our fault
        except (typer.Exit, typer.Abort):
            raise
        except (SystemExit, GeneratorExit) as error:  # nothing of ours raises them, so the target's code did
            _end(f"gnomon: the target's code raised {type(error).__name__} while it was examined.", COULD_NOT_RUN)
        except Exception as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                raise  # its message is the help, which is printed as it is
            if hasattr(error, "format_message"):
                _end(_usage(error), COULD_NOT_RUN)
            if isinstance(error, OSError) and error.errno in DISK:
                _end(f"gnomon: the output cannot be written: {error.strerror}.", COULD_NOT_RUN)
            if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
                _end("gnomon: there is not enough memory for these sizes; choose smaller ones.", COULD_NOT_RUN)
            traceback.print_exc()
            _end("gnomon: this is a fault in gnomon itself; report it with the output of `gnomon env`.", COULD_NOT_RUN)


def _usage(error: Any) -> str:
    """A usage error of typer's in one sentence, without the words of the library that checks its values."""
    words = " ".join(error.format_message().split()).replace("Value error, ", "").rstrip(".")
    words = re.sub(r", unable to parse.*", "", words.replace("Input should be", "it must be"))
    command = error.ctx.command_path if error.ctx else "gnomon"
    return f"gnomon: {words}{'' if words.endswith('?') else f'; `{command} -h` tells what it takes.'}"


def _end(message: str, code: int) -> None:
    typer.echo(message, err=True)
    raise typer.Exit(code) from None
