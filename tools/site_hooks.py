"""Hooks of mkdocs.yml: files outside docs/ that pages link to, and pages that would load from another host.

Such a file is in the site below `repository/`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tools.table_charts import with_charts

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
FOLDER = "repository/"

_LOADED = re.compile(
    r"""<(?:link|script|img|iframe|source)\b[^>]*?(?:href|src|srcset)=["']?(?:https?:)?//[^>]*>"""
)
_LINK = re.compile(r"(?<=\]\()(?!#|[a-z]+:)([^()\s#]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    queue = [DOCS / file.src_uri for file in files if file.is_documentation_page()]
    while queue:
        page = queue.pop()
        for link in _LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            uri = _uri(target)
            if uri.startswith(FOLDER) and target.is_file() and uri not in files.src_uris:
                files.append(File.generated(config, uri, abs_src_path=str(target)))
                if target.suffix == ".md":
                    queue.append(target)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text with its charts, and its links as they are in the site."""
    uri = page.file.src_uri
    source = REPOSITORY / uri.removeprefix(FOLDER) if uri.startswith(FOLDER) else DOCS / uri
    return _LINK.sub(
        lambda link: os.path.relpath(_uri((source.parent / link[0]).resolve()), os.path.dirname(uri) or "."),
        with_charts(markdown),
    )


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    if loaded := _LOADED.search(output):
        raise PluginError(f"{page.file.src_uri} loads something from another host: {loaded[0]}")
    return output


def _uri(file: Path) -> str:
    """Where a file of the repository is in the site."""
    inside = file.is_relative_to(DOCS)
    return str(file.relative_to(DOCS)) if inside else FOLDER + os.path.relpath(file, REPOSITORY)
