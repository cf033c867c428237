"""Memories as prompt text: one renderer for every layout, which no stored text can break out of."""

from holdfast.domain.render.blocks import Block, render
from holdfast.domain.render.escape import heading, inline, label, link_target, link_text, plain
from holdfast.domain.render.file_names import file_name

__all__ = [
    "Block",
    "file_name",
    "heading",
    "inline",
    "label",
    "link_target",
    "link_text",
    "plain",
    "render",
]
