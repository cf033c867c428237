"""Models that turn text into vectors, one file per kind. Imported only when meaning is asked for."""
