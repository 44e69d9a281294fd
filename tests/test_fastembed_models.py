import os
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest
from tokenizers import Tokenizer

from askcode.adapters.fastembed_models import (
    BUNDLED_FOLDER,
    bundled_embedder,
    folder_embedder,
    named_embedder,
)
from askcode.errors import EmbedderError, UsageError
from tests.hub_server import hub_server
from tests.tiny_onnx import SPECIAL, write_embedding_model

WORDS = ("red", "green", "blue")
# Special tokens point nowhere, so that the mean of a text is the mean of its words.
TABLE = np.array([[0, 0, 0, 0]] * 4 + [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], np.float32)
MINILM = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def bundled():
    return bundled_embedder()


@pytest.fixture
def colours(tmp_path):
    return write_embedding_model(tmp_path / "colours", WORDS, TABLE)


def unit(*numbers):
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


def test_the_bundled_model_says_which_it_is(bundled):
    identity = bundled.identity

    assert (identity.name, identity.dim) == ("askcode-bundled", 512)
    assert identity == bundled_embedder().identity
    assert len(identity.digest) == 32


def test_vectors_have_unit_length(bundled):
    vectors = bundled.embed_passages(["def parse(): ...", "x", "how does it open a file?"])

    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


def test_what_says_the_same_is_nearer(bundled):
    query = bundled.embed_queries(["how is the http response parsed?"])
    passages = bundled.embed_passages(
        ["def parse_http_response(raw): ...", "def draw_triangle(canvas): ..."]
    )

    near, far = passages @ query[0]
    assert near > far + 0.2


