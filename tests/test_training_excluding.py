"""No training data comes from excluded projects, under whatever name, nor from other licences."""

import json
import tarfile

import pytest

from askcode.training.deduping import Deduper
from askcode.training.excluding import (
    Exclusion,
    ExclusionFailed,
    load_exclusion,
    plain_name,
    write_prints,
)
from askcode.training.licences import NearestLicence, licence_of_text, permissive_name
from askcode.training.packages import Package, mine_package, spread_thin
from askcode.training.pairs import CHANGE, DOC, NAME, Pair
from askcode.training.sources import KINDS, read_sources
from askcode.training.stages import Work, check_pair, gather_stage, write_pairs

MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy"
GPL = "GNU GENERAL PUBLIC LICENSE Version 3 Everyone is permitted to copy"
CODE = 'def {}(key):\n    """{}"""\n    return locks.turn(key, hard=True)\n'


def package(tmp_path, files, *, name="doors", licence="MIT"):
    place = tmp_path / name.replace("/", "+")
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return Package(name, "1.0", place, licence)


@pytest.mark.parametrize(
    "name",
    ["flask", "Flask", "golang-github-gin-gonic-gin-dev", "php-monolog", "librust-tokio-dev",
     "axios", "zod", "@trpc/server", "msgpack", "jinja2", "ruby-rack", "libjackson2-core-java",
     "werkzeug", "guzzlehttp/psr7"],
)  # fmt: skip
def test_packages_of_excluded_projects_are_refused(name):
    assert load_exclusion().refuses_package(name) or load_exclusion().refuses_path(f"{name}/a", "")


@pytest.mark.parametrize("name", ["django", "rustc", "golang-1.19", "effect", "symfony"])
def test_other_packages_are_not(name):
    assert not load_exclusion().refuses_package(name)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("pip/_vendor/requests/api.py", "python"),
        ("kubernetes-1.20/vendor/github.com/spf13/cobra/command.go", "go"),
        ("vendor/serde_json-1.0.80/src/lib.rs", "rust"),
        ("third_party/abseil-cpp/absl/base/call_once.h", "cpp"),
        ("ThirdParty/fmt/core.h", "cpp"),
        ("ThirdParty/fmt/README.md", "markdown"),
        ("lib/redis.js", "javascript"),
        ("node/zod-3.22/index.ts", "typescript"),
    ],
)
def test_vendored_copies_are_refused_by_their_path(path, language):
    assert load_exclusion().refuses_path(path, language)


def test_a_name_that_is_a_word_elsewhere_counts_in_its_languages_only():
    assert not load_exclusion().refuses_path("src/fmt/print.go", "go")


def test_versions_and_marks_of_registries_are_no_part_of_a_name():
    assert {plain_name(name) for name in ("click", "python3-click", "click-8.1.7", "Click2")} == {
        "click"
    }


def test_the_list_holds_the_benchmark_and_the_prints_of_its_docs():
    exclusion = load_exclusion()

    assert {"flask", "axum", "gson", "telescope.nvim", "zod", "xarray"} <= exclusion.names
    assert len(exclusion.prints) > 10_000


def test_no_source_is_of_an_excluded_project():
    exclusion = load_exclusion()

    assert [one.name for one in read_sources() if exclusion.refuses_package(one.name)] == []


def test_sources_are_pinned_and_few():
    sources = read_sources()

    assert len(sources) <= 150
    assert all(one.version and one.kind in KINDS for one in sources)
    assert len({(one.kind, one.name) for one in sources}) == len(sources)


def test_a_copy_under_another_name_is_known_by_its_docs(tmp_path):
    docs = [f"Turn the key of door {word} in its lock." for word in ("one", "two", "three")]
    write_prints(tmp_path / "prints", docs)
    exclusion = Exclusion(
        frozenset(), prints=load_exclusion(prints_file=tmp_path / "prints").prints
    )
    copied = "\n".join(CODE.format(f"turn_{i}", doc) for i, doc in enumerate(docs))
    own = CODE.format("open_it", "Open whatever the key in the hand is for.")
    files = {"copied.py": copied + own, "own.py": own, "quoting.py": CODE.format("turn", docs[0])}

    mined = mine_package(package(tmp_path, files), exclusion)

    assert [(pair.path, pair.name) for pair in mined.pairs] == [("own.py", "open_it")]
    assert mined.left_out == {"copy of an excluded project": 1}


def test_an_excluded_package_gives_nothing(tmp_path):
    mined = mine_package(
        package(tmp_path, {"a.py": CODE.format("turn_it", "Turn the key.")}, name="flask"),
        load_exclusion(),
    )

    assert mined.pairs == []
    assert mined.left_out == {"excluded package": 1}


@pytest.mark.parametrize(
    "pair",
    [
        Pair("Turn the key.", "x", DOC, "Python", "flask", "a.py"),
        Pair("Turn the key.", "x", DOC, "Python", "pip", "pip/_vendor/requests/api.py"),
        Pair("Turn the key.", "x", DOC, "C++", "vtk9", "ThirdParty/fmt/core.h"),
        Pair("The words of the excluded project's own doc.", "x", DOC, "Go", "doors", "a.go"),
    ],
)
def test_the_pipeline_stops_at_a_pair_of_an_excluded_project(tmp_path, pair):
    write_prints(tmp_path / "prints", ["The words of the excluded project's own doc."])
    exclusion = load_exclusion(prints_file=tmp_path / "prints")

    with pytest.raises(ExclusionFailed, match="is of an excluded project"):
        check_pair(pair, exclusion)


