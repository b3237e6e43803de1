"""`python -m sprite` is the command `sprite`."""

from sprite.cli import main

main()
