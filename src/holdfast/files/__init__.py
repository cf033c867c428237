"""Memories as files: what a file says, where it stands, and a directory that is the same memory.

Shared by the doors that show files: the command line, the tools for models, REST and the dashboard.
"""
