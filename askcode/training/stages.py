"""The stages from packages to a model, each resumed where it stopped."""

from __future__ import annotations

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import Pool
from pathlib import Path

from askcode.training.deduping import Deduper
from askcode.training.excluding import Exclusion, ExclusionFailed, load_exclusion
from askcode.training.mining import LANGUAGES
from askcode.training.packages import Package, mine_package
from askcode.training.pairs import GUIDE, NAME, Pair, read_pairs, write_pairs
from askcode.training.recipe import RECIPE, Recipe
from askcode.training.word_rates import write_rates

_log = logging.getLogger(__name__)

PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Work:
    """The folder that a run works in, and the names of what its stages leave there."""

    folder: Path

    @property
    def packages(self) -> Path:
        """Return the list of what was fetched."""
        return self.folder / "packages.json"

    @property
    def mined(self) -> Path:
        """Return the folder with the pairs of each package."""
        return self.folder / "mined"

    @property
    def mining_report(self) -> Path:
        """Return what each package gave."""
        return self.folder / "mined.json"

    @property
    def word_rates(self) -> Path:
        """Return how often each word stands in the definitions of the packages."""
        return self.folder / "word_rates.tsv"

    @property
    def pairs(self) -> Path:
        """Return all pairs, each once."""
        return self.folder / "pairs.jsonl.gz"

    @property
    def pairs_report(self) -> Path:
        """Return the counts of the pairs."""
        return self.folder / "pairs.json"

    @property
    def tokenizer(self) -> Path:
        """Return the tokenizer."""
        return self.folder / "tokenizer.json"

    @property
    def tokens(self) -> Path:
        """Return the pairs as tokens."""
        return self.folder / "tokens.npz"

    @property
    def vectors(self) -> Path:
        """Return the trained vectors."""
        return self.folder / "vectors.npy"

    @property
    def model(self) -> Path:
        """Return the model folder."""
        return self.folder / "model"

    @property
    def figures(self) -> Path:
        """Return what was measured of the model."""
        return self.folder / "figures.json"


def write_json(path: Path, value: object) -> None:
    """Write a value for people and programs, all or nothing."""
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
    unfinished.replace(path)


def fetch_stage(work: Work) -> None:
    """Download the packages."""
    from askcode.training.fetching import fetch
    from askcode.training.sources import read_sources

    packages = fetch(read_sources(), work.folder / "packages")
    rows = [{**asdict(one), "place": str(one.place)} for one in packages]
    write_json(work.packages, rows)


def mine_stage(work: Work) -> None:
    """Mine every package, several at a time."""
    rows = json.loads(work.packages.read_text("utf-8"))
    packages = [Package(**{**row, "place": Path(row["place"])}) for row in rows]
    jobs = [(package, _mined_file(work, package)) for package in packages]
    # the large ones first, so that none is left alone at the end
    jobs.sort(key=lambda job: -job[0].place.stat().st_size)
    with Pool(PROCESSES) as pool:
        reports = pool.map(_mine_one, jobs, chunksize=1)
    write_json(work.mining_report, sorted(reports, key=lambda one: str(one["file"])))


def _mined_file(work: Work, package: Package) -> Path:
    kind = package.place.parent.name if package.place.is_file() else "npm"
    stem = f"{kind}+{package.name}+{package.place.name}".replace("/", "+")
    return work.mined / f"{stem}.jsonl.gz"


def _mine_one(job: tuple[Package, Path]) -> dict[str, object]:
    package, path = job
    report_file = path.with_suffix(".json")
    if report_file.exists():
        known: dict[str, object] = json.loads(report_file.read_text("utf-8"))
        return known
    mined = mine_package(package, load_exclusion())
    count = write_pairs(path, mined.pairs)
    report: dict[str, object] = {
        "package": package.name,
        "version": package.version,
        "file": path.name,
        "pairs": count,
        "licences": dict(mined.licences.most_common()),
        "left_out": dict(mined.left_out.most_common()),
    }
    write_json(report_file, report)
    return report


def word_rates_stage(work: Work) -> None:
    """Count the words of every package."""
    write_rates(sorted(work.mined.glob("*.jsonl.gz")), work.word_rates)


