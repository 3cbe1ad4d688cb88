"""``python -m saturation``."""

from saturation.cli import main

if __name__ == "__main__":
    main()
