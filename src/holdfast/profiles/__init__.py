"""The built-in profiles, as TOML files beside this module, and the loader that reads any profile."""

from holdfast.profiles.loader import BUILT_IN, built_in, built_in_text, parse, profile_named

__all__ = ["BUILT_IN", "built_in", "built_in_text", "parse", "profile_named"]
