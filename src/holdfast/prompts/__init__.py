"""Texts that agents read: what each tier is asked to do, where it is, and how it records what it learned.

Data files, so that a person can put their own in place of any of them: a folder with a file of the same name.
"""

from holdfast.prompts.texts import FILES, TIERS, Prompts, examples

__all__ = ["FILES", "TIERS", "Prompts", "examples"]
