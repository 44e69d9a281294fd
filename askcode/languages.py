"""Name the language of a file by its suffix, its name or its first line."""

from __future__ import annotations

import re

# Suffixes without the dot, lower-case. The languages that have a grammar come first.
_SUFFIXES = {
    "bash": "sh bash bats ksh zsh ebuild eclass",
    # C reads more headers than C++ does: its grammar is the stricter one about neither.
    "c": "c h",
    "c_sharp": "cs csx",
    "commonlisp": "lisp lsp cl asd",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp inl tpp txx cu cuh ino cppm ixx",
    "css": "css",
    "dockerfile": "dockerfile containerfile",
    "dot": "dot gv",
    "elisp": "el",
    "elixir": "ex exs",
    "elm": "elm",
    "embedded_template": "erb ejs",
    "erlang": "erl hrl escript",
    "fixed_form_fortran": "f for ftn f77",
    "fortran": "f90 f95 f03 f08 f18",
    "go": "go",
    "gomod": "go.mod",
    "hack": "hack hh.php",
    "haskell": "hs lhs",
    "hcl": "hcl tf tfvars nomad",
    "html": "html htm xhtml",
    "java": "java",
    "javascript": "js mjs cjs jsx es6",
    "json": "json jsonc json5 geojson webmanifest",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "make": "mk mak make",
    "objc": "m mm",
    "ocaml": "ml",
    "ocaml_interface": "mli",
    "perl": "pl pm t pod",
    "php": "php phtml php3 php4 php5",
    "python": "py pyi pyw pyx pxd bzl",
    "ql": "ql qll",
    "r": "r",
    "rst": "rst",
    "ruby": "rb rake gemspec ru rbi podspec",
    "rust": "rs",
    "scala": "scala sc sbt",
    "sql": "sql ddl dml pgsql",
    "sqlite": "sqlite.sql",
    "toml": "toml",
    "tsq": "scm",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "yaml": "yaml yml",
    # In one of the two bundles only, or in none: chunked by lines where there is no grammar.
    "actionscript": "as",
    "ada": "adb ads",
    "asciidoc": "adoc asciidoc",
    "assembly": "s asm",
    "astro": "astro",
    "batch": "bat cmd",
    "bibtex": "bib",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cobol": "cob cbl",
    "coffeescript": "coffee",
    "crystal": "cr",
    "csv": "csv tsv",
    "d": "d",
    "dart": "dart",
    "fish": "fish",
    "fsharp": "fs fsx fsi",
    "gdscript": "gd",
    "gleam": "gleam",
    "glsl": "glsl vert frag",
    "graphql": "graphql gql",
    "groovy": "groovy gradle",
    "ini": "ini cfg conf",
    "jinja": "j2 jinja jinja2",
    "latex": "tex sty cls",
    "less": "less",
    "luau": "luau",
    "markdown": "md markdown mdx mdown mkd qmd rmd",
    "matlab": "mat matlab",
    "nim": "nim nims",
    "nix": "nix",
    "notebook": "ipynb",
    "odin": "odin",
    "org": "org",
    "pascal": "pas pp dpr",
    "powershell": "ps1 psm1 psd1",
    "prisma": "prisma",
    "properties": "properties",
    "proto": "proto",
    "puppet": "epp",
    "purescript": "purs",
    "racket": "rkt",
    "rego": "rego",
    "sass": "sass",
    "scheme": "ss sld sls",
    "scss": "scss",
    "solidity": "sol",
    "starlark": "star",
    "svelte": "svelte",
    "swift": "swift",
    "tcl": "tcl",
    "text": "txt text",
    "thrift": "thrift",
    "typst": "typ",
    "v": "v",
    "verilog": "sv svh vh",
    "vhdl": "vhd vhdl",
    "vim": "vim",
    "vue": "vue",
    "wgsl": "wgsl",
    "xml": "xml xsd xsl xslt svg plist csproj fsproj vbproj props targets",
    "zig": "zig zon",
}

