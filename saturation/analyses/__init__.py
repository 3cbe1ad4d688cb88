"""Where the rooms meet, one question a file."""
