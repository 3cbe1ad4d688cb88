"""Results in; text, tables, figures and pages out. Computes nothing."""
