"""What is redrawn, and the intervals that follow. Knows no table and no metric."""
