"""Writes tests/data/tokenizer/splits.json: how pre-tokenizers cut texts, by Hugging Face tokenizers (Oniguruma).

The expressions are those of a document with a section "R<n>" for each group of pre-tokenizers and a table of their names.
Two digit rules that its engine has no expression for are written out here.

usage: make_split_cases.py tokenizers.md tests/data/tokenizer/splits.json     (needs the package `tokenizers`)
"""
import json
import re
import sys
import unicodedata

from tokenizers import Regex
from tokenizers.pre_tokenizers import Sequence, Split

from token_texts import all_texts

UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


def read_groups(document):
    names = {}
    for group, cell in re.findall(r"^\| (R\d+) \| (.*?) \|$", document, re.M):
        names[group] = re.findall(r"`([^`]+)`", cell)[0]
    for group, body in re.findall(r"^(R\d+)[: ][^\n]*\n```\n(.*?)\n```", document, re.S | re.M):
        yield group, names[group], [re.sub(r"^\d+: ", "", line) for line in body.split("\n")]


def published(group, step):
    """The form in which the models' own tokenizers have the expression."""
    if group in ("R15", "R17", "R18"):
        for letters in (r"[\p{L}]", r"[\p{L}\p{M}]"):
            step = step.replace(f"((?={letters})([^a-z]))", UPPER).replace(f"((?={letters})([^A-Z]))", LOWER)
    return step.replace(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])")


def cut_digits(piece, is_digit, isolate):
    """Runs of digits in threes from the right; the run itself is a piece of its own if `isolate`."""
    cuts, at = {0, len(piece)}, 0
    while at < len(piece):
        end = at
        while end < len(piece) and is_digit(piece[end]):
            end += 1
        if end > at:
            cuts |= set(range(end - 3, at - 1, -3))
            if isolate:
                cuts |= {at, end}
        at = max(end, at + 1)
    cuts = sorted(cuts)
    return [piece[a:b] for a, b in zip(cuts, cuts[1:])]


def apply(group, number, step, pieces):
    if (group, number) == ("R25", 0):
        rule = lambda piece: cut_digits(piece, lambda c: unicodedata.category(c).startswith("N"), True)
    elif (group, number) == ("R21", 1):
        rule = lambda piece: cut_digits(piece, lambda c: unicodedata.category(c) == "Nd", False)
    else:
        splitter = Split(Regex(published(group, step)), "isolated")
        rule = lambda piece: [text for text, _ in splitter.pre_tokenize_str(piece)]
    return [part for piece in pieces for part in rule(piece) if part]


def main(document, output):
    texts = all_texts()
    groups = {}
    for group, name, steps in read_groups(open(document, encoding="utf-8").read()):
        cases = []
        for text in texts:
            pieces = [text] if text else []
            for number, step in enumerate(steps):
                pieces = apply(group, number, step, pieces)
            assert "".join(pieces) == text
            cases.append([len(piece.encode()) for piece in pieces])
        groups[name] = cases
    with open(output, "w", encoding="utf-8") as out:
        out.write('{"texts": ' + json.dumps(texts, ensure_ascii=False) + ',\n"lengths": {\n')
        rows = [json.dumps(name) + ": " + json.dumps(cases, separators=(",", ":")) for name, cases in groups.items()]
        out.write(",\n".join(rows) + "\n}}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
