from __future__ import annotations

import pytest

from askcode.pinpointing import Place, best_paths, read_places


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('File "/srv/app/lib/jobs.py", line 12, in run', "/srv/app/lib/jobs.py", 12),
        ("    at run (/srv/app/lib/app.js:10:5)", "/srv/app/lib/app.js", 10),
        ("\t/go/src/x/main.go:45 +0x1d", "/go/src/x/main.go", 45),
        ("  --> src/lib.rs:10:5", "src/lib.rs", 10),
        ("\tat com.acme.App.main(App.java:23)", "App.java", 23),
        (r"   at Acme.Run() in C:\src\Acme\Run.cs:line 7", "C:/src/Acme/Run.cs", 7),
        ("foo.c(12): error C2065", "foo.c", 12),
        ("PHP Fatal error in /var/www/a.php on line 33", "/var/www/a.php", 33),
        ("lib/a.rb:12:in `call'", "lib/a.rb", 12),
        ("./src/a.ts:3", "src/a.ts", 3),
    ],
)
def test_places_are_read_in_every_language(text, path, line):
    assert read_places(text) == [Place(path, line)]


def test_addresses_and_versions_are_no_places():
    assert read_places("localhost:8080 answered 3.11:2 at 10:30") == []


def test_the_innermost_call_comes_first():
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/a/main.py", line 3, in <module>\n'
        '  File "/a/jobs.py", line 9, in run\n'
    )

    assert read_places(trace) == [Place("/a/jobs.py", 9), Place("/a/main.py", 3)]
    assert read_places("x.go:1\ny.go:2") == [Place("x.go", 1), Place("y.go", 2)]


def test_an_absolute_path_finds_its_file():
    paths = ["src/app.py", "tests/app.py", "src/lib/app.py"]

    assert best_paths(Place("/home/me/project/src/app.py", 1), paths) == ["src/app.py"]
    assert best_paths(Place("app.py", 1), paths) == sorted(paths)
    assert best_paths(Place("/usr/lib/python3/flask/app.py", 1), paths) == []
