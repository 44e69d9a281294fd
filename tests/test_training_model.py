"""From pairs to a folder that fastembed loads, on a corpus of a few hundred made pairs."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from askcode.adapters.fastembed_models import folder_embedder
from askcode.definition_nodes import words
from askcode.training.composing import compose, pooled
from askcode.training.encoding import ASKED, encode_pairs, load_tokens, save_tokens, split_pairs
from askcode.training.evaluating import reciprocal_rank
from askcode.training.exporting import export, quantised
from askcode.training.fitting import batches, fit, whitened
from askcode.training.model_card import write_card
from askcode.training.pairs import DOC, NAME, Pair, read_pairs, write_pairs
from askcode.training.recipe import Recipe
from askcode.training.stages import STAGES, Work, run_stages, write_json
from askcode.training.word_pieces import train_tokenizer

NOUNS = sorted(
    words("door window key lock wall roof floor stair lamp chair table shelf carpet oven sink tap")
)
VERBS = sorted(words("open close paint clean move count break mend light sell buy carry"))
PAIRS = [
    Pair(
        f"{verb.title()}s the {noun} of a house.",
        f"def {verb}_{noun}(house):\n    return house.{noun}.{verb}(now=True)",
        DOC,
        "Python",
        f"package{len(verb) % 3}",
        f"house/{noun}.py",
        f"{verb}_{noun}",
    )
    for verb in VERBS
    for noun in NOUNS
]
TINY = Recipe(vocabulary=300, dim=16, epochs=30, batch=32, group=8, learning_rate=0.02)
needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed: make model does it"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The tokens of the made pairs, their tokenizer, and the folder of both."""
    folder = tmp_path_factory.mktemp("made")
    train_tokenizer(PAIRS, TINY).save(str(folder / "tokenizer.json"))
    train, held_out = split_pairs(PAIRS, TINY.seed)
    save_tokens(
        folder / "tokens.npz", encode_pairs(train, held_out, folder / "tokenizer.json", TINY)
    )
    return folder


def some_vectors(count, dim=16):
    vectors = np.random.default_rng(1).normal(size=(count, dim)).astype(np.float32)
    vectors[:2] = 0
    return vectors


def test_the_tokenizer_splits_identifiers_and_reads_any_script():
    tokenizer = train_tokenizer(PAIRS, TINY)

    assert tokenizer.encode("openDoor").tokens == tokenizer.encode("open_door").tokens
    assert tokenizer.encode("openDoor").tokens == ["open", "door"]
    assert tokenizer.encode("Как открыть дверь? 開門").tokens == ["[UNK]"] * 4
    assert tokenizer.encode("").tokens == []


def test_the_tokenizer_is_the_same_each_time():
    assert train_tokenizer(PAIRS, TINY).to_str() == train_tokenizer(PAIRS, TINY).to_str()


def test_tokens_survive_being_saved(made):
    tokens = load_tokens(made / "tokens.npz")

    texts = tokens.parts[ASKED[0]]
    assert len(texts) == len(tokens) == len(PAIRS)
    assert tokens.held_out == len(PAIRS) // 10
    rows, picked, counts = texts.pick(np.array([5, 0]), np.array([0, 1]))
    assert list(picked[rows == 1]) == list(texts.tokens[: texts.starts[1]])
    assert list(counts[rows == 1]) == list(texts.counts[: texts.starts[1]])


def test_a_token_that_a_text_repeats_is_counted(tmp_path):
    train_tokenizer(PAIRS, TINY).save(str(tmp_path / "tokenizer.json"))
    pair = Pair("Opens it.", "door door door wall", NAME, "Python", "p", "a.py", "open")

    tokens = encode_pairs([pair], [], tmp_path / "tokenizer.json", TINY)

    assert sorted(tokens.parts["code"].counts) == [1, 3]
    assert len(tokens.parts["name"].tokens) == 0  # masked: the code must not tell it


