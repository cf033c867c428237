"""What a person typed of a message, for the readers of transcripts; how that is told stands in the domain."""

from holdfast.domain.injected import typed

__all__ = ["typed"]