# Whole names, lower-case.
_NAMES = {
    "bash": ".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .envrc pkgbuild",
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "gomod": "go.mod",
    "groovy": "jenkinsfile",
    "ini": ".editorconfig .gitconfig .npmrc .flake8 .pylintrc pip.conf",
    "javascript": "jakefile",
    "json": ".babelrc .eslintrc .prettierrc .jshintrc",
    "make": "makefile gnumakefile bsdmakefile kbuild",
    "markdown": "readme changelog contributing",
    "python": "sconstruct sconscript wscript snakefile build.bazel workspace.bazel",
    "ruby": "rakefile gemfile guardfile vagrantfile capfile podfile fastfile brewfile",
    "toml": "pipfile cargo.lock poetry.lock uv.lock",
    "vim": ".vimrc",
    "yaml": ".clang-format .clang-tidy .yamllint",
}

# Interpreters as a shebang names them, their version left out.
_INTERPRETERS = {
    "bash": "sh bash dash ash ksh zsh",
    "commonlisp": "sbcl clisp",
    "elixir": "elixir",
    "erlang": "escript",
    "fish": "fish",
    "groovy": "groovy",
    "haskell": "runhaskell runghc stack",
    "javascript": "node nodejs bun qjs",
    "julia": "julia",
    "kotlin": "kotlin",
    "lua": "lua luajit",
    "make": "make",
    "ocaml": "ocaml",
    "perl": "perl",
    "php": "php",
    "powershell": "pwsh",
    "python": "python pypy uv",
    "r": "rscript r",
    "ruby": "ruby jruby",
    "rust": "rust-script",
    "scala": "scala scala-cli amm",
    "tcl": "tclsh wish expect",
    "typescript": "deno ts-node tsx",
}


def _by_word(table: dict[str, str]) -> dict[str, str]:
    return {word: language for language, words in table.items() for word in words.split()}


_BY_SUFFIX = _by_word(_SUFFIXES)
_BY_NAME = _by_word(_NAMES)
_BY_INTERPRETER = _by_word(_INTERPRETERS)

LANGUAGES = frozenset(_SUFFIXES)
"""Every name that `language_of` gives."""

# Suffixes that say what a file is for, not what it holds: `config.yaml.example`.
_WRAPPERS = frozenset(
    {"example", "sample", "template", "tmpl", "tpl", "in", "dist", "default", "orig", "bak"}
)

_MODELINE = re.compile(r"-\*-\s*(?:.*mode:\s*)?([\w+#-]+)\s*(?:;.*)?-\*-")
_MODES = {"c++": "cpp", "python": "python", "ruby": "ruby", "perl": "perl", "sh": "bash"}


def language_of(path: str, first_line: str = "") -> str | None:
    """Return the language's name, or None when neither name nor first line tells it.

    `src/Main.java` is java, `Dockerfile.dev` is dockerfile, `run` that begins with
    `#!/usr/bin/env -S python3.11 -u` is python.
    """
    name = path.rsplit("/", 1)[-1].lower()
    parts = name.split(".")
    while len(parts) > 2 and parts[-1] in _WRAPPERS:
        parts.pop()
    name = ".".join(parts)
    return (
        _BY_NAME.get(name)
        or _by_suffix(parts, first_line)
        or _of_shebang(first_line)
        or _BY_NAME.get(parts[0])
    )


def _by_suffix(parts: list[str], first_line: str) -> str | None:
    for place in range(1, len(parts)):  # the longest suffix first
        language = _BY_SUFFIX.get(".".join(parts[place:]))
        if language == "c" and _mode_of(first_line) == "cpp":
            return "cpp"
        if language is not None:
            return language
    return None


def _mode_of(first_line: str) -> str | None:
    found = _MODELINE.search(first_line[:200])
    return _MODES.get(found[1].lower()) if found else None


def _of_shebang(first_line: str) -> str | None:
    if not first_line.startswith("#!"):
        return None
    for word in first_line[2:].split():
        program = word.rsplit("/", 1)[-1].lower()
        if program == "env" or word.startswith("-") or "=" in word:
            continue
        return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(program.rstrip("0123456789.-"))
    return None
