"""Published formats into our tables; the only code that reads foreign formats."""
