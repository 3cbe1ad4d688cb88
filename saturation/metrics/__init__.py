"""Pure functions, arrays in and arrays out, a family a file; ``catalogue`` lists them."""
