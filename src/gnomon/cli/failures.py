"""How the command ends when something goes wrong: one sentence on stderr, exit code 2, no traceback for bad input."""

import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from gnomon.errors import GnomonError

COULD_NOT_RUN = 2
INTERRUPTED = 130


class GuardedGroup(TyperGroup):
    """Runs a subcommand and turns what it raises into an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Usage errors and typer's own exits pass through; typer knows them."""
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
        except Exception as error:
            if hasattr(error, "exit_code"):  # a usage error, typer's to print
                raise
            traceback.print_exc()
            _end("gnomon: this is a fault in gnomon itself; report it with the output of `gnomon env`.", COULD_NOT_RUN)


def _end(message: str, code: int) -> None:
    typer.echo(message, err=True)
    raise typer.Exit(code) from None