def test_encoding_is_the_same_each_time(made):
    train, held_out = split_pairs(PAIRS, TINY.seed)

    again = encode_pairs(train, held_out, made / "tokenizer.json", TINY)

    kept = load_tokens(made / "tokens.npz")
    assert all(
        np.array_equal(bags.tokens, kept.parts[part].tokens) for part, bags in again.parts.items()
    )


def test_texts_and_codes_are_put_together_by_the_shares_of_the_recipe(made):
    tokens = load_tokens(made / "tokens.npz")
    places = np.arange(20)
    bare = replace(TINY, with_path=0, with_name=0, as_piece=0)
    everything = replace(bare, with_path=1, with_name=1)

    plain, full = (
        compose(tokens, places, recipe, 0, np.random.default_rng(1))
        for recipe in (bare, everything)
    )

    assert plain.texts.shape == plain.codes.shape == (20, tokens.vocabulary)
    for matrix, parts in (
        (plain.texts, ["asked0"]),
        (plain.codes, ["code"]),
        (full.texts, ["asked0"]),
        (full.codes, ["code", "path", "name"]),
    ):
        counts = np.zeros(matrix.shape)
        for part in parts:
            rows, ids, found = tokens.parts[part].pick(places, places)
            np.add.at(counts, (rows, ids), found)
        assert np.allclose(matrix.toarray(), np.sqrt(counts))


def test_a_batch_is_made_of_groups_of_one_package():
    packages = np.repeat(np.arange(4, dtype=np.int32), 100)

    found = list(batches(packages, replace(TINY, batch=40, group=10), seed=3))

    assert len(found) == 10
    assert sorted(np.concatenate(found)) == list(range(400))
    assert all(len(set(packages[group])) == 1 for one in found for group in one.reshape(-1, 10))


def test_the_exported_folder_counts_a_token_by_the_root_of_its_occurrences(made, tmp_path):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(made / "tokenizer.json"))
    vectors = some_vectors(tokenizer.get_vocab_size())

    export(vectors, made / "tokenizer.json", tmp_path / "model")

    embedder = folder_embedder(tmp_path / "model")
    texts = ["open the door", "door wall door " * 5, "開門 дверь", ""]
    found = embedder.embed_passages(texts)
    rows, scales = quantised(vectors)
    exact = []
    for text in texts[:2]:
        ids, counts = np.unique(tokenizer.encode(text).ids, return_counts=True)
        exact.append((rows.astype(np.float32) * scales)[ids].T @ np.sqrt(counts))
    units = np.array(exact) / np.linalg.norm(exact, axis=1, keepdims=True)
    assert embedder.identity.dim == 16
    assert np.allclose(found[:2], units, atol=1e-5)
    assert np.array_equal(found[2:], np.zeros((2, 16)))


def test_a_text_longer_than_the_window_is_read_whole(made, tmp_path):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(made / "tokenizer.json"))
    export(some_vectors(tokenizer.get_vocab_size()), made / "tokenizer.json", tmp_path / "model")
    embedder = folder_embedder(tmp_path / "model")
    once = "house.window.clean(now=True) "

    short, long, other = embedder.embed_passages([once, once * 300, once * 300 + "door " * 900])

    assert sum(embedder.count_tokens([once * 300])) > 1024
    assert np.allclose(short, long, atol=0.02)
    assert short @ other < 0.95


def test_the_same_vectors_give_the_same_model(made, tmp_path):
    vectors = some_vectors(300)

    for name in ("one", "two"):
        export(vectors, made / "tokenizer.json", tmp_path / name)

    one, two = (
        [path.read_bytes() for path in sorted((tmp_path / name).iterdir())]
        for name in ("one", "two")
    )
    assert one == two


def test_int8_rows_are_near_and_zero_rows_stay_zero():
    vectors = some_vectors(50)

    rows, scales = quantised(vectors)

    assert np.abs(rows * scales - vectors).max() <= np.abs(vectors).max() / 127
    assert not rows[:2].any()


