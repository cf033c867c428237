"""Measures how good the product's judgements are, on data that ships with it."""
