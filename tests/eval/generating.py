"""Generate source trees and chunks of any size: different everywhere, the same on every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

_STARTS = "ba be co da du fa fo ga gu ha jo ka ki la lo ma mo na pa pe ra ro sa su ta ti vo we za"
_ENDS = "ck der dle fer gle ker len mer ndle nter per que rate rse ster ter tor ver xer zen"
WORDS = tuple(
    f"{start}{middle}{end}"
    for start in _STARTS.split()
    for middle in ("", "l", "na", "ri", "su")
    for end in _ENDS.split()
)
WORDS_PER_FILE = 12
LINES_PER_FUNCTION = 10


def file_text(number: int, functions: int) -> str:
    """Return the text of a Python file with functions of ten lines about a few words."""
    chance = random.Random(number)
    own = chance.sample(WORDS, WORDS_PER_FILE)
    return "\n\n".join(_function(chance, own) for _ in range(functions)) + "\n"


def file_path(number: int) -> str:
    """Return where the file of a number lies."""
    chance = random.Random(number)
    first, second = chance.sample(WORDS, 2)
    return f"src/{first}/{second}_{number}.py"


def write_tree(root: Path, *, lines: int, functions: int = 25) -> int:
    """Write files of that many lines in all; return how many files."""
    each = functions * (LINES_PER_FUNCTION + 2)
    count = max(1, lines // each)
    for number in range(count):
        path = root / file_path(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file_text(number, functions), "utf-8")
    return count


def questions(count: int, *, files: int) -> Iterator[str]:
    """Yield questions, each in words of one file."""
    chance = random.Random(0)
    for _ in range(count):
        number = chance.randrange(files)
        own = random.Random(number).sample(WORDS, WORDS_PER_FILE)
        yield f"how does the {' '.join(chance.sample(own, 3))} work"


def _function(chance: random.Random, own: list[str]) -> str:
    name, thing, *others = chance.sample(own, 6)
    far = chance.choice(WORDS)
    return f'''def {name}_{thing}({others[0]}, {others[1]}=None):
    """Make the {thing} of {others[0]} {name}, unless {others[2]} says otherwise."""
    if {others[1]} is None:
        {others[1]} = {far}_{others[2]}({others[0]}, limit={chance.randrange(1000)})
    found = []
    for {others[3]} in {others[1]}.{thing}s():
        if {others[3]}.{name} > {chance.randrange(1000)}:
            found.append({others[3]}.{others[2]})
    log.debug("{name} %s {far}", len(found))
    return {far.title()}{thing.title()}(found)'''
