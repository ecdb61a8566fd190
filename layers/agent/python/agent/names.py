"""Which entity does a request name? Forgiving about case, accents, punctuation, legal forms and slips of the pen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

LEGAL_FORMS = frozenset(
    "ab ag as asa bv co company corp corporation gmbh group holding holdings inc incorporated kg limited llc llp ltd nv "
    "oy oyj plc pte pty sa sas se sl spa srl".split()  # noqa: SIM905
)
ALIKE = 0.84  # of SequenceMatcher: two letters changed, dropped or swapped in a name of a dozen
WORDS_AT_MOST = 200  # slips are only looked for in a request of this length
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

    The full name counts first, then the name without its legal form, then a first word that no other entity has, then a
    name with slips. A name inside a longer one that is named too ("Acme" in "Acme Nordic") doesn't count.

    Args:
        numbered: the entities were listed with numbers from 1 before, so that a number alone is an answer.
    """
    asked = words(request)
    if numbered and len(asked) <= 2 and asked and asked[-1].isdecimal() and int(asked[-1]) <= len(entities):
        if (number := int(asked[-1])) >= 1 and (len(asked) == 1 or asked[0] in ("number", "no", "nr")):
            return [entities[number - 1]]
    spoken = {entity: words(entity) for entity in entities}
    for key in (_full, _core, _first_word(list(spoken.values()))):
        if found := _places(asked, {entity: key(name) for entity, name in spoken.items()}):
            return found
    return _with_slips(asked[:WORDS_AT_MOST], {entity: _core(name) for entity, name in spoken.items()})


Key = Callable[[tuple[str, ...]], tuple[str, ...]]


def _full(name: tuple[str, ...]) -> tuple[str, ...]:
    return name


def _core(name: tuple[str, ...]) -> tuple[str, ...]:
    """The name without the legal forms at its end; all of it when nothing else is left."""
    end = len(name)
    while end > 1 and name[end - 1] in LEGAL_FORMS:
        end -= 1
    return name[:end]


def _first_word(all_names: Sequence[tuple[str, ...]]) -> Key:
    firsts = [name[:1] for name in all_names]

    def key(name: tuple[str, ...]) -> tuple[str, ...]:
        first = name[:1]
        return first if first and len(first[0]) >= SHORTEST_WORD and firsts.count(first) == 1 else ()

    return key


def _places(asked: tuple[str, ...], keys: dict[str, tuple[str, ...]]) -> list[str]:
    """The entities whose key stands in the request, but for those whose every place lies in a longer one's."""
    spans: dict[str, list[range]] = {}
    for entity, key in keys.items():
        places = [i for i in range(len(asked) - len(key) + 1) if key and asked[i : i + len(key)] == key]
        if places:
            spans[entity] = [range(i, i + len(key)) for i in places]
    everywhere = [span for found in spans.values() for span in found]

    def inside_another(span: range) -> bool:
        return any(len(o) > len(span) and o.start <= span.start and span.stop <= o.stop for o in everywhere)

    return [entity for entity, found in spans.items() if not all(inside_another(span) for span in found)]


def _with_slips(asked: tuple[str, ...], keys: dict[str, tuple[str, ...]]) -> list[str]:
    """The one entity that reads most like a run of the request's words; [] when two are equally alike."""
    scores: dict[str, float] = {}
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