def test_gathering_refuses_what_mining_let_through(tmp_path):
    work = Work(tmp_path)
    write_pairs(work.mined / "x.jsonl.gz", [Pair("Turn it.", "x", DOC, "Python", "flask", "a.py")])

    with pytest.raises(ExclusionFailed, match=r"flask: a\.py"):
        gather_stage(work)

    assert not work.pairs.exists()


def test_gathering_keeps_each_pair_once_docs_before_names(tmp_path):
    work = Work(tmp_path)
    body = "def turn(key):\n    return locks.turn(key, hard=True, wait=1, again=2, more=3)"
    pairs = [
        Pair("turn key", body, NAME, "Python", "doors", "a.py"),
        Pair("Turn the key in the lock.", body, DOC, "Python", "doors", "b.py"),
        Pair("Another doc for the same code.", body, DOC, "Python", "doors", "c.py"),
        Pair("Open the window.", "def open_window(): ...", DOC, "Python", "d", "d"),
    ]
    write_pairs(work.mined / "x.jsonl.gz", pairs)

    gather_stage(work)

    report = json.loads(work.pairs_report.read_text())
    assert report["pairs"] == 2
    assert report["left_out"] == {"same code": 2}


def test_a_change_stays_beside_the_doc_of_the_same_code():
    pairs = [
        Pair(words, "def turn(): return locks", kind, "Go", "p", "a.go", "turn")
        for words, kind in (("Turn it.", DOC), ("turn waits", CHANGE), ("turn waits", CHANGE))
    ]

    assert len(list(Deduper().news([*pairs, pairs[1]]))) == 3


def test_near_duplicates_are_left_out_and_others_stay():
    words = [f"word{'abcdefghijklmnopqrstuvwxyz'[i % 26]}{chr(97 + i // 26)}" for i in range(120)]
    first = " ".join(words)
    alike = " ".join([*words[:60], "other", *words[61:]])
    unlike = " ".join(reversed(words))
    pairs = [
        Pair(f"doc number {name}", code, DOC, "Go", "p", "a.go")
        for name, code in (("one", first), ("two", alike), ("three", unlike))
    ]
    deduper = Deduper()

    kept = [pair.text for pair in deduper.news(pairs)]

    assert kept == ["doc number one", "doc number three"]
    assert deduper.left_out == {"near-duplicate": 1}


@pytest.mark.parametrize(
    ("stated", "name"),
    [("MIT", "MIT"), ("(MIT OR GPL-3.0)", "MIT"), ("BSD-3-Clause", "BSD"), ("ISC", "ISC"),
     ("Apache-2.0", "Apache-2.0"), ("OSI Approved :: Apache Software License", "Apache-2.0"),
     ("MPL-2.0", "MPL-2.0"), ("Expat", "MIT"), ("GPL-3.0-or-later", ""), ("LGPL-2.1", ""),
     ("MIT AND GPL-2.0", ""), ("SEE LICENSE IN FILE", ""), ("", ""), ("CC-BY-4.0", "")],
)  # fmt: skip
def test_licences_are_known_by_name(stated, name):
    assert permissive_name(stated) == name


def test_licences_are_known_by_their_text():
    assert licence_of_text(f"Copyright me\n\n{MIT}") == "MIT"
    assert licence_of_text("Apache License\nVersion 2.0, January 2004") == "Apache-2.0"
    assert licence_of_text(GPL) == ""


def test_the_nearest_licence_file_decides(tmp_path):
    nearest = NearestLicence([("p/LICENSE", MIT), ("p/deps/gnu/COPYING", GPL)], "")

    assert (nearest.of("p/a.py"), nearest.of("p/deps/gnu/a.c")) == ("MIT", "")


def test_files_under_other_licences_are_left_out(tmp_path):
    body = CODE.format("turn_it", "Turn the key in the lock.")
    files = {
        "LICENSE": MIT,
        "own.py": body,
        "gnu/COPYING": GPL,
        "gnu/theirs.py": body,
        "headed.py": "# This is free software under the GNU General Public License.\n" + body,
    }

    mined = mine_package(package(tmp_path, files, licence=""), load_exclusion())

    assert [pair.path for pair in mined.pairs] == ["own.py"]
    assert mined.left_out == {"licence": 2}
    assert mined.licences == {"MIT": 1}


def test_a_package_without_a_licence_gives_nothing(tmp_path):
    files = {"a.py": CODE.format("turn_it", "Turn the key in the lock.")}

    assert mine_package(package(tmp_path, files, licence=""), load_exclusion()).pairs == []


def test_a_tarball_gives_what_its_folder_gives(tmp_path):
    made = package(tmp_path, {"d/a.py": CODE.format("turn_it", "Turn the key in the lock.")})
    with tarfile.open(tmp_path / "doors.tar.xz", "w:xz") as archive:
        archive.add(made.place, ".")
    packed = Package("doors", "1.0", tmp_path / "doors.tar.xz", "MIT")

    assert mine_package(packed, load_exclusion()) == mine_package(made, load_exclusion())


def test_a_large_package_is_thinned_evenly_names_first():
    pairs = [Pair(str(i), "x", DOC if i % 2 else NAME, "Go", "p", "a.go") for i in range(100)]

    kept = spread_thin(pairs, 60)

    assert [one.kind for one in kept].count(DOC) == 50
    assert len(kept) == 60
