"""`python -m training COMMAND`: see README.md."""

import argparse
from pathlib import Path


def main() -> None:
    """Runs one command."""
    parser = argparse.ArgumentParser(prog="python -m training")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("starts", help="download the public starting weights into build/starts")
    commands.add_parser("check", help="look through the written rows: form, variety, near doubles")
    export = commands.add_parser("export", help="write trained weights as int8 ONNX into build/onnx")
    export.add_argument("kind", choices=("reader", "embedder"))
    export.add_argument("body", choices=("minilm", "e5", "mpnet"))
    export.add_argument("name", help="of the weights in build/trained")
    evaluate = commands.add_parser("evaluate", help="print the figures of exported networks on the test part")
    evaluate.add_argument("--reader", type=Path)
    evaluate.add_argument("--embedder", type=Path)
    judge = commands.add_parser("judge", help="train a reader: judge and gate")
    judge.add_argument("--body", default="e5", choices=("minilm", "e5", "mpnet"))
    judge.add_argument("--layers", type=int, default=0)
    judge.add_argument("--epochs", type=int, default=4)
    judge.add_argument("--rate", type=float, default=5e-5)
    judge.add_argument("--size", type=int, default=96)
    judge.add_argument("--seed", type=int, default=0)
    judge.add_argument("--part", default="training")
    judge.add_argument("--teachers", type=Path, nargs="*", default=[])
    judge.add_argument("--out", type=Path, default=Path("build/trained"))
    embedder = commands.add_parser("embedder", help="train an embedder")
    embedder.add_argument("--body", default="minilm", choices=("minilm", "e5", "mpnet"))
    embedder.add_argument("--steps", type=int, default=1200)
    embedder.add_argument("--rate", type=float, default=5e-5)
    embedder.add_argument("--size", type=int, default=192)
    embedder.add_argument("--seed", type=int, default=0)
    embedder.add_argument("--part", default="training")
    embedder.add_argument("--keep", type=float, default=0.5)
    embedder.add_argument("--follow", type=float, default=1.0)
    embedder.add_argument("--teacher", type=Path)
    embedder.add_argument("--apart", type=float, default=0.0)
    embedder.add_argument("--out", type=Path, default=Path("build/trained"))
    given = parser.parse_args()
    if given.command == "starts":
        from training.weights import fetch

        fetch()
    elif given.command == "check":
        from training.check_data import complaints, near, sizes
        from training.judge import start_vectors

        found = [*complaints("all"), *complaints("test"), *near(start_vectors())]
        print(*found, *(f"{count:5} {name}" for name, count in sizes().items()), sep="\n")
        raise SystemExit(bool(found))
    elif given.command == "export":
        from training.export import export as write

        print(write(given.kind, given.body, given.name))
    elif given.command == "evaluate":
        from training.evaluate import report

        report(given.reader, given.embedder)
    elif given.command == "judge":
        from training.judge import Course, train

        given.out.mkdir(parents=True, exist_ok=True)
        options = {key: value for key, value in vars(given).items() if key not in ("command", "out")}
        train(Course(**{**options, "teachers": tuple(given.teachers)}), given.out)
    else:
        from training import embedder as embedding

        given.out.mkdir(parents=True, exist_ok=True)
        options = {key: value for key, value in vars(given).items() if key not in ("command", "out")}
        embedding.train(embedding.Course(**options), given.out)


if __name__ == "__main__":
    main()
