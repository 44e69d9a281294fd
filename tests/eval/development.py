"""The questions that choices are made on: other repositories than the benchmark's, built alike.

The projects are kept out of the embedding model's training data as the benchmark's are
(askcode/training/excluded.toml).
"""

from __future__ import annotations

from pathlib import Path

from tests.eval.originals import (
    SEMBLE,
    SWE_QA,
    Original,
    clone_of,
    export,
    from_annotations,
    from_answers,
    from_commits,
)
from tests.eval.questions import BenchQuestion, BenchSet

COMMITS = (
    Original("werkzeug", "pallets/werkzeug", "d5c9436fb49b54d332962a4187f99cdb615334b8"),
    Original("logrus", "sirupsen/logrus", "e8fa9884100f7d3e33f8e53279ef1c4c09dfeb85"),
    Original("okio", "square/okio", "5f8144af2daded30770dba023bd04840e09c06f3"),
    Original("clap", "clap-rs/clap", "b4961bbca10b3b958ba0ce6a42d93019cdee64ac"),
    Original("koa", "koajs/koa", "6a7bdb4dc839dcf2c3b6a4958c0d11e3d0506e91"),
    Original("spdlog", "gabime/spdlog", "3f49f0f247067830d744b82381ddc41dac9711a1"),
    Original("jsoup", "jhy/jsoup", "8f0dc293c9c34ef9b7715493a423df88a06bed1d"),
    Original("hyper", "hyperium/hyper", "6fd696e10974f10b2c6b9d16393bbbfa21c2333f"),
    Original("jekyll", "jekyll/jekyll", "f40e5cff5f48a424e6f8636a48f5a20c3b1d9447"),
    Original("jinja", "pallets/jinja", "9b125f47d1340817bbcec143edd92155d4d1da7e"),
    Original("automapper", "AutoMapper/AutoMapper", "280f633d5d52a41a7e970dd5a2d681b4597cc3ab"),
)
ANSWERS = (
    Original("conan-sweqa", "conan-io/conan", "814cbf12cc56cbc4a87405b5945a4f16968f9555"),
    Original("sqlfluff-sweqa", "sqlfluff/sqlfluff", "db9801b7eb7fd014e765117f63ee1b0675fa9f87"),
    Original("reflex-sweqa", "reflex-dev/reflex", "fe0f946dc0c240c6c1e513318c21db407e191c78"),
    Original("xarray-sweqa", "pydata/xarray", "40119bf35c53fc222934894d842cfc07b2e264bf"),
)
ANNOTATED = (
    Original("alamofire", "Alamofire/Alamofire", "e938f8c66708e7352fc7e3512647fa54255b267a"),
    Original("ecto", "elixir-ecto/ecto", "cf3a5b7219a552c24aae24bf5eef7354c1184b8a"),
    Original("kotlinx", "Kotlin/kotlinx.coroutines", "643c1aa554139a82f60724a59e79b801f303fdfe"),
    Original("circe", "circe/circe", "1da94272096eedd88a6ea04be127618ef8cf943a"),
)


def fetch_development(folder: Path) -> BenchSet:
    """Clone what is missing, export the trees, and return all questions."""
    folder.mkdir(parents=True, exist_ok=True)
    trees = folder / "trees"
    questions: list[BenchQuestion] = []
    for original in (*COMMITS, *ANSWERS, *ANNOTATED):
        clone = clone_of(original.source, folder)
        tree = trees / original.repo
        if not tree.exists():
            export(clone, original.commit, tree)
        if original in COMMITS:
            questions += from_commits(original, clone, tree)
        elif original in ANSWERS:
            questions += from_answers(original, clone_of(SWE_QA, folder), tree)
        else:
            questions += from_annotations(original, clone_of(SEMBLE, folder), tree)
    return BenchSet(tuple(questions), trees)
