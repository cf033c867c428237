"""Fits the judge's weights to the labelled pairs of the repository and writes them to where they ship.

Run as `python -m bench.fit_judge` when the evidence or the pairs change; a test holds the two together.
"""

from pathlib import Path

from bench.fitting import as_json, fit_scales
from bench.relations import load
from holdfast.domain.compare.weigh import Scales
from holdfast.models.minilm import MiniLM

ROOT = Path(__file__).parent.parent
SEEN = ROOT / "bench" / "data" / "fresh_relations.jsonl"
WEIGHTS = ROOT / "src" / "holdfast" / "domain" / "compare" / "data" / "weights.json"


def fitted() -> Scales:
    """The weights that the pairs give: the shipped ones, and those that were written to test the judge."""
    return fit_scales([*load(), *load(SEEN)], MiniLM().likeness)


def main() -> None:
    WEIGHTS.write_text(as_json(fitted()), encoding="utf-8")


if __name__ == "__main__":
    main()
