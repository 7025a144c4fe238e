# SPDX-License-Identifier: Apache-2.0
"""What a file name says about a document (I4): who filed it, what it is, and the words people know it by."""

import html
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

from haystack_integrations.components.pincite.titles.name_words import (
    CORPORATE_TAILS,
    INSTRUMENT_HEADS,
    PLAIN_FILE_WORDS,
    SMALL_WORDS,
    SUFFIXES,
)

_EXTENSION = re.compile(
    r"\.(?:txt|pdf|docx?|rtf|odt|html?|xhtml|md|markdown|json|ya?ml|toml|csv|xml|eml|msg|tex|rst|tiff?)$", re.I
)
# Name_20140520_10-Q_EX-10.27_8605784_EX-10.27_Affiliate Agreement
_FILING = re.compile(r"^(?P<filer>[^_]{2,120})_(?P<date>\d{8})_[^_]{1,40}_EX.{0,80}_EX[^_]{0,40}_(?P<kind>.+)$", re.I)
# NAMEINC_03_29_2000-EX-10.13-ENDORSEMENT AGREEMENT
_EXHIBIT = re.compile(r"^(?P<filer>.{2,120}?)_\d{2}_\d{2}_\d{4}-EX-(?P<kind>.+)$", re.I)
_EXHIBIT_NUMBER = re.compile(r"^[^-]{1,24}-(?:\d{1,3}-)?(?=[^\W\d_])")
_ACCESSION = re.compile(r"^\d{3,10}_\d{10}-\d{2}-\d{6}_?")
_AUTHOR_KIND = re.compile(r"^(?P<filer>[^–—]{2,120}?) [-–—] (?P<kind>.+)$")
_CAMEL = re.compile(r"(?<=[a-z][a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_COPY_NUMBER = re.compile(r"\(\d{1,3}\)")
_DATE = re.compile(r"(?<!\d)(?:\d{4}[-_.]\d{2}[-_.]\d{2}|\d{1,2}[-_.]\d{1,2}[-_.]\d{2,4}|(?:19|20)\d{6})(?!\d)")
_NUMBERED = re.compile(r"^([^\W\d_]{5,})\d{1,2}$")
_LONG_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d{5,}(?=[A-Z])|(?<=[a-z])\d{6,}")
_SEPARATORS = re.compile(
    r"[\s_+~]+|(?<!\d)\.|\.(?!\d)|(?<=[^\W\d_])-(?=[^\W\d_])|(?<=\W)-|-(?=\W)|-(?=\d)|(?<=\d)-|–|—"
)
_OPAQUE = re.compile(
    r"^(?:(?=[a-z]*\d)[0-9a-z]{5,}|\d{3,}|[a-z]{0,4}\d+[a-z0-9]*|v\d[\d.]*|rev|ver|ex|dex\w+|zex\w*|exv?\d\w*|document|doc|file|scan)$",
    re.I,
)
_LETTERS = re.compile(r"[^\W_]+")
_NOISE = frozenset(
    "final copy version signed executed draft clean redline untitled new updated download en fr de uk us "
    "gb web writable pdf page pages txt".split()
)


@dataclass(frozen=True, slots=True)
class FileName:
    """
    A file name, read.

    ``filer`` is who filed or wrote the document, where the name says so; ``kind`` what the document is ("Affiliate
    Agreement"); ``title`` the whole as a person would write it, empty for a mere number; ``words`` all readable words.
    """

    title: str = ""
    filer: str = ""
    kind: str = ""
    words: str = ""


def read_file_name(source_id: str, text: str = "") -> FileName:
    """
    Read the last part of ``source_id``.

    ``text`` is the squeezed opening of the document: where it spells a run-together name with spaces, that spelling is
    used ("WOMENSGOLFUNLIMITEDINC", "Women's Golf Unlimited, Inc").
    """
    stem = _stem(source_id)
    filing = _FILING.match(stem) or _EXHIBIT.match(stem)
    if filing:
        kind = _EXHIBIT_NUMBER.sub("", filing["kind"]) if filing.re is _EXHIBIT else filing["kind"]
        return _authored(spell_name(filing["filer"], text), kind)
    if _ACCESSION.match(stem):
        words = _readable(_ACCESSION.sub("", stem))
        return FileName(title=" ".join(words), words=" ".join(words))
    authored = _AUTHOR_KIND.match(stem)
    if authored and _names_instrument(authored["kind"]) and _names_author(authored["filer"]):
        filer = " ".join(_readable(authored["filer"].replace(", ", ",\x00"))).replace("\x00", " ")
        return _authored(filer, authored["kind"])
    words = _readable(stem)
    title = " ".join(_present(w) for w in words)
    if written := _as_written(stem):
        return FileName(title=written, kind=title if _names_instrument(title) else "", words=" ".join(words))
    return FileName(title=title, kind=title if _names_instrument(title) else "", words=" ".join(words))


def _as_written(stem: str) -> str:
    """
    A name that a person wrote as a phrase, with its numbers and small words; empty for one put together for a machine.

    File systems forbid the colon and the question mark; "_ " is what stands in their place.
    """
    phrase = " ".join(_COPY_NUMBER.sub(" ", stem).replace("_ ", ": ").replace("_", " ").split()).strip(" :-")
    words = phrase.split()
    if not words:
        return ""
    caseless = sum(word.upper() == word.lower() and word[0].isalpha() for word in words)
    if caseless * 2 < len(words) and (len(words) < 4 or not phrase[0].isupper()):
        return ""
    return "" if _LONG_NUMBER.search(stem) or _DATE.search(stem) or words[-1].casefold() in _NOISE else phrase


def _stem(source_id: str) -> str:
    name = unicodedata.normalize("NFC", source_id).rstrip("/").rsplit("/", 1)[-1]
    name = html.unescape(unquote(name) if "%" in name else name)[:300]
    while _EXTENSION.search(name):
        name = _EXTENSION.sub("", name)
    return name.strip()


def _authored(filer: str, kind: str) -> FileName:
    filer = re.sub(r"\s*/\s*[A-Za-z]{2}/?$", "", filer)
    kind = " ".join(_present(w) for w in _readable(kind))
    title = f"{kind} ({filer})" if kind and filer else kind or filer
    return FileName(title=title, filer=filer, kind=kind, words=f"{filer} {kind}".strip())


def _readable(stem: str) -> list[str]:
    stem = _LONG_NUMBER.sub(" ", _DATE.sub(" ", _COPY_NUMBER.sub(" ", stem)))
    parts = [word.strip('[]{}"') for part in _SEPARATORS.split(stem) if part for word in _CAMEL.split(part)]
    parts = [_NUMBERED.sub(r"\1", part).lstrip("(") for part in parts if part.strip("()'.,;")]
    return _join_non([part for i, part in enumerate(parts) if _is_word(parts, i)])


def _is_word(parts: list[str], i: int) -> bool:
    bare = parts[i].strip("()'.,;")
    if bare.isdigit() and len(bare) <= 2 and 0 < i < len(parts) - 1:
        # "Layer 8 Security": a small number inside a name, not the copy or page that a file name counts.
        return telling(parts[i - 1]) and telling(parts[i + 1]) and parts[i + 1][:1].isupper()
    return bool(bare) and not _OPAQUE.match(bare) and bare.casefold() not in _NOISE


def _join_non(words: list[str]) -> list[str]:
    """Put the hyphen back that file names lose: "Non Disclosure", "Co Branding"."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1].casefold() in ("non", "co") and word[:1].isalpha():
            joined[-1] = f"{joined[-1]}-{word}"
        else:
            joined.append(word)
    return joined


def _present(word: str) -> str:
    if word.casefold() in ("nda", "mou", "loi", "sow", "msa", "cda", "mnda"):
        return word.upper()
    return (
        word[:1].upper() + word[1:] if word.islower() and word not in ("and", "of", "for", "the", "to", "in") else word
    )


def telling(word: str) -> bool:
    """Whether a word of a file name helps to tell the document from others of its kind."""
    parts = [p for p in re.split(r"[^\w]+", word.casefold()) if p]
    common = PLAIN_FILE_WORDS | SMALL_WORDS | INSTRUMENT_HEADS
    return any(p not in common and p.removesuffix("s") not in common and not p.isdigit() and len(p) > 1 for p in parts)


def _names_author(text: str) -> bool:
    words = text.split()
    return not _names_instrument(text) and telling(words[0]) and not any(c.isdigit() for c in words[0])


def _names_instrument(text: str) -> bool:
    return any(w.strip("(),.").casefold() in INSTRUMENT_HEADS for w in text.replace("-", " ").replace("_", " ").split())


def spell_name(name: str, text: str) -> str:
    """
    Write a run-together name as a person would.

    First choice is the spelling that ``text`` has for the same letters; otherwise the name is split where the case
    changes, and a run of capitals is taken apart from its end by the common last words of company names.
    """
    name = name.replace(",", ", ").strip(" ,_-")
    if " " in name.replace(", ", ",") and not name.isupper():
        return name
    found = _spelled_in(name, text)
    if found:
        return found
    if not name.isupper():
        return " ".join(_CAMEL.split(name.replace(", ", ",").replace(",", ", ")))
    return _peel(name)


def _spelled_in(name: str, text: str) -> str:
    letters = _letters(name)
    for wanted in (letters, _without_suffix(letters)):
        if len(wanted) < 4:
            continue
        found = _find_letters(wanted, text)
        if found:
            return found
    return ""


def _find_letters(wanted: str, text: str) -> str:
    """Find the stretch of ``text`` that has exactly these letters and digits, beginning and ending at a word's edge."""
    compact = _letters(text)
    at = compact.find(wanted)
    while at >= 0:
        start, end = _place(text, at), _place(text, at + len(wanted) - 1) + 1
        if (start == 0 or not text[start - 1].isalnum()) and (end == len(text) or not text[end].isalnum()):
            return " ".join(text[start:end].split())
        at = compact.find(wanted, at + 1)
    return ""


def _place(text: str, count: int) -> int:
    """Where the letter or digit number ``count`` of a text stands."""
    for match in _LETTERS.finditer(text):
        if count < len(match.group()):
            return match.start() + count
        count -= len(match.group())
    return len(text) - 1


def _letters(text: str) -> str:
    # Character for character, so that places are kept: some letters grow when they are made small ("İ").
    letters = "".join(_LETTERS.findall(text))
    small = letters.lower()
    return small if len(small) == len(letters) else "".join(c.lower() if len(c.lower()) == 1 else c for c in letters)


def _without_suffix(letters: str) -> str:
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if letters.endswith(suffix) and len(letters) - len(suffix) >= 4:
            return letters[: -len(suffix)]
    return letters


def _peel(name: str) -> str:
    tail: list[str] = []
    rest = name.replace(" ", "").replace("-", " ").replace(",", "")
    peeling = True
    while peeling:
        peeling = False
        for word in CORPORATE_TAILS:
            if rest.casefold().endswith(word) and len(rest) - len(word) >= 3:
                tail.insert(0, word.capitalize())
                rest = rest[: -len(word)].strip()
                peeling = True
                break
    return " ".join([rest.title(), *tail])
