"""Where a Brier score comes from: reliability, resolution, uncertainty."""
