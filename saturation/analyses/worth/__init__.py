"""Models against crowds: what people themselves would score, and how many of them a model is worth."""
