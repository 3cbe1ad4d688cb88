"""Whether one condition is better than another."""
