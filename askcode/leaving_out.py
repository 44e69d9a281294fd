"""Say by its name alone why a file is left out: secret, vendored, lock file, generated.

Conventions, not proofs: `--include` brings back everything here but secrets.
"""

from __future__ import annotations

import re

# Folders whose files nobody of the project wrote. A folder named like this with the
# project's own code is the exception, and `--include` or .gitattributes say so.
_VENDOR_FOLDERS = frozenset({
    "node_modules", "bower_components", "jspm_packages", "vendor", "_vendor", "third_party",
    "third-party", "thirdparty", "3rdparty", "3rd_party", "3rd-party", "site-packages",
    "dist-packages", "pods", "carthage", "godeps", ".venv", ".virtualenv",
    ".bundle", ".yarn", "elm-stuff", "wp-includes", "wp-admin",
})  # fmt: skip

# Folders that tools keep their state in; outside git nothing else hides them.
_TOOL_FOLDERS = frozenset({
    ".hg", ".svn", ".bzr", ".jj", "cvs", "_darcs", "__pycache__", ".tox", ".nox", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints", ".eggs", ".gradle",
    ".terraform", ".next", ".nuxt", ".svelte-kit", ".parcel-cache", ".turbo", ".dart_tool",
    ".direnv", ".sass-cache", ".nyc_output", "deriveddata", ".stack-work", ".ccls-cache",
})  # fmt: skip

_LOCK_NAMES = frozenset({
    "npm-shrinkwrap.json", "go.sum", "go.work.sum", "gems.locked", "package.resolved",
    "cartfile.resolved", "packages.lock.json", "project.assets.json", "bun.lockb",
    ".terraform.lock.hcl", "lake-manifest.json", "dub.selections.json", "maven_install.json",
    "cabal.project.freeze", "gradle.lockfile", "buildscript-gradle.lockfile", ".pnp.cjs",
    ".pnp.loader.mjs", "bazel.lock", "manifest.lock",
})  # fmt: skip
_LOCK_ENDINGS = (".lock", "-lock.json", "-lock.yaml", "-lock.yml", ".lock.json", ".lock.yaml")

_GENERATED = re.compile(
    r"""
    .*\.pb\.(go|gw\.go|validate\.go|cc|h|c|rb|dart|swift) | .*\.pbobjc\.[hm]
    | .*_pb2(_grpc)?\.pyi? | .*_(grpc_)?pb\.(js|ts|d\.ts|rb)
    | .*\.(g|freezed|mocks)\.dart | .*\.(g|g\.i|designer|feature)\.(cs|vb)
    | .*\.generated\.\w+ | .*\.gen\.(go|tsx?|js|py|rs) | .*_generated\.(go|h|rs|py|ts|cs|hpp|hh)
    | zz_generated.*\.go | bindata\.go | (temporary)?generatedfile_.*\.cs
    | moc_.*\.cpp | .*\.tab\.[ch] | lex\.yy\.c | parsetab\.py | .*\.pbxproj | .*\.snap
    """,
    re.VERBOSE,
)
_MINIFIED = re.compile(r".*[.-]min\.(js|mjs|cjs|css|html|json|svg)|.*\.(js|mjs|cjs|css|ts)\.map")

_KEY_ENDINGS = (
    ".pem", ".key", ".p12", ".pfx", ".p8", ".pkcs12", ".jks", ".keystore", ".bks", ".kdb",
    ".kdbx", ".ppk", ".ovpn", ".agekey", ".tfstate", ".tfstate.backup", ".tfvars",
    ".tfvars.json", ".kubeconfig", ".keytab", ".dockerconfigjson", ".snk", ".htpasswd",
    ".netrc", ".npmrc", ".pypirc", ".gpg", ".psafe3",
)  # fmt: skip
_SECRET_NAMES = frozenset({
    "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".git-credentials",
    ".gitcookies", ".dockercfg", ".boto", ".s3cfg", ".vault-token", ".vault_pass",
    ".vault_pass.txt", ".passwd-s3fs", "kubeconfig", ".terraformrc", "terraform.rc",
    "local.settings.json", "application_default_credentials.json", ".rediscli_auth", "htpasswd",
    "shadow", ".secret", ".secrets", "secring", ".envrc", ".rclone.conf", "rclone.conf",
    ".yarnrc-auth", ".gem_credentials", "master.key", ".pgp", ".openai_api_key", ".token",
    ".authinfo", ".authinfo.gpg",
})  # fmt: skip
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".password-store", ".secrets"})
_SECRET_ENDS = (
    ".docker/config.json",
    ".kube/config",
    ".config/gh/hosts.yml",
    ".composer/auth.json",
)

