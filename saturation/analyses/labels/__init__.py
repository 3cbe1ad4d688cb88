"""What N votes say about the reference, without a model."""
