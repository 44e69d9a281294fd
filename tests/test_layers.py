"""The imports point one way, and only the rim knows vendors, environment and output."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "askcode"

# Lower layers first; a module may import from its own layer and from lower ones.
LAYERS = (
    {"records", "errors", "terminal_text"},
    {"protocols", "settings", "setting_specs", "setting_values", "providers"},
    set(),  # the steps: whatever is not named elsewhere
    {"indexing", "indexing_many", "retrieving", "answering"},
    {"adapters"},
    {"wiring", "run_parts", "clusters", "sessions", "many_sessions", "serving"},
    {"cli", "__main__"},
)
STEPS = 2


def modules():
    return sorted(
        path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "training"
    )


def part_of(path):
    """The first name below the package: a module, or one of its sub-packages."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def layer_of(part):
    return next((place for place, names in enumerate(LAYERS) if part in names), STEPS)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path):
    own = layer_of(part_of(path))

    upward = {
        name
        for name in imported(path)
        if name.startswith("askcode.")
        if part_exists(name.split(".")[1]) and layer_of(name.split(".")[1]) > own
    }

    assert upward == set()


def part_exists(part):
    return (PACKAGE / f"{part}.py").exists() or (PACKAGE / part).is_dir()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_adapters_import_vendors(path):
    vendors = {
        "lancedb",
        "lance",
        "fastembed",
        "openai",
        "onnxruntime",
        "pyarrow",
        "bpe_openai",
        "obstore",
        "botocore",
        "mcp",
        "mcp_types",
        "anyio",
        "ray",
    }

    found = {name.split(".")[0] for name in imported(path)} & vendors

    assert not found or part_of(path) == "adapters"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_settings_reads_the_environment(path):
    source = path.read_text(encoding="utf-8")

    reads = "os.environ" in source or "getenv" in source

    assert not reads or path.name == "settings.py"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_prints_or_exits(path):
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert not calls & {"print", "exit", "input"} or part_of(path) == "cli"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_needs_the_training(path):
    assert not [name for name in imported(path) if name.startswith("askcode.training")]
