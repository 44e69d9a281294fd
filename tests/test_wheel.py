"""What is built can be installed elsewhere and works there, far from the checkout."""

import subprocess
import sys
import venv
import zipfile

import pytest

from tests.command_line import PROJECT


def run(*command, cwd, **options):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    target = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target), cwd=PROJECT)
    (built,) = target.glob("*.whl")
    return built


def test_the_wheel_holds_prompts_model_and_schemas_and_stays_small(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())

    assert {
        "askcode/prompts/questions.j2",
        "askcode/prompts/answer.j2",
        "askcode/embedding_model/model.onnx",
        "askcode/embedding_model/tokenizer.json",
        "askcode/schemas/ask.json",
    } <= names
    assert not any(name.startswith("tests/") for name in names)
    assert wheel.stat().st_size < 16 * 1024**2


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_installed_wheel_indexes_and_searches(wheel, tmp_path):
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    code = tmp_path / "code"
    code.mkdir()
    (code / "area.py").write_text("def area(width, height):\n    return width * height\n")
    run(environment / "bin/python", "-m", "pip", "install", "--quiet", str(wheel), cwd=tmp_path)
    askcode = environment / "bin/askcode"

    assert run(askcode, "--version", cwd=code).startswith("askcode ")
    assert "questions" in run(askcode, "prompts", "list", cwd=code)
    assert "1 file indexed" in run(askcode, "index", str(code), cwd=tmp_path)
    assert "area.py:1-2" in run(askcode, "search", "width", "-C", str(code), cwd=tmp_path)
