"""Several models, several data sets: what stands side by side, and what may be subtracted."""