def gather_stage(work: Work) -> None:
    """Join the pairs of all packages, each once, and check that none is of an excluded project."""
    exclusion = load_exclusion()
    deduper = Deduper()
    kept: Counter[str] = Counter()
    files = sorted(work.mined.glob("*.jsonl.gz"))
    # docs first: of two pairs with the same code, the one that people wrote about stays
    passes = (lambda pair: pair.kind != NAME, lambda pair: pair.kind == NAME)

    def checked() -> Iterator[Pair]:
        for wanted in passes:
            for file in files:
                for pair in deduper.news(filter(wanted, read_pairs(file))):
                    check_pair(pair, exclusion)
                    kept[f"language {pair.language}"] += 1
                    kept[f"kind {pair.kind}"] += 1
                    yield pair

    count = write_pairs(work.pairs, checked())
    write_json(
        work.pairs_report,
        {"pairs": count, "kept": dict(kept), "left_out": dict(deduper.left_out)},
    )


def check_pair(pair: Pair, exclusion: Exclusion) -> None:
    """Refuse a pair that is of an excluded project.

    Raises:
        ExclusionFailed: it is, by its package, its path or its words.
    """
    grammars = [grammar for grammar, name in LANGUAGES.items() if name == pair.language]
    if (
        exclusion.refuses_package(pair.package)
        or any(exclusion.refuses_path(pair.path, grammar) for grammar in grammars)
        or (pair.kind == GUIDE and exclusion.refuses_path(pair.path, ""))
        or exclusion.knows_doc(pair.text)
    ):
        raise ExclusionFailed(
            f"{pair.package}: {pair.path} ({pair.name}) is of an excluded project"
        )


def tokenizer_stage(work: Work, recipe: Recipe = RECIPE) -> None:
    """Train the tokenizer on the texts of the pairs."""
    from askcode.training.word_pieces import train_tokenizer

    train_tokenizer(read_pairs(work.pairs), recipe).save(str(work.tokenizer))


def encode_stage(work: Work, recipe: Recipe = RECIPE) -> None:
    """Write the pairs as tokens."""
    from askcode.training.encoding import encode_pairs, save_tokens, split_pairs

    train, held_out = split_pairs(read_pairs(work.pairs), recipe.seed)
    save_tokens(work.tokens, encode_pairs(train, held_out, work.tokenizer, recipe))


def train_stage(work: Work, recipe: Recipe = RECIPE) -> None:
    """Train the vectors."""
    import numpy as np

    from askcode.training.encoding import load_tokens
    from askcode.training.fitting import fit

    np.save(work.vectors, fit(load_tokens(work.tokens), recipe))


def export_stage(work: Work) -> None:
    """Write the model folder."""
    import numpy as np

    from askcode.training.exporting import export

    export(np.load(work.vectors), work.tokenizer, work.model)


def evaluate_stage(work: Work) -> None:
    """Measure the model on pairs that it was not trained on."""
    from askcode.training.encoding import load_tokens
    from askcode.training.evaluating import evaluate

    write_json(work.figures, evaluate(work.model, work.vectors, load_tokens(work.tokens)))


def card_stage(work: Work) -> None:
    """Write the model card."""
    from askcode.training.model_card import write_card

    write_card(work.model / "MODEL_CARD.md", work.folder)


Stage = Callable[[Work], None]

STAGES: dict[str, tuple[Stage, Callable[[Work], Path]]] = {
    "fetch": (fetch_stage, lambda work: work.packages),
    "mine": (mine_stage, lambda work: work.mining_report),
    "gather": (gather_stage, lambda work: work.pairs_report),
    "tokenizer": (tokenizer_stage, lambda work: work.tokenizer),
    "encode": (encode_stage, lambda work: work.tokens),
    "train": (train_stage, lambda work: work.vectors),
    "export": (export_stage, lambda work: work.model / "model.onnx"),
    "evaluate": (evaluate_stage, lambda work: work.figures),
    "card": (card_stage, lambda work: work.model / "MODEL_CARD.md"),
    "word rates": (word_rates_stage, lambda work: work.word_rates),
}
"""Each stage with the file that says it is done."""


def run_stages(work: Work, *, again: Sequence[str] = ()) -> Iterator[tuple[str, float]]:
    """Run the stages that are not done, in order; yield each name with its seconds.

    Once a stage runs, all later ones do. Those named in `again` run even when they are done.
    """
    work.folder.mkdir(parents=True, exist_ok=True)
    is_stale = False
    for name, (run, outcome) in STAGES.items():
        is_stale = is_stale or name in again or not outcome(work).exists()
        if is_stale:
            started = time.perf_counter()
            run(work)
            yield name, time.perf_counter() - started
