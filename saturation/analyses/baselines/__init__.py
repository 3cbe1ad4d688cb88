"""Baselines made from tables: fitted on development items, applied to test items."""
