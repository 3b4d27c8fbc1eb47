"""``python -m theorax`` is the command ``verify``."""

from theorax.cli.main import main

if __name__ == "__main__":
    main()
