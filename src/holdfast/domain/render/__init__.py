"""Renders memories as prompt text. No stored text can break out of it."""

from holdfast.domain.file_paths import file_name
from holdfast.domain.render.blocks import Block, HitBlock, rank_of, render, render_hits, size_of
from holdfast.domain.render.escape import heading, inline, label, link_target, link_text, plain
from holdfast.domain.render.layouts import folded, is_anothers

__all__ = [
    "Block",
    "HitBlock",
    "file_name",
    "folded",
    "heading",
    "inline",
    "is_anothers",
    "label",
    "link_target",
    "link_text",
    "plain",
    "rank_of",
    "render",
    "render_hits",
    "size_of",
]
