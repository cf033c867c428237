"""`python -m training COMMAND`: see README.md."""

import argparse
from pathlib import Path
from typing import Any

BODIES = ("minilm", "e5", "mpnet")


def main() -> None:
    """Runs one command."""
    given = _parser().parse_args()
    options = {key: value for key, value in vars(given).items() if key not in ("command", "run", "out")}
    if "out" in given:
        given.out.mkdir(parents=True, exist_ok=True)
        options["out"] = given.out
    given.run(**options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training")
    commands = parser.add_subparsers(dest="command", required=True)
    starts = commands.add_parser("starts", help="download the public starting weights into build/starts")
    starts.set_defaults(run=_starts)
    check = commands.add_parser("check", help="look through the written rows: form, variety, near doubles")
    check.set_defaults(run=_check)
    commands.add_parser(
        "capture_fit", help="fit what capture keeps and what a correction replaces"
    ).set_defaults(run=_capture_fit)
    export = commands.add_parser("export", help="write trained weights as int8 ONNX into build/onnx")
    export.add_argument("kind", choices=("reader", "finder", "embedder"))
    export.add_argument("body", choices=BODIES)
    export.add_argument("name", help="of the weights in build/trained")
    export.set_defaults(run=_export)
    evaluate = commands.add_parser("evaluate", help="print the figures of exported networks on the test part")
    evaluate.add_argument("--reader", type=Path)
    evaluate.add_argument("--embedder", type=Path)
    evaluate.add_argument("--finder", type=Path)
    evaluate.set_defaults(run=_evaluate)
    _judge_options(commands.add_parser("judge", help="train a reader: judge and gate"))
    _embedder_options(commands.add_parser("embedder", help="train an embedder"))
    _capture_options(commands.add_parser("capture", help="train a finder"))
    return parser


def _judge_options(judge: argparse.ArgumentParser) -> None:
    judge.add_argument("--body", default="e5", choices=BODIES)
    judge.add_argument("--layers", type=int, default=0)
    judge.add_argument("--epochs", type=int, default=4)
    judge.add_argument("--rate", type=float, default=5e-5)
    judge.add_argument("--size", type=int, default=96)
    judge.add_argument("--seed", type=int, default=0)
    judge.add_argument("--part", default="training")
    judge.add_argument("--teachers", type=Path, nargs="*", default=[])
    judge.add_argument("--out", type=Path, default=Path("build/trained"))
    judge.set_defaults(run=_judge)


def _embedder_options(embedder: argparse.ArgumentParser) -> None:
    embedder.add_argument("--body", default="minilm", choices=BODIES)
    embedder.add_argument("--steps", type=int, default=600)
    embedder.add_argument("--rate", type=float, default=4e-5)
    embedder.add_argument("--size", type=int, default=192)
    embedder.add_argument("--seed", type=int, default=0)
    embedder.add_argument("--part", default="training")
    embedder.add_argument("--keep", type=float, default=0.5)
    embedder.add_argument("--follow", type=float, default=1.0)
    embedder.add_argument("--teacher", type=Path)
    embedder.add_argument("--apart", type=float, default=0.0)
    embedder.add_argument("--out", type=Path, default=Path("build/trained"))
    embedder.set_defaults(run=_embedder)


def _capture_options(capture: argparse.ArgumentParser) -> None:
    capture.add_argument("--body", default="e5", choices=BODIES)
    capture.add_argument("--epochs", type=float, default=3)
    capture.add_argument("--rate", type=float, default=1e-4)
    capture.add_argument("--size", type=int, default=32)
    capture.add_argument("--seed", type=int, default=0)
    capture.add_argument("--part", default="training")
    capture.add_argument("--start", default="", help="weights in build/trained whose body it starts as")
    capture.add_argument("--teachers", type=Path, nargs="*", default=[])
    capture.add_argument("--out", type=Path, default=Path("build/trained"))
    capture.set_defaults(run=_capture)


def _starts() -> None:
    from training.weights import fetch

    fetch()


def _check() -> None:
    from training.check_data import complaints, near, sizes
    from training.judge import start_vectors

    found = [*complaints("all"), *complaints("test"), *near(start_vectors())]
    print(*found, *(f"{count:5} {name}" for name, count in sizes().items()), sep="\n")
    raise SystemExit(bool(found))


def _capture_fit() -> None:
    from training.capture_fit import report

    report()


def _export(kind: str, body: str, name: str) -> None:
    from training.export import export

    print(export(kind, body, name))


def _evaluate(reader: Path | None, embedder: Path | None, finder: Path | None) -> None:
    from training.evaluate import report

    report(reader, embedder, finder)


def _judge(out: Path, teachers: list[Path], **options: Any) -> None:
    from training.judge import Course, train

    train(Course(**options, teachers=tuple(teachers)), out)


def _capture(out: Path, teachers: list[Path], **options: Any) -> None:
    from training.capture import Course, train

    train(Course(**options, teachers=tuple(teachers)), out)


def _embedder(out: Path, **options: Any) -> None:
    from training.embedder import Course, train

    train(Course(**options), out)


if __name__ == "__main__":
    main()
