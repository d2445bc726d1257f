"""The command line. One subcommand, one file; nothing here imports torch before a subcommand needs it."""

from gnomon.cli.app import app


def main() -> None:
    """The `gnomon` command."""
    app()
