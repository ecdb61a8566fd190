"""Which entity does a request name? Forgiving about case, accents, punctuation, legal forms and slips of the pen."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

LEGAL_FORMS = frozenset(
    {
        *("ab", "ag", "as", "asa", "bv", "co", "company", "corp", "corporation", "gmbh", "group", "holding"),
        *("holdings", "inc", "incorporated", "kg", "limited", "llc", "llp", "ltd", "nv", "oy", "oyj", "plc", "pte"),
        *("pty", "sa", "sarl", "sas", "se", "sl", "spa", "srl"),
    }
)
ALIKE = 0.84  # of SequenceMatcher: two letters changed, dropped or swapped in a name of a dozen
WORDS_AT_MOST = 2_000  # of a request that are looked at
SLIP_WORDS, SLIP_ENTITIES = 200, 200  # slips are only looked for among so many
SHORTEST_WORD = 4  # a name's first word stands for it from this length on

_UNFOLDED = str.maketrans({"ø": "o", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "œ": "oe"})


def words(text: str) -> tuple[str, ...]:
    """A text's words without case, accents, punctuation and possessive s: ``("smorlund", "dairies")``."""
    folded = unicodedata.normalize("NFKD", text.casefold()).translate(_UNFOLDED)
    folded = "".join(c for c in folded if not unicodedata.combining(c))
    folded = re.sub(r"(?<=\w)['’`]s\b", "", folded)
    folded = re.sub(r"(?<=\b\w)\.(?=\w\b)", "", folded)  # S.A. and B.V.
    return tuple(re.findall(r"[^\W_]+", folded))


def named(request: str, entities: Sequence[str], *, numbered: bool = False) -> list[str]:
    """The entities that a request names, in the order given; [] when it names none.

    A name counts in full, without its legal form, and by its first word where no other entity has that; but not inside
    a longer name that is there ("Acme" in "Acme Nordic"). Where none is there, one with slips counts.

    Args:
        numbered: the entities were listed with numbers from 1 before, so that a number alone is an answer.
    """
    asked = words(request)[:WORDS_AT_MOST]
    if numbered and (number := _number(asked)) in range(1, len(entities) + 1):
        return [entities[number - 1]]
    spoken = {entity: words(entity) for entity in entities}
    firsts = Counter(name[:1] for name in spoken.values())
    keys = {entity: {name, _core(name)} | _first_word(name, firsts) for entity, name in spoken.items()}
    cores = {entity: _core(name) for entity, name in spoken.items()}
    return _there(asked, keys) or _with_slips(asked[:SLIP_WORDS], cores)


Words = tuple[str, ...]


def _number(asked: Words) -> int:
    """The number that is all a request says: "2", "no. 2"; 0 when it says something else."""
    alone = asked[1:] if asked[:1] in (("number",), ("no",), ("nr",)) else asked
    return int(alone[0]) if len(alone) == 1 and alone[0].isdecimal() and len(alone[0]) < 6 else 0


def _core(name: Words) -> Words:
    """The name without the legal forms at its end; all of it when nothing else is left."""
    end = len(name)
    while end > 1 and name[end - 1] in LEGAL_FORMS:
        end -= 1
    return name[:end]


def _first_word(name: Words, firsts: Mapping[Words, int]) -> set[Words]:
    first = name[:1]
    return {first} if first and len(first[0]) >= SHORTEST_WORD and firsts[first] == 1 else set()


def _there(asked: Words, keys: Mapping[str, set[Words]]) -> list[str]:
    """The entities that a key of theirs stands for in the request, outside every longer key's place."""
    places: dict[Words, list[int]] = {}
    for length in {len(key) for several in keys.values() for key in several if key}:
        for at in range(len(asked) - length + 1):
            places.setdefault(asked[at : at + length], []).append(at)
    spans = {
        entity: [(at, at + len(key)) for key in several for at in places.get(key, ())]
        for entity, several in keys.items()
    }
    longest: dict[int, int] = {}  # where the longest key ends that begins at a word
    for at, end in (span for found in spans.values() for span in found):
        longest[at] = max(longest.get(at, 0), end)
    reach, reached = [], 0  # where the keys end, at most, that begin before a word
    for at in range(len(asked)):
        reach.append(reached)
        reached = max(reached, longest.get(at, 0))
    return [
        entity for entity, found in spans.items() if any(longest[at] == end and reach[at] < end for at, end in found)
    ]


def _with_slips(asked: Words, keys: Mapping[str, Words]) -> list[str]:
    """The one entity that reads most like a run of the request's words; [] when two are equally alike."""
    scores: dict[str, float] = {}
    if len(keys) > SLIP_ENTITIES:
        return []
    for entity, key in keys.items():
        name = " ".join(key)
        if len(name) < SHORTEST_WORD:
            continue
        matcher = SequenceMatcher(None, b=name, autojunk=False)
        for size in {max(1, len(key) - 1), len(key), len(key) + 1}:
            for start in range(len(asked) - size + 1):
                matcher.set_seq1(" ".join(asked[start : start + size]))
                if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE:
                    scores[entity] = max(scores.get(entity, 0), matcher.ratio())
    best = max(scores.values(), default=0)
    if best < ALIKE:
        return []
    found = [entity for entity, score in scores.items() if score == best]
    return found if len(found) == 1 else []
