"""Read what the language model replied: strict about content, tolerant of form.

Only the reply is read here, never the source it speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from askcode.cleaning_replies import (
    CLOSING,
    CUT_REASONS,
    folded,
    is_nothing,
    plain,
    prepared,
    shortened,
)
from askcode.parsing_json import RawPair, json_pairs
from askcode.records import QuestionAnswer, Reply

# a question is searched and shown in one line, an answer is "one or two sentences"
MAX_QUESTION_CHARS = 300
MAX_ANSWER_CHARS = 1_000


_LABEL = re.compile(
    r"^(?P<lead>[\s>#*_`•+\-]{0,20}(?:\(?\d+[.)]\s*)?[*_`]{0,6})"
    r"(?:(?P<word>question|answer|ans|q|a)\s*[#.]?\s*(?P<number>\d*)\s*(?:\([^)]{0,40}\))?[*_`\s]*[:：]"
    r"|(?P<word2>question|answer|ans|q|a)\s*#?\d+[*_`\s]*(?:[.)]|[-–—]\s|$)"
    r"|(?P<word3>question|answer)[*_`\s]*$)"
    r"\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
# "Q1: ...? A1: ..." on one line
_INLINE_ANSWER = re.compile(
    r"(?:(?<=[?.!\"'])|(?<=\*\*))(?<!\d\.)[ ]+(?=[*_(]*(?:A|Answer|ANSWER) ?\d*[*_]*[:：])"
)
_INLINE_QUESTION = re.compile(
    r"(?:(?<=[\w?.!\"'`)])|(?<=\*\*))(?<!\d\.)[ ]+(?=[*_(]*(?:Q|Question|QUESTION) ?\d+[*_]*[:：])"
)
_MARKERS = re.compile(r"^[\s>#•+*\-]*(?:\(?\d+[.)])?\s*[*_]*\s*")
_PIECE = re.compile(
    r"^\s*(?:"
    r"(?:#{1,6}|\*\*|={2,}|-{2,}|\[|>)[\s*\[]*(?:piece|chunk|part|section|excerpt)\s*#?(?P<a>\d+)\b.*"
    r"|(?:piece|chunk|part|section|excerpt)\s*#?(?P<b>\d+)\s*(?:[.)\]=*-]*\s*|:.{0,80})"
    r")$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]*_`]*$")


def parse_pairs(reply: Reply, *, count: int) -> tuple[QuestionAnswer, ...]:
    """Return up to `count` question-answer pairs; none when the reply is unusable.

    `Q1:`/`A1:` lines are what is asked for. Fences, bold, numbers, bullets, prose around,
    JSON and tags are understood as well. Entries without text, repeated ones and the last
    one of a reply that was cut inside it are left out.
    """
    return _pairs(prepared(reply.text), count=count, is_cut=reply.finish_reason in CUT_REASONS)


def parse_pieces(reply: Reply, *, pieces: int, count: int) -> list[tuple[QuestionAnswer, ...]]:
    """Return the pairs of each piece of a prompt about several, empty where none are usable."""
    sections: dict[int, list[str]] = {}
    current = 0
    for line in prepared(reply.text).split("\n"):
        match = _PIECE.match(line)
        if match:
            current = int((match.group("a") or match.group("b"))[:6])
            # a second section of the same number would mix up two pieces: the first one counts
            current = 0 if current in sections else current
        sections.setdefault(current, []).append("" if match else line)
    is_cut = reply.finish_reason in CUT_REASONS
    return [
        _pairs("\n".join(sections.get(n, [])), count=count, is_cut=is_cut and n == current)
        for n in range(1, pieces + 1)
    ]


def _pairs(text: str, *, count: int, is_cut: bool) -> tuple[QuestionAnswer, ...]:
    raw = _labelled_pairs(text)
    if not any(_cleaned([pair]) for pair in raw):
        from_json = json_pairs(text)
        # whole JSON values are complete, however the reply ended
        is_cut = is_cut and not from_json
        raw = from_json or _pairs_by_question_mark(text)
    if is_cut and raw and not _SENTENCE_END.search(raw[-1].answer.rstrip()):
        raw = raw[:-1]
    return tuple(_cleaned(raw)[:count])


def _cleaned(raw: Iterable[RawPair]) -> list[QuestionAnswer]:
    pairs: dict[str, QuestionAnswer] = {}
    for pair in raw:
        question, answer = plain(pair.question), plain(pair.answer)
        if is_nothing(question) or is_nothing(answer):
            continue
        if not re.search(r"[^\W\d_]", question):
            continue
        short = QuestionAnswer(
            shortened(question, MAX_QUESTION_CHARS), shortened(answer, MAX_ANSWER_CHARS)
        )
        pairs.setdefault(folded(question), short)
    return list(pairs.values())


def _labelled_pairs(text: str) -> list[RawPair]:
    collected = _Collected()
    for line in _INLINE_QUESTION.sub("\n", _INLINE_ANSWER.sub("\n", text)).split("\n"):
        match = _LABEL.match(line)
        if not match:
            collected.add_line(line)
            continue
        word = match.group("word") or match.group("word2") or match.group("word3")
        rest = _after_label(match.group("lead"), match.group("rest"))
        if word[0] in "qQ":
            collected.open_question(rest)
        else:
            collected.open_answer(rest)
    return collected.pairs()


class _Collected:
    """Questions and answers as the lines of a reply come in."""

    def __init__(self) -> None:
        self._questions: list[list[str]] = []
        self._answers: list[list[str]] = []
        self._loose = ""
        self._is_ended = False

    def open_question(self, text: str) -> None:
        self._questions.append([text])
        self._answers.append([])
        self._is_ended = False

    def open_answer(self, text: str) -> None:
        """Begin the answer, to the last loose line where no labelled question is open."""
        if not self._questions or self._answers[-1]:
            if not self._loose:
                return
            self._give_up_loose_line()
            self.open_question(self._loose)
        self._answers[-1].append(text)
        self._is_ended = False

    def add_line(self, line: str) -> None:
        """Continue what is open: an answer ends at a blank line or a closing remark."""
        if not line.strip():
            self._is_ended = bool(self._answers) and _is_complete(self._answers[-1])
            return
        is_open = bool(self._questions) and not self._is_ended
        self._loose = _MARKERS.sub("", line).strip() if line.rstrip(" *_").endswith("?") else ""
        if not is_open or CLOSING.match(line):
            self._is_ended = True
        elif self._answers[-1] or _ends_asking(self._questions[-1]):
            self._answers[-1].append(line.strip())
        else:
            self._questions[-1].append(line.strip())

    def pairs(self) -> list[RawPair]:
        together = zip(self._questions, self._answers, strict=True)
        return [RawPair(" ".join(q), " ".join(a)) for q, a in together]

    def _give_up_loose_line(self) -> None:
        # the line was taken for the end of the answer before; it is the next question
        if self._answers and len(self._answers[-1]) > 1:
            last = self._answers[-1][-1]
            if _MARKERS.sub("", last).strip() == self._loose:
                self._answers[-1].pop()


def _is_complete(answer: list[str]) -> bool:
    text = " ".join(answer).rstrip()
    return bool(text) and not text.endswith(":")


def _ends_asking(question: list[str]) -> bool:
    return question[-1].rstrip(" *_\"'").endswith("?")


def _pairs_by_question_mark(text: str) -> list[RawPair]:
    """Take each line that ends in a question mark with the lines below it."""
    collected = _Collected()
    for line in text.split("\n"):
        stripped = line.strip().rstrip("*_ ")
        if stripped.endswith("?"):
            collected.open_question(_MARKERS.sub("", stripped))
        else:
            collected.add_line(_MARKERS.sub("", line))
    return collected.pairs()


def _after_label(lead: str, rest: str) -> str:
    """Return the text after a label, without the other half of the label's own emphasis."""
    if "*" in lead or "_" in lead:
        rest = re.sub(r"^(?:\*+|__)\s*|\s*(?:\*+|__)$", "", rest)
    return rest.strip()