# Words that files of secrets are named with when they are no code: `app-secrets.prod.json`
# is one, `reset_password_policy.yml` speaks of something else.
_VARIANT = (
    r"(?:[._-]?(?:prod|production|dev|development|staging|stage|test|testing|qa|uat|local|backup|"
    r"old|new|copy|keys?|file|encrypted|decrypted|v?\d+))*(?:\.[^._-]+)*"
)
_SECRET_STEM = re.compile(
    rf"""
    [._]?credentials?(?:[._-].*|\d+)?
    | (?:client[_-]secrets?|service[_-]?account)(?:[._-].*|keys?.*|\d+)?
    | [._]?(?:[^._-]+[._-]){{0,2}}
      (?:credentials|creds|secrets|passwords|passwd|apikeys|(?:api|private|access)[_-]?keys){_VARIANT}
    | [._]?(?:[^._-]+[._-])?(?:credential|secret|password|(?:api|private|access)[_-]?key){_VARIANT}
    """,
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(r"id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?([._-].*)?|id_[^.]+")

# A template shows which variables there are; its values are made up.
_TEMPLATE_WORDS = frozenset({
    "example", "examples", "sample", "samples", "template", "tmpl", "tpl", "dist", "default",
    "defaults", "skeleton", "skel", "schema", "j2", "erb",
})  # fmt: skip
# What may follow that word.
_FORMATS = frozenset(
    {"json", "yml", "yaml", "toml", "ini", "env", "txt", "xml", "conf", "properties"}
)
_DATA_ENDINGS = frozenset({
    "json", "yml", "yaml", "toml", "ini", "cfg", "conf", "config", "properties", "env", "txt",
    "csv", "xml", "plist", "enc", "bak", "old", "orig", "local", "tsv", "dat", "db", "json5",
    "jsonc", "list", "asc", "age", "secret", "prod", "production", "dev", "staging", "backup",
    "save", "swp", "edn", "hcl", "log", "sops", "pub",
})  # fmt: skip


def reason_by_name(path: str) -> str | None:
    """Return why the default rules leave a path out, None when they do not."""
    lowered = path.lower()
    *folders, name = lowered.split("/")
    if not _VENDOR_FOLDERS.isdisjoint(folders):
        return "vendored"
    if not _TOOL_FOLDERS.isdisjoint(folders):
        return "tool folder"
    if name in _LOCK_NAMES or name.endswith(_LOCK_ENDINGS):
        return "lock file"
    if _MINIFIED.fullmatch(name):
        return "minified"
    if _GENERATED.fullmatch(name):
        return "generated"
    return None


def is_secret_name(path: str) -> bool:
    """Return whether a path names a file of keys, passwords or tokens."""
    lowered = path.lower()
    *folders, name = lowered.split("/")
    if not _SECRET_FOLDERS.isdisjoint(folders) or lowered.endswith(_SECRET_ENDS):
        return True
    if any(_is_environment(folder) for folder in folders):
        return True
    if name.endswith(_KEY_ENDINGS) or name in _SECRET_NAMES:
        return True
    if _PRIVATE_KEY.fullmatch(name):
        return not _is_code(name)
    if _is_environment(name):
        return True
    # a workflow that rotates secrets holds none
    is_named_so = _SECRET_STEM.fullmatch(name) and ".github" not in folders
    return bool(is_named_so and not _is_code(name) and not _is_template(name))


def _is_environment(name: str) -> bool:
    """Return whether a name is that of a file of environment variables."""
    return (name.startswith(".env") or name.endswith(".env")) and not _is_template(name)


def _is_template(name: str) -> bool:
    """Return whether a name ends, but for the format, in a word for a template.

    `.env.example`, `example.env` and `secrets.sample.yml` do, `.env.example.local` does not.
    """
    words = re.split(r"[._-]+", name)
    if len(words) > 1 and words[-1] in _FORMATS:
        words.pop()
    return words[-1] in _TEMPLATE_WORDS


def _is_code(name: str) -> bool:
    """Return whether a name has an ending, and not one that data have."""
    stem, _, ending = name.rpartition(".")
    return bool(stem) and ending not in _DATA_ENDINGS
