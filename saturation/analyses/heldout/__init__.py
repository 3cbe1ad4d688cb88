"""What changes when predictions are scored against votes that training did not see."""
