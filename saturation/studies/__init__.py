"""Several analyses behind one answer."""
