"""Hold a run to what it may spend."""

from __future__ import annotations

from dataclasses import dataclass, field

from askcode.errors import BudgetSpent
from askcode.records import Usage


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend; None means no limit."""

    max_calls: int | None = None
    max_tokens: int | None = None
    spent: Usage = field(default_factory=Usage)
    """What earlier parts of the same run took of it."""


class Spending:
    """What a run has spent and promised, against its budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._usage = budget.spent
        self._promised = Usage()

    def take(self, expected: Usage) -> BudgetSpent | None:
        """Promise a call, or say which limit forbids it."""
        after = self._usage + self._promised + expected
        tokens = after.input_tokens + after.output_tokens
        for name, limit, amount in (
            ("--max-calls", self._budget.max_calls, after.calls),
            ("--max-tokens", self._budget.max_tokens, tokens),
        ):
            if limit is not None and amount > limit:
                return BudgetSpent(
                    f"stopped at {name} {limit}", hint="what is done is kept; run again to go on"
                )
        self._promised += expected
        return None

    def settle(self, expected: Usage, real: Usage) -> None:
        """Put what a call took in place of what was promised for it."""
        self._promised += Usage(-expected.calls, -expected.input_tokens, -expected.output_tokens)
        self._usage += real
