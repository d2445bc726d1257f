"""`python -m gnomon` is the `gnomon` command, so that `torchrun -m gnomon lab SUITE` starts it too."""

from gnomon.cli import main

if __name__ == "__main__":
    main()
