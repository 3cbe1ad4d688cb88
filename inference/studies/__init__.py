"""Study files to copy and change."""
