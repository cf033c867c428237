"""Memories as files: their text and paths, and a directory that is kept in sync with a space.

Shared by the interfaces that show files: the command line, the tools for models, REST and the dashboard.
"""
