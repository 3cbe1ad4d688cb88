"""How a model improves with the votes it was trained on, and where that ends."""
