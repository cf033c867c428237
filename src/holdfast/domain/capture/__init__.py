"""Capture without a model: what of a conversation is worth keeping, by rules. See `gate` and `extract`."""
