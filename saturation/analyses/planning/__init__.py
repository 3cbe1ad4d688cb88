"""How many items and votes a given amount of money should buy."""
