"""``python -m inference``."""

from inference.cli import main

if __name__ == "__main__":
    main()
