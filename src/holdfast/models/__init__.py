"""Embedders, the built-in models, and language models. Imported when first used."""
