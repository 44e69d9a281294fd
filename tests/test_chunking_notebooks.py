"""Cells of notebooks."""

import json

from askcode.chunking import Chunker
from askcode.chunking_notebooks import cells_of
from askcode.records import SourceFile


def chunk(text, max_tokens=20):
    chunker = Chunker(
        count_tokens=lambda texts: [len(one.split()) for one in texts], max_tokens=max_tokens
    )
    return chunker.chunk(SourceFile("n.ipynb", text, "notebook", ""))


def notebook(*cells, **metadata):
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def cell(kind, source):
    return {
        "cell_type": kind,
        "source": source,
        "metadata": {"source": ["not this"], "cells": [{"source": "nor this"}]},
        "outputs": [
            {
                "data": {"image/png": "iVBORw0KGgo" + "A" * 1000, "text/plain": ["source"]},
                "source": ["nor that"],
            }
        ],
    }


def test_only_the_sources_of_cells_are_taken():
    text = json.dumps(notebook(cell("code", ["def nb_fn():\n", "    return 1\n"])))

    (only,) = chunk(text)

    assert (only.text, only.start_line, only.end_line) == ("def nb_fn():\n    return 1", 1, 1)
    assert (only.symbol, only.language, only.kind) == ("nb_fn", "python", "code")


def test_lines_are_those_of_the_file():
    text = json.dumps(notebook(cell("code", ["a = 1\n", "\n", "b = 2"])), indent=1)

    (only,) = chunk(text)

    lines = text.split("\n")
    assert lines[only.start_line - 1].strip() == '"a = 1\\n",'
    assert lines[only.end_line - 1].strip() == '"b = 2"'


def test_a_long_cell_is_cut_and_each_piece_has_its_lines():
    source = [f"x{number} = call(a, b)\n" for number in range(30)]
    text = json.dumps(notebook(cell("code", source)), indent=1)

    chunks = chunk(text)

    lines = text.split("\n")
    assert len(chunks) > 2
    assert "\n".join(one.text for one in chunks) + "\n" == "".join(source)
    for one in chunks:
        assert one.text.split("\n")[0] in lines[one.start_line - 1]
        assert one.text.split("\n")[-1] in lines[one.end_line - 1]


def test_markdown_and_code_cells_stay_apart():
    text = json.dumps(
        notebook(
            cell("markdown", "# Sales\n\nText."),
            cell("code", "import a"),
            cell("code", "a.b()"),
            cell("raw", "raw"),
            cell("code", ""),
        )
    )

    chunks = chunk(text)

    assert [(one.kind, one.language, one.symbol, one.text) for one in chunks] == [
        ("prose", "markdown", "Sales", "# Sales\n\nText."),
        ("code", "python", None, "import a\n\na.b()"),
        ("text", None, None, "raw"),
    ]


def test_the_kernel_gives_the_language():
    def language(**metadata):
        (only,) = cells_of(json.dumps(notebook(cell("code", "x"), **metadata)))
        return only.language

    assert language(kernelspec={"language": "julia"}) == "julia"
    assert language(language_info={"name": "R"}) == "r"
    assert language(kernelspec={"name": "python3"}) == "python"
    assert language(language_info={"name": "C++17"}) == "cpp"
    assert language(kernelspec={"language": "no such"}) is None
    assert language() == "python"


def test_older_notebooks_have_worksheets():
    cells = [{"cell_type": "code", "input": ["a\n", "b"]}, {"cell_type": "heading", "source": "T"}]
    text = json.dumps({"worksheets": [{"cells": cells}], "metadata": {}, "nbformat": 3})

    assert [one.text for one in chunk(text)] == ["a\nb", "T"]


def test_a_broken_notebook_is_text():
    text = '{"cells": [\n{"source": ["a"]}\n'

    chunks = chunk(text)

    assert [(one.start_line, one.end_line, one.kind) for one in chunks] == [(1, 2, "text")]


def test_an_empty_notebook_has_no_chunks():
    assert chunk(json.dumps(notebook())) == []
    assert cells_of("[]") is None
    assert cells_of('{"a": 1}') is None
