"""Write the prints of the excluded projects' docs: `python -m askcode.training.fingerprinting`.

Takes folders with one tree of source files each; run again when the list of projects changes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from askcode.languages import language_of
from askcode.training.archives import texts_of
from askcode.training.excluding import PRINTS_FILE, write_prints
from askcode.training.mining import LANGUAGES, mine_source
from askcode.training.pairs import DOC


def docs_of(trees: Iterable[Path]) -> Iterator[str]:
    """Yield the doc comments of every source file under some folders or packages."""
    for tree in trees:
        for path, text in texts_of(tree):
            language = language_of(path, text[:200].split("\n")[0]) or ""
            if language in LANGUAGES:
                for pair in mine_source("", path, language, text):
                    if pair.kind == DOC:
                        yield pair.text


def main() -> None:
    """Write the prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--to", type=Path, default=PRINTS_FILE)
    asked = parser.parse_args()
    count = write_prints(asked.to, docs_of(asked.trees))
    print(f"{count} docs")


if __name__ == "__main__":
    main()
