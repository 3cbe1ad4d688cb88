"""Soft votes from every annotator against plain votes."""
