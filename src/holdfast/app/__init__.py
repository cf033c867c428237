"""Puts the parts together: wiring, paths, the service, runs, checks. Knows all parts but the command line."""
