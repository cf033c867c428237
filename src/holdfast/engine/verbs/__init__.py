"""The verbs of a space by theme, each handing over to its own module; `Memories` is all of them together."""
