"""What a person typed of a message, for the readers of transcripts; how that is told stands in the domain."""

from holdfast.language.injected_text import typed

__all__ = ["typed"]