def test_vectors_that_know_nothing_find_nothing(made):
    tokens = load_tokens(made / "tokens.npz")

    assert reciprocal_rank(np.zeros((tokens.vocabulary, 4), np.float32), tokens) == 1.0
    nothing = np.zeros((tokens.vocabulary, 4), np.float32)
    assert not pooled(nothing, tokens, "code", np.arange(9)).any()


def test_whitening_evens_the_directions_of_codes(made):
    tokens = load_tokens(made / "tokens.npz")
    vectors = some_vectors(tokens.vocabulary) * np.linspace(1, 4, 16, dtype=np.float32)
    places = np.arange(len(tokens) - tokens.held_out)

    def spread(share):
        evened = whitened(vectors, tokens, replace(TINY, whitening=share))
        assert not evened[:2].any()
        codes = pooled(evened, tokens, "code", places)
        found = np.linalg.svd(codes, compute_uv=False)
        return found[0] / found[-1]

    assert spread(0.5) < spread(0.2) < spread(0.0)


@pytest.mark.slow
@needs_torch
def test_training_learns_and_is_the_same_for_the_same_seed(made):
    tokens = load_tokens(made / "tokens.npz")

    fitted = fit(tokens, TINY)

    assert reciprocal_rank(fitted, tokens) > 0.8
    assert reciprocal_rank(some_vectors(tokens.vocabulary), tokens) < 0.6
    assert np.array_equal(fitted, fit(tokens, TINY))
    assert not np.array_equal(fitted, fit(tokens, replace(TINY, seed=2)))
    assert not fitted[:2].any()


@pytest.mark.slow
@needs_torch
def test_every_option_of_the_recipe_trains(made):
    tokens = load_tokens(made / "tokens.npz")
    recipe = replace(TINY, epochs=10, nested_dims=(4, 8), runs=2)

    assert reciprocal_rank(fit(tokens, recipe), tokens) > 0.6


def test_stages_resume_where_they_stopped(tmp_path, monkeypatch):
    work = Work(tmp_path / "work")
    work.model.mkdir(parents=True)
    for _, outcome in STAGES.values():
        outcome(work).touch()

    assert list(run_stages(work)) == []
    work.pairs_report.unlink()
    write_pairs(work.mined / "p.jsonl.gz", PAIRS)
    ran = run_stages(work)

    assert next(ran)[0] == "gather"
    assert next(ran)[0] == "tokenizer"
    assert len(list(read_pairs(work.pairs))) == len(PAIRS)


def test_a_file_is_written_whole(tmp_path):
    write_json(tmp_path / "a.json", {"one": 1})

    assert (tmp_path / "a.json").read_text() == '{\n "one": 1\n}\n'
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_the_card_tells_data_licences_and_figures(tmp_path):
    write_json(
        tmp_path / "mined.json",
        [
            {"package": "doors", "version": "1.0", "pairs": 7, "licences": {"MIT": 7},
             "left_out": {"licence": 3}},
            {"package": "empty", "version": "2.0", "pairs": 0, "licences": {}, "left_out": {}},
        ],
    )  # fmt: skip
    write_json(
        tmp_path / "pairs.json",
        {"pairs": 6, "kept": {"language Go": 6, "kind doc": 6}, "left_out": {"same code": 1}},
    )
    write_json(tmp_path / "figures.json", {"int8_rank": 0.8})

    write_card(tmp_path / "card.md", tmp_path)

    card = (tmp_path / "card.md").read_text()
    assert "6 pairs of words and code: doc 6." in card
    assert "| Go | 6 |" in card
    assert "licence 3, same code 1" in card
    assert "| int8 rank | 0.8 |" in card
    assert "doors 1.0 (MIT; 7)" in card
    assert "empty" not in card
    assert "## Trials" in card