def by_hand(text):
    """Add up the table's rows of a text's tokens, each looked up by itself, n of one as root n."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(BUNDLED_FOLDER / "model.onnx"))
    ids = Tokenizer.from_file(str(BUNDLED_FOLDER / "tokenizer.json")).encode(text).ids
    rows = {
        one: session.run(None, {"input_ids": np.array([[one]], np.int64)})[0].reshape(-1)
        for one in set(ids)
    }
    counts = Counter(ids)
    total = np.sum([rows[one] * counts[one] ** 0.5 for one in counts], axis=0, dtype=np.float64)
    return len(ids), total / np.linalg.norm(total)


@pytest.mark.parametrize("repeats", [1, 30, 100, 1500])
def test_a_text_of_any_length_is_embedded_whole(bundled, repeats):
    lines = [f"parseHTTPResponse_{n}(buffer{n % 7}, maxSize)" for n in range(repeats)]
    text = "\n".join([*lines, "launch_the_zeppelin(a)"])
    count, expected = by_hand(text)

    vector, cut = bundled.embed_passages([text, "\n".join(lines)])

    assert bundled.count_tokens([text]) == [count]
    assert count > 8192 or repeats < 1500
    # beyond a window of 512 tokens the roots are those of its pieces
    assert vector @ expected == pytest.approx(1, abs=1e-5 if count <= 512 else 0.1)
    assert (
        vector @ by_hand("launch_the_zeppelin(a)")[1] > cut @ by_hand("launch_the_zeppelin(a)")[1]
    )


def test_a_text_has_the_same_vector_to_the_bit_in_any_batch(bundled):
    files = sorted(BUNDLED_FOLDER.parent.glob("*.py"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    sizes = [1 + 37 * n % 101 for n in range(300)]
    texts = ["\n".join(lines[11 * n : 11 * n + size]) for n, size in enumerate(sizes)]

    together = bundled.embed_passages(texts)
    alone = np.concatenate([bundled.embed_passages([text]) for text in texts])

    assert len(lines) > 11 * 300
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("texts", [[""], ["", "!!!"], ["\n \t", "…", "(){};"]])
def test_a_text_without_a_known_word_is_a_row_of_zeros(bundled, texts):
    vectors = bundled.embed_passages(texts)

    assert vectors.shape == (len(texts), 512)
    assert not vectors.any()


def test_no_texts_are_no_rows(bundled):
    assert bundled.embed_passages([]).shape == (0, 512)
    assert bundled.count_tokens([]) == []


def test_odd_texts_do_not_fail(bundled):
    texts = ["\ud800 half a pair", "\x00", "日本語 🙂", "a" * 100_000, "[PAD] [UNK]"]

    assert np.isfinite(bundled.embed_passages(texts)).all()
    assert len(bundled.count_tokens(texts)) == 5


def test_a_folder_gives_the_mean_of_its_tokens(colours):
    embedder = folder_embedder(colours)

    vectors = embedder.embed_passages(["red", "red green", "red red blue unknown"])

    assert vectors == pytest.approx(
        np.array([[1, 0, 0, 0], unit(1, 1, 0, 0), unit(2, 0, 1, 0)]), abs=1e-6
    )
    assert embedder.identity.dim == 4
    assert embedder.identity.name == str(colours)


def test_a_small_window_does_not_cut_the_text(tmp_path):
    folder = write_embedding_model(tmp_path, WORDS, TABLE, window=6)
    embedder = folder_embedder(folder)

    # four words and two special tokens fit: two whole windows of red and half a one of blue
    (vector,) = embedder.embed_passages(["red " * 8 + "blue blue"])

    assert vector == pytest.approx(unit(8, 0, 2, 0), abs=1e-6)


def test_a_graph_that_pools_by_itself_is_taken_as_it_is(tmp_path):
    folder = write_embedding_model(tmp_path, WORDS, TABLE, pooled=True)

    (vector,) = folder_embedder(folder).embed_passages(["red green green"])

    assert vector == pytest.approx(unit(1, 2, 0, 0), abs=1e-6)


def test_the_first_token_is_the_vector_where_the_folder_says_so(tmp_path):
    table = TABLE.copy()
    table[SPECIAL.index("[CLS]")] = [0, 0, 0, 1]
    folder = write_embedding_model(tmp_path, WORDS, table)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')

    (vector,) = folder_embedder(folder).embed_passages(["red"])

    assert vector == pytest.approx([0, 0, 0, 1])


def test_prefixes_go_before_queries_and_passages(colours):
    embedder = folder_embedder(colours, query_prefix="blue ", passage_prefix="green ")

    assert embedder.embed_queries(["red"])[0] == pytest.approx(unit(1, 0, 1, 0))
    assert embedder.embed_passages(["red"])[0] == pytest.approx(unit(1, 1, 0, 0))
    assert embedder.count_tokens(["red"]) == [1]


def test_other_files_or_prefixes_are_another_model(colours):
    before = folder_embedder(colours).identity
    prefixed = folder_embedder(colours, query_prefix="q: ").identity
    write_embedding_model(colours, WORDS, TABLE * 2)
    after = folder_embedder(colours).identity

    assert len({before.digest, prefixed.digest, after.digest}) == 3


@pytest.mark.parametrize(
    "name", ["model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json"]
)
@pytest.mark.parametrize("size", [0, 10, 100])
def test_a_cut_file_is_named(colours, name, size):
    if (colours / name).stat().st_size <= size:
        pytest.skip("the file is shorter")
    os.truncate(colours / name, size)

    with pytest.raises(EmbedderError, match="cannot be used") as caught:
        folder_embedder(colours).embed_queries(["red"])

    assert str(colours) in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_a_missing_file_is_named(colours, name):
    (colours / name).unlink()

    with pytest.raises(EmbedderError, match=str(colours)):
        folder_embedder(colours).embed_queries(["red"])


def test_a_wrong_dimension_in_the_config_is_named(tmp_path):
    folder = write_embedding_model(tmp_path, WORDS, TABLE, static=True)
    (folder / "config.json").write_text('{"model_type": "static", "hidden_size": 7}')

    with pytest.raises(EmbedderError, match=r"vectors have 4 numbers, its config\.json says 7"):
        folder_embedder(folder).embed_queries(["red"])


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(EmbedderError, match="does not exist"):
        folder_embedder(tmp_path / "none")


def test_an_unknown_name_is_told_with_known_ones(tmp_path):
    with pytest.raises(UsageError, match="no embedding model called no/such") as caught:
        named_embedder("no/such", tmp_path).embed_queries(["red"])

    assert MINILM in caught.value.hint


RUN_NAMED = """
import sys
from pathlib import Path
from askcode.adapters.fastembed_models import named_embedder
from askcode.errors import AskcodeError
try:
    embedder = named_embedder(sys.argv[1], Path(sys.argv[2]))
    print(embedder.identity.dim, embedder.embed_queries(["red"])[0].tolist())
