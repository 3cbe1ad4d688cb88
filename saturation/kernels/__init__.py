"""The only compiled loops. No checks; outputs preallocated; each file stands alone."""
