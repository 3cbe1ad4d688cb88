"""The door: the only code that reads or writes our tables."""
