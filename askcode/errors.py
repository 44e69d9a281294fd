"""The errors askcode raises on purpose, each with an exit code and a hint.

AskcodeError                    1   internal, output or disk
├── UsageError                  2   wrong use or configuration
│   └── StepError               2   an own step cannot be loaded, or fails
├── IndexUnusable               3   no index, or one that cannot be used
│   ├── IndexMissing            3
│   ├── IndexEmpty              3
│   ├── IndexDamaged            3
│   └── IndexMismatch           3   other model, schema, chunking or prompts
├── StorageUnavailable          1   object storage cannot be reached, or refuses
├── ModelUnavailable            4   the LLM or the embedding model cannot be used
│   ├── LanguageModelError      4   and its three classes, by what to do next:
│   │   ├── TransientError      4   trying again later may work
│   │   ├── ChunkError          4   this request can never work, others may
│   │   │   └── ContextTooLong  4   a shorter request may work
│   │   └── RunError            4   no request of this run can work
│   └── EmbedderError           4
├── IndexIncomplete             5   finished, with chunks to be tried again
│   └── BudgetSpent             5   stopped by --max-calls or --max-tokens
├── IndexLocked                 6   another run holds the index
├── CheckFailed                 7   --strict or --check said no
└── Interrupted             130/143 a signal stopped the run
"""

from __future__ import annotations


class AskcodeError(Exception):
    """Say what went wrong in one line, and in a second one what to do next."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(AskcodeError):
    """Report a wrong option, path, question or setting."""

    exit_code = 2


class StepError(UsageError):
    """Report a step of an installed package that cannot be loaded, or fails."""


class IndexUnusable(AskcodeError):
    """Report that there is no index to search."""

    exit_code = 3


class IndexMissing(IndexUnusable):
    """Report that no index was made here."""


class IndexEmpty(IndexUnusable):
    """Report an index without a single chunk."""


class IndexDamaged(IndexUnusable):
    """Report an index whose files are incomplete or unreadable."""


class IndexMismatch(IndexUnusable):
    """Report an index made with another model, schema, chunking or prompts."""


class StorageUnavailable(AskcodeError):
    """Report object storage that cannot be reached, or refuses."""


class ModelUnavailable(AskcodeError):
    """Report a language or embedding model that cannot be used."""

    exit_code = 4


class LanguageModelError(ModelUnavailable):
    """Report a failed call to the language model."""


class TransientError(LanguageModelError):
    """Report a failure that may pass: network, timeout, rate limit, 5xx."""


class ChunkError(LanguageModelError):
    """Report a request that fails for what it contains: refused or unusable reply."""


class ContextTooLong(ChunkError):
    """Report a request longer than the model's window."""


class RunError(LanguageModelError):
    """Report what every call of this run would meet: key, quota, URL, model name."""


class EmbedderError(ModelUnavailable):
    """Report an embedding model that is missing, damaged or unreachable."""


class IndexIncomplete(AskcodeError):
    """Report a finished run with chunks or files that the next run tries again."""

    exit_code = 5


class BudgetSpent(IndexIncomplete):
    """Report that the run reached its limit of calls or tokens."""


class IndexLocked(AskcodeError):
    """Report that another run writes to this index."""

    exit_code = 6


class CheckFailed(AskcodeError):
    """Report that a check asked for by --strict or --check does not hold."""

    exit_code = 7


class Interrupted(AskcodeError):
    """Report a run stopped by a signal: 130 for SIGINT, 143 for SIGTERM."""

    def __init__(self, message: str, *, exit_code: int = 130, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code