except AskcodeError as error:
    print(error.exit_code, error.message, "|", error.hint)
"""


def run_named(cache, **environment):
    """Ask for a model in a process of its own: the hub's client reads its settings once."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN_NAMED, MINILM, str(cache)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, **environment},
    )
    assert done.stderr == ""
    return done.stdout.strip()


def put_into_cache(cache):
    folder = cache / "models--Qdrant--all-MiniLM-L6-v2-onnx"
    write_embedding_model(folder / "snapshots" / "0123abcd", WORDS, TABLE)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("0123abcd")
    return folder / "snapshots" / "0123abcd"


@pytest.mark.parametrize(
    "environment",
    [{"HF_HUB_OFFLINE": "1"}, {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9"}],
)
def test_a_model_that_cannot_be_had_is_told_soon(tmp_path, environment):
    began = time.monotonic()

    told = run_named(tmp_path, **environment)

    assert time.monotonic() - began < 20
    assert told.startswith(
        f"4 the embedding model {MINILM} is not in {tmp_path} and cannot be downloaded ("
    )
    assert f"copy {tmp_path} from a machine that has it" in told


def test_a_model_in_the_cache_needs_no_network(tmp_path):
    put_into_cache(tmp_path)

    assert run_named(tmp_path, HF_HUB_OFFLINE="1") == "4 [1.0, 0.0, 0.0, 0.0]"


def test_a_damaged_model_in_the_cache_is_named_with_its_repair(tmp_path):
    folder = put_into_cache(tmp_path)
    os.truncate(folder / "model.onnx", 50)

    told = run_named(tmp_path, HF_HUB_OFFLINE="1")

    assert told.startswith(f"4 the model in {folder} cannot be used: ")
    assert told.endswith(f"| remove it, then run again: rm -r {folder.parent.parent}")


def test_the_models_folder_is_not_written_to(colours):
    before = sorted(path.name for path in colours.iterdir())

    folder_embedder(colours).embed_queries(["red"])

    assert sorted(path.name for path in colours.iterdir()) == before


@pytest.fixture
def hub(tmp_path):
    folder = write_embedding_model(tmp_path / "source", WORDS, TABLE)
    with hub_server("Qdrant/all-MiniLM-L6-v2-onnx", folder) as (endpoint, fetched):
        yield {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": endpoint}, fetched


def test_a_missing_model_is_downloaded_once(tmp_path, hub):
    environment, fetched = hub
    cache = tmp_path / "cache"

    assert run_named(cache, **environment) == "4 [1.0, 0.0, 0.0, 0.0]"
    assert "model.onnx" in fetched
    fetched.clear()

    assert run_named(cache, **environment) == "4 [1.0, 0.0, 0.0, 0.0]"
    assert fetched == []


@pytest.mark.parametrize("size", [0, 50])
def test_a_damaged_model_is_downloaded_once_more(tmp_path, hub, size):
    environment, _ = hub
    cache = tmp_path / "cache"
    run_named(cache, **environment)
    (model,) = (path for path in cache.rglob("model.onnx"))
    os.truncate(model.resolve(), size)

    assert run_named(cache, **environment) == "4 [1.0, 0.0, 0.0, 0.0]"


def test_a_model_damaged_at_its_source_is_named(tmp_path, hub):
    environment, fetched = hub
    os.truncate(tmp_path / "source" / "model.onnx", 50)

    told = run_named(tmp_path / "cache", **environment)

    assert told.startswith(f"4 the model in {tmp_path / 'cache'}")
    assert fetched.count("model.onnx") <= 2
