"""List the files of a code base: what git lists, or what it would where it cannot be asked."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from askcode.records import Skipped
from askcode.walking import repository_top, walk

# A hook's variables point at another repository; messages are read in English; a
# file-system monitor is a command that the repository's own settings would choose.
_GIT = (
    "env", "-u", "GIT_DIR", "-u", "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "-u", "GIT_PREFIX",
    "-u", "GIT_COMMON_DIR", "-u", "GIT_OBJECT_DIRECTORY", "LC_ALL=C",
    "git", "--no-optional-locks", "-c", "core.fsmonitor=false",
)  # fmt: skip
_LIST = ("ls-files", "-co", "--exclude-standard", "-z")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Every path that git's rules leave: a folder's path ends with a slash."""

    paths: tuple[bytes, ...]
    unreadable: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()


def list_candidates(root: Path) -> Candidates:
    """Ask git for the files below a root, or walk when it does not answer."""
    answer = _ask(root, *_LIST)
    if answer is None:
        return _walked(root, "git is not installed" if repository_top(root) else "")
    if answer.returncode:
        return _walked(root, _why_no_answer(answer.stderr.decode("utf-8", "replace"), root))
    paths = tuple(dict.fromkeys(path for path in answer.stdout.split(b"\0") if path))
    if not paths and _is_ignored(root):
        return _walked(root, "the repository around it ignores this folder")
    return Candidates(paths, warnings=_complaints(answer.stderr))


def _ask(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    """Run git in a folder; None when there is no git."""
    try:
        answer = subprocess.run([*_GIT, *arguments], cwd=root, capture_output=True, check=False)
    except OSError:
        return None
    return None if answer.returncode in (126, 127) else answer


def _is_ignored(root: Path) -> bool:
    answer = _ask(root, "check-ignore", "-q", ".")
    return answer is not None and answer.returncode == 0


def _complaints(stderr: bytes) -> tuple[str, ...]:
    """Return what git could not read while it listed."""
    return tuple(f"git: {line}" for line in stderr.decode("utf-8", "replace").splitlines() if line)


def _why_no_answer(message: str, root: Path) -> str:
    """Return what to tell the user, nothing when the root is simply no repository."""
    if "dubious ownership" in message or "unsafe repository" in message:
        return (
            "git refuses the repository because another user owns it; "
            f"to trust it: git config --global --add safe.directory {root.resolve()}"
        )
    if "not a git repository" in message and not repository_top(root):
        return ""
    if "must be run in a work tree" in message:
        return ""
    return message.strip().partition("\n")[0].removeprefix("fatal: ")


def _walked(root: Path, why: str) -> Candidates:
    walked = walk(root, excludes_file=_excludes_file(root))
    warnings = walked.warnings
    if why:
        warnings = (f"listed files without git: {why}", *warnings)
    return Candidates(walked.paths, walked.unreadable, warnings)


def _excludes_file(root: Path) -> Path | None:
    """Return the user's own ignore file as git knows it, None when there is no answer."""
    answer = _ask(root, "config", "--path", "--get", "core.excludesFile")
    if answer is None or answer.returncode:
        return None
    return root / os.fsdecode(answer.stdout.removesuffix(b"\n"))
