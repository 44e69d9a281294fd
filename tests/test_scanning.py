"""Which files are listed, in which surroundings, and why others are left out."""

import os
import subprocess

import pytest

from askcode.leaving_out import is_secret_name, reason_by_name
from askcode.records import Skipped, SourceFile
from askcode.scanning import Listing, ScanRules, list_files, read_file


def git(root, *arguments):
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)
    return done.stdout


def put(root, *paths, text="x = 1\n"):
    for path in paths:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def listing(root, **rules):
    return list_files(root, ScanRules(**rules), index_dir=root / ".askcode")


def reasons(root, **rules):
    """Return the reason of each considered path, None for those that are read."""
    found = listing(root, **rules)
    read = {path: read_file(root, path, ScanRules(**rules)) for path in found.paths}
    return {
        path: left.reason if isinstance(left, Skipped) else None for path, left in read.items()
    } | {left.path: left.reason for left in found.skipped}


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    put(root, "plain.py")
    return root


def refuse_git(monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")


def test_a_repository_without_a_commit_is_listed(repository):
    assert listing(repository) == Listing(("plain.py",), (), (), 1)


def test_an_empty_folder_has_nothing(tmp_path):
    assert listing(tmp_path) == Listing((), (), (), 0)


def test_a_folder_outside_git_obeys_its_ignore_files(tmp_path):
    put(tmp_path, "a.py", "out/b.py", "deep/c.log", "deep/keep.log")
    put(tmp_path, ".gitignore", text="out/\n*.log\n")
    put(tmp_path, "deep/.gitignore", text="!keep.log\n")

    assert listing(tmp_path).paths == (".gitignore", "a.py", "deep/.gitignore", "deep/keep.log")
    assert listing(tmp_path).warnings == ()


@pytest.mark.parametrize("with_git", [True, False])
def test_a_sub_folder_obeys_the_rules_above_it(repository, monkeypatch, with_git):
    put(repository, "src/a.py", "src/b.log", "src/in/c.tmp")
    put(repository, ".gitignore", text="*.log\n/src/in/*.tmp\n")
    if not with_git:
        refuse_git(monkeypatch)

    assert listing(repository / "src").paths == ("a.py",)


@pytest.mark.parametrize("with_git", [True, False])
def test_a_root_that_is_ignored_itself_is_a_folder_of_its_own(repository, monkeypatch, with_git):
    put(repository, ".gitignore", text="build/\n")
    put(repository, "build/a.py", "build/in/b.py", "build/c.o")
    put(repository, "build/.gitignore", text="*.o\n")
    if not with_git:
        refuse_git(monkeypatch)

    found = listing(repository / "build")

    assert found.paths == (".gitignore", "a.py", "in/b.py")
    assert len(found.warnings) == 1


def test_a_linked_work_tree_has_its_own_files(repository, monkeypatch):
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "x")
    tree = repository.with_name("tree")
    git(repository, "worktree", "add", "-q", str(tree))
    put(tree, "new.py", "by_exclude.py", "tracked.tmp")
    put(repository, ".git/info/exclude", text="by_exclude.py\n*.tmp\n")
    git(tree, "add", "-f", "tracked.tmp")

    assert listing(tree).paths == ("new.py", "plain.py", "tracked.tmp")
    refuse_git(monkeypatch)
    assert listing(tree).paths == ("new.py", "plain.py", "tracked.tmp")


def test_deleted_and_unmerged_files_are_listed_as_they_lie_there(repository):
    put(repository, "gone.py")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "base")
    git(repository, "checkout", "-qb", "other")
    put(repository, "plain.py", text="x = 2\n")
    git(repository, "commit", "-qam", "other")
    git(repository, "checkout", "-q", "-")
    put(repository, "plain.py", text="x = 3\n")
    git(repository, "commit", "-qam", "this")
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "merge", "other")
    (repository / "gone.py").unlink()

    assert git(repository, "ls-files", "-c").count(b"plain.py") == 3
    assert listing(repository).paths == ("plain.py",)


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_ignored_files_that_are_tracked_are_listed_without_git_too(
    repository, monkeypatch, version
):
    put(repository, ".gitignore", text="*.log\nout/\n")
    put(repository, "a.log", "out/deep/b.py", "out/deep/c.py", "lost.log", "later.py")
    git(repository, "add", "-f", "a.log", "out/deep/b.py", "plain.py")
    if version == "3":
        git(repository, "add", "-N", "later.py")
    git(repository, "update-index", "--index-version", version)
    expected = (".gitignore", "a.log", "later.py", "out/deep/b.py", "plain.py")

    assert listing(repository).paths == expected
    refuse_git(monkeypatch)
    assert listing(repository).paths == expected


