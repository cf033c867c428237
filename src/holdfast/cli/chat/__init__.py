"""The chat door: a person and a model in a terminal, with the tools of a memory between them."""
