"""The doors: each parses what its users say, calls a verb, and says what came of it."""