def test_a_damaged_index_is_named_and_the_files_are_found(repository):
    put(repository, ".git/index", text="nonsense")

    found = listing(repository)

    assert found.paths == ("plain.py",)
    assert "index file" in found.warnings[0]
    assert "damaged" in found.warnings[1]


def test_variables_of_a_hook_do_not_lead_to_another_repository(repository, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    put(repository, ".gitignore", text="*.log\n")
    put(repository, "a.log")

    assert listing(repository).paths == (".gitignore", "plain.py")


def test_a_repositorys_own_settings_run_no_command(repository):
    spy = repository / "spy.sh"
    spy.write_text("#!/bin/sh\ntouch ran\n")
    spy.chmod(0o755)
    git(repository, "config", "core.fsmonitor", "./spy.sh")

    listing(repository)

    assert not (repository / "ran").exists()


def test_repositories_inside_are_left_out_and_said_so(repository):
    for name in ("inner", "sub"):
        put(repository, f"{name}/a.py")
        git(repository / name, "init", "-q")
        git(repository / name, "add", "-A")
        git(repository / name, "commit", "-qm", "x")
    git(repository, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    put(repository, "odd/.git", text="no repository\n")
    put(repository, "odd/a.py")

    assert reasons(repository) == {
        "plain.py": None,
        "odd/a.py": None,
        "inner": "nested repository",
        "sub": "submodule",
    }


def test_a_submodule_that_is_not_checked_out_is_no_error(repository):
    put(repository, "sub/a.py")
    git(repository / "sub", "init", "-q")
    git(repository / "sub", "add", "-A")
    git(repository / "sub", "commit", "-qm", "x")
    git(repository, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    subprocess.run(["rm", "-rf", "sub"], cwd=repository, check=True)
    (repository / "sub").mkdir()

    assert reasons(repository) == {"plain.py": None, "sub": "submodule"}


def test_the_index_itself_is_never_listed(repository):
    put(repository, ".askcode/x.py", "src/.askcode/y.py", "store/z.py", "stores/a.py")

    found = list_files(repository, ScanRules(), index_dir=repository / "store")

    assert found == Listing(("plain.py", "stores/a.py"), (), (), 2)


def test_other_tools_ignore_files_mean_nothing(repository):
    put(repository, ".prettierignore", ".ignore", ".dockerignore", text="*\n")

    assert "plain.py" in listing(repository).paths


def test_our_ignore_file_takes_away_with_gits_syntax(repository):
    put(repository, "docs/a.md", "docs/keep.md", "src/b.py", "src/gen/c.py", "gen/d.py")
    put(repository, ".askcodeignore", text="docs/*\n!docs/keep.md\n")
    put(repository, "src/.askcodeignore", text="/gen/\n")

    assert {path for path, reason in reasons(repository).items() if reason} == {
        "docs/a.md",
        "src/gen/c.py",
    }
    assert reasons(repository)["docs/a.md"] == "askcodeignore"


def test_exclude_takes_away_and_wins_over_include(repository):
    put(repository, "tests/a.py", "src/tests/b.py", "src/c.py", "src/d.txt", "vendor/e.py")

    found = reasons(repository, exclude=("tests", "./src/*.txt", "vendor/"), include=("vendor",))

    assert found == {
        "plain.py": None,
        "src/c.py": None,
        "tests/a.py": "excluded",
        "src/tests/b.py": "excluded",
        "src/d.txt": "excluded",
        "vendor/e.py": "excluded",
    }


def test_include_brings_back_what_the_default_rules_leave_out(repository):
    head = "// Code generated by x. DO NOT EDIT.\n"
    put(repository, "api.pb.go", "gen/a.go", "vendor/b.go", "vendor/c.go", text=head)
    put(repository, "yarn.lock", ".env", "app.min.js")

    default = reasons(repository)
    included = reasons(repository, include=("*.go", "yarn.lock", ".env", "*.min.js"))

    assert default == {
        "plain.py": None,
        "api.pb.go": "generated",
        "gen/a.go": "generated",
        "vendor/b.go": "vendored",
        "vendor/c.go": "vendored",
        "yarn.lock": "lock file",
        ".env": "secret",
        "app.min.js": "minified",
    }
    assert {path: reason for path, reason in included.items() if reason} == {".env": "secret"}


def test_include_does_not_limit_the_run_nor_lift_the_size_limit(repository):
    put(repository, "big.lock", text="x" * 200)

    found = reasons(repository, include=("*.lock",), max_file_bytes=100)

    assert found == {"plain.py": None, "big.lock": "too large"}


def test_secrets_come_in_only_when_asked_for(repository):
    key = "-----BEGIN " + "PRIVATE KEY-----\nFAKE\n-----END " + "PRIVATE KEY-----\n"
    put(repository, ".env")
    put(repository, "deploy", text=key)

    assert reasons(repository) == {"plain.py": None, ".env": "secret", "deploy": "secret"}
    assert set(reasons(repository, allow_secrets=True).values()) == {None}


def test_code_that_holds_a_key_among_other_things_is_read(repository):
    key = "-----BEGIN " + "PRIVATE KEY-----\nFAKE\n-----END " + "PRIVATE KEY-----\n"
    put(repository, "test_tls.py", text=f'KEY = """\\\n{key}"""\n' + "def f():\n    pass\n" * 40)

    assert reasons(repository)["test_tls.py"] is None


def test_attributes_stand_above_the_default_rules(repository):
    put(repository, "a_pb2.py", "b_pb2.py", "src/out/c.py", "src/d.py", "vendor/own/e.py")
    put(repository, "src/head.go", text="// Code generated by x. DO NOT EDIT.\n")
    put(
        repository,
        ".gitattributes",
        text="a_pb2.py -linguist-generated\nout/** linguist-generated\nsrc/out/** linguist-vendored"
        "=true\nvendor/own/** linguist-vendored=false\n*.py linguist-documentation\n",
    )
    put(repository, "src/.gitattributes", text="head.go linguist-generated=false\n")

    assert reasons(repository) == {
        ".gitattributes": None,
        "src/.gitattributes": None,
        "plain.py": None,
        "a_pb2.py": None,
        "b_pb2.py": "generated",
        "src/out/c.py": "vendored",
        "src/d.py": None,
        "src/head.go": None,
        "vendor/own/e.py": None,
    }


def test_a_virtual_environment_outside_git_is_vendored(tmp_path):
    put(tmp_path, "env/pyvenv.cfg", "env/bin/activate", "app.py")

    assert reasons(tmp_path) == {
        "app.py": None,
        "env/pyvenv.cfg": "vendored",
        "env/bin/activate": "vendored",
    }


def test_the_size_of_a_large_file_is_told_without_reading_it(repository):
    with open(repository / "big.py", "wb") as file:
        file.truncate(20 * 1024**3)

    (left,) = listing(repository).skipped

    assert left == Skipped("big.py", "too large", "20.0 GB", 20 * 1024**3)


def test_names_that_are_no_utf8_are_listed(repository):
    name = os.fsdecode(b"caf\xe9.py")
    put(repository, name, "café.py")

    assert set(listing(repository).paths) == {"plain.py", name, "café.py"}
    assert isinstance(read_file(repository, name, ScanRules()), SourceFile)


def test_a_file_that_vanishes_after_the_listing_is_nothing(repository):
    assert read_file(repository, "gone.py", ScanRules()) is None


@pytest.mark.parametrize(
    "path",
    [
        ".env", ".ENV", ".env.local", "a/.env.production", ".envrc", "prod.env",
        ".env.example.local", "id_rsa", "id_rsa.pub", "id_ed25519", "id_ecdsa_sk", "id_deploy",
        "id_rsa.bak", "a.pem", "A.KEY", "x.p12", "x.pfx", "x.jks", "x.kdbx", "x.ppk", ".npmrc",
        ".netrc", "_netrc", ".pypirc", ".htpasswd", "credentials", "credentials.json",
        "aws_credentials.csv", "credentials.yml.enc", ".credentials", ".aws/config",
        ".ssh/known_hosts", ".git-credentials", ".docker/config.json", "terraform.tfstate",
        "terraform.tfstate.backup", "dev.tfvars", "secrets.yml", "app-secrets.prod.json",
        "secrets.toml", "client_secret_123.json", "service-account.json", "kubeconfig",
        "passwords.txt", "api_keys.json", ".env.d/prod", "my_app_secrets.yml",
        "service-account-prod.json", "secret.txt", "db_password.txt",
        "credentials-prod-eu.json", "local.settings.json", ".pgpass",
    ],
)  # fmt: skip
def test_names_of_secrets(path):
    assert is_secret_name(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example", ".env.sample", ".env.template", ".env.dist", "env.example", "example.env",
        ".env.production.example", "secrets.example.yml", "credentials.py", "credentials.md",
        "src/secrets.go", "id_generator.py", "id_map.rs", "environment.py", "env.py",
        "vite-env.d.ts", ".secrets.baseline", "keys.py", "monkey.py", "tokenizer.json",
        "password_reset.html", ".github/workflows/rotate-secrets.yml", "docs/secrets.md",
        "client_secret.py",
        "alter_password_policy.yml", "alter_user_reset_password.yml",
        "create_scoped_db_credential.yml",
        "password_policy.json", "secretary.json", "certificate.crt", "secrets/manager.py",
        "id_rsa_test.go",
        "secret_key_base.rb", "src/credentials/store.ts",
    ],
)  # fmt: skip
def test_names_that_only_sound_like_secrets(path):
    assert not is_secret_name(path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a/node_modules/b/c.js", "vendored"), ("vendor/a.go", "vendored"),
        ("Vendor/a.go", "vendored"), ("x/third_party/y.c", "vendored"),
        ("ios/Pods/a.m", "vendored"), ("vendor.py", None), ("src/vendors.py", None),
        ("__pycache__/a.txt", "tool folder"), (".hg/store", "tool folder"),
        ("package-lock.json", "lock file"), ("web/yarn.lock", "lock file"),
        ("go.sum", "lock file"), ("Cargo.lock", "lock file"), ("uv.lock", "lock file"),
        ("pnpm-lock.yaml", "lock file"), ("lock.py", None), ("package.json", None),
        ("go.mod", None), ("src/lock.json", None), ("app.min.js", "minified"),
        ("a-min.css", "minified"), ("a.js.map", "minified"), ("admin.js", None), ("min.js", None),
        ("maps/a.map", None), ("a.pb.go", "generated"), ("a_pb2.py", "generated"),
        ("a_pb2_grpc.pyi", "generated"), ("user.g.dart", "generated"),
        ("Form1.Designer.cs", "generated"), ("api.generated.ts", "generated"),
        ("designer.cs", None), ("pb.go", None), ("generated.py", None), ("ui_helpers.py", None),
    ],
)  # fmt: skip
def test_names_that_the_default_rules_know(path, reason):
    assert reason_by_name(path) == reason


def committed(root, *paths):
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    put(root, *paths)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")


@pytest.fixture
def nested(repository):
    """Return a repository with a submodule, one in it, a plain nested one and an absent one."""
    committed(repository / "lib" / "deep", "deep.py")
    committed(repository / "lib", "lib.py")
    put(repository, "lib/.gitignore", text="built/\n")
    put(repository, "lib/built/out.py", "lib/new.py")
    git(repository, "-c", "advice.addEmbeddedRepo=false", "add", "lib")
    committed(repository / "mine", "mine.py")
    committed(repository / "absent", "gone.py")
    git(repository, "-c", "advice.addEmbeddedRepo=false", "add", "absent")
    subprocess.run(["rm", "-r", repository / "absent"], check=True)
    (repository / "absent").mkdir()
    return repository


def test_submodules_and_nested_repositories_are_left_out(nested):
    found = reasons(nested)
    assert found == {
        "plain.py": None,
        "lib": "submodule",
        "mine": "nested repository",
        "absent": "submodule",
    }


def test_submodules_are_listed_by_their_own_rules_on_request(nested):
    assert reasons(nested, submodules=True) == {
        "plain.py": None,
        "lib/.gitignore": None,
        "lib/lib.py": None,
        "lib/new.py": None,
        "lib/deep/deep.py": None,
        "mine/mine.py": None,
        "absent": "submodule",
    }


def test_submodules_are_listed_where_git_cannot_be_asked(nested, monkeypatch):
    refuse_git(monkeypatch)
    found = list_files(nested, ScanRules(submodules=True), index_dir=None)
    assert found.paths == (
        "lib/.gitignore", "lib/deep/deep.py", "lib/lib.py", "lib/new.py", "mine/mine.py",
        "plain.py",
    )  # fmt: skip
    assert any(warning.startswith("lib: listed files without git") for warning in found.warnings)
