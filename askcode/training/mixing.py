"""Turn pairs into what the model reads: texts as people ask, and parts of what is embedded."""

from __future__ import annotations

import random
import re

from askcode.definition_nodes import words
from askcode.representing import PIECE_LINES, path_words
from askcode.training.mining import spoken_name
from askcode.training.pairs import CHANGE, DOC, NAME, Pair

# Question words get small vectors by standing in front of everything.
_OPENERS = (
    "how does it {base}", "how is it done: {base}", "where do we {base}",
    "where is the code to {base}",
    "which function {s}", "what {s}", "code that {s}", "how to {base}", "find where it {s}",
    "where is {rest} handled", "how is {rest} implemented", "what is responsible for {rest}",
    "why does it {base}", "explain how {rest} works", "where can I find {rest}", "show me {rest}",
)  # fmt: skip
_PLAIN_OPENERS = (
    "how does {} work", "where is {} defined", "what is {}", "where is {}", "how is {} implemented",
    "which part deals with {}", "explain {}", "find {}", "code for {}", "what does {} do",
)  # fmt: skip
_CHANGES = ("fix {}", "add {}", "support {}", "improve {}", "{}", "{}", "handle {}", "make {}")
_NOT_VERBS = words(
    "this is has was does always its class process access address status alias bus canvas"
)

OPENED = 0.5
REST_OF_CLASS = 0.2
PATH_PARTS = 3


def asked_text(pair: Pair, chance: random.Random) -> str:
    """Return the words of a pair, half of the time as a question or a change."""
    text = _without_own_name(pair) if chance.random() < 0.7 else pair.text
    if pair.kind in (DOC, CHANGE) and chance.random() < REST_OF_CLASS and "." in pair.name:
        owner = spoken_name(re.split(r"[.:#]+", pair.name)[-2]) or ""
        text = f"{text} {owner}".strip()
    if chance.random() >= OPENED:
        return text
    if pair.kind == NAME:
        form = chance.choice(_PLAIN_OPENERS if chance.random() < 0.6 else _CHANGES)
        return form.format(text)
    return _as_question(text.rstrip("."), chance)


def near_path(pair: Pair) -> str:
    """Return the words of the last components of a pair's path."""
    return path_words("/".join(pair.path.split("/")[-PATH_PARTS:]))


def piece_of(code: str, chance: random.Random) -> str:
    """Return some lines of a code, as many as askcode's pieces have; "" when it has no more."""
    lines = code.split("\n")
    if len(lines) <= PIECE_LINES:
        return ""
    first = chance.randrange(0, len(lines) - PIECE_LINES // 2, PIECE_LINES // 2)
    return "\n".join(lines[first : first + PIECE_LINES])


def _without_own_name(pair: Pair) -> str:
    """Drop the name that docs of some languages begin with: `Open opens a file`."""
    first, _, rest = pair.text.partition(" ")
    own = re.split(r"[.:#]+", pair.name)[-1]
    return rest if own and first == own and rest.count(" ") > 1 else pair.text


def _as_question(text: str, chance: random.Random) -> str:
    first, _, rest = text.partition(" ")
    verb = first.lower()
    if not rest or not verb.isalpha():
        return chance.choice(_PLAIN_OPENERS).format(text)
    base = _base_form(verb)
    if not base:
        return chance.choice(_PLAIN_OPENERS).format(text)
    form = chance.choice(_OPENERS)
    return form.format(base=f"{base} {rest}", s=f"{base}s {rest}", rest=rest)


def _base_form(verb: str) -> str:
    """Return the base of a verb in the third person or the imperative, "" for other words."""
    if verb in _NOT_VERBS or len(verb) < 3:
        return ""
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if re.search(r"(?:ss|sh|ch|x|z)es$", verb):
        return verb[:-2]
    if verb.endswith("s") and not verb.endswith(("ss", "us")):
        return verb[:-1]
    return verb if verb in _IMPERATIVES else ""


_IMPERATIVES = words(
    """add allow append apply attach build calculate call cancel check clear close collect compare
    compile compute configure connect construct convert copy count create decode define delete
    determine disable display download emit enable encode ensure execute expand extract fetch fill
    filter find flush format generate get handle hash ignore import increment initialize insert
    install invoke join list load lock log look make map mark match merge move normalize notify open
    parse perform pop prepare print process produce provide publish push query raise read receive
    register release remove rename render replace report request reset resolve restore retrieve
    return run save scan schedule search select send serialize set show shut skip sort split start
    stop store strip subscribe synchronize test throw toggle trigger try unlock update upload use
    validate verify wait walk wrap write yield"""
)
