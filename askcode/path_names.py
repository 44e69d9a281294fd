"""Tell the names of files from other words with a dot in them."""

from __future__ import annotations

import re

_SUFFIX = re.compile(r".\.([A-Za-z][A-Za-z0-9_+-]{0,15})\Z")
_BARE_NAMES = re.compile(
    r"(?:gnu)?makefile|dockerfile|containerfile|jenkinsfile|rakefile|gemfile|procfile|justfile"
    r"|vagrantfile|brewfile|license|copying|readme|changelog|authors|build|workspace",
    re.IGNORECASE,
)
# For a name without a folder, which could as well be a host or an attribute: `app.dev:80`.
_SUFFIXES = re.compile(
    r"py[ix]?|ipynb|[mc]?[jt]s|[jt]sx|vue|svelte|astro|go|rs|java|kts?|scala|groovy|gradle|[chmdrvs]"
    r"|cc|[ch]pp|[ch]xx|hh|inl|mm|swift|csx?|fsx?|vb|rb|erb|rake|php|phtml|p[lm]|lua|jl|exs?|[eh]rl"
    r"|l?hs|mli?|clj[sc]?|edn|elm|dart|zig|nim|(?:ba|z|fi)?sh|ps1|bat|cmd|sql|graphql|gql|proto"
    r"|thrift|x?html?|xml|s?css|sass|less|json[c5l]?|ya?ml|toml|ini|cfg|conf|env|properties|mdx?|rst"
    r"|txt|adoc|tex|[ct]sv|lock|mod|sum|tf|hcl|nix|cmake|mk|bzl|bazel|j2|jinja|te?mpl|hbs|ejs|pug"
    r"|sol|svh?|vhdl?|asm|f(?:90|95)?|cob|ad[abs]|pas|lisp|el|scm|rkt|vim|diff|patch|log|po|plist"
    r"|xaml|csproj|sln",
    re.IGNORECASE,
)


def looks_like_path(path: str) -> bool:
    """Return whether a word has the form of a path or of a file's name."""
    folders, _, name = path.replace("\\", "/").rpartition("/")
    suffix = _SUFFIX.search(name)
    if _BARE_NAMES.fullmatch(name):
        return True
    if suffix is None:
        return False
    return bool(folders.strip("./")) or _SUFFIXES.fullmatch(suffix[1]) is not None
