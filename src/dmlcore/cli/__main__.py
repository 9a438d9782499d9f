"""`python -m dmlcore.cli` is the command `dmlcore`."""

from . import main

main()
