"""Run the pipeline: `python -m askcode.training [--again STAGE]`."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from askcode.training.stages import STAGES, Work, run_stages


def main() -> None:
    """Run every stage that is not done."""
    parser = argparse.ArgumentParser(description="Make the embedding model from nothing.")
    parser.add_argument("--work", type=Path, default=Path("build/model"), help="where all goes")
    parser.add_argument(
        "--again", action="append", default=[], choices=STAGES, help="run this stage anew"
    )
    asked = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    work = Work(asked.work.absolute())
    for name, seconds in run_stages(work, again=asked.again):
        print(f"{name:10} {seconds:7.1f} s", flush=True)
    print(f"the model is in {work.model}")


if __name__ == "__main__":
    main()
