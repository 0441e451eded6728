"""Writes a small Unigram vocabulary and its golden cases into a folder, by SentencePiece.

usage: make_unigram_cases.py corpus.txt tests/data/tokenizer     (needs the package `sentencepiece`)
"""
import json
import os
import sys
import tempfile

import sentencepiece

from token_texts import all_texts
from vocabulary_file import write_vocabulary

# Fold full-width letters and digits, ligatures, some spaces and circled numbers; drop two controls.
RULES = {chr(0xFEE0 + code): chr(code) for code in range(0x21, 0x7F)}
RULES |= {"\ufb01": "fi", "\ufb00": "ff", "\u3000": " ", "\u00a0": " ", "\t": " ", "\n": " ", "\r": " ", "\u2460": "1"}
RULES |= {"e\u0301": "\u00e9", "A\u030a": "\u00c5", "\u212b": "\u00c5", "\u00ad": "", "\u200b": "", "\u2026": "..."}
KINDS = {"normal": 1, "unknown": 2, "control": 3, "unused": 5}


def train(corpus, folder, keeps_spaces):
    rules = os.path.join(folder, "rules.tsv")
    with open(rules, "w", encoding="utf-8") as out:
        for source, target in sorted(RULES.items()):
            out.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
    sentencepiece.SentencePieceTrainer.train(
        input=corpus, model_prefix=os.path.join(folder, "model"), model_type="unigram", vocab_size=900,
        normalization_rule_tsv=rules, remove_extra_whitespaces=not keeps_spaces,
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1, minloglevel=2)
    return os.path.join(folder, "model.model")


def normalizer_map(model):
    """The precompiled map: field 2 of the normalizer spec, which is field 3 of the model's protocol buffer."""
    def fields(data):
        at = 0
        def number():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80:
                    return value
        while at < len(data):
            tag = number()
            if tag & 7 == 2:
                size = number()
                yield tag >> 3, data[at:at + size]
                at += size
            else:
                at += {0: 0, 1: 8, 5: 4}[tag & 7]
                if tag & 7 == 0:
                    number()
    spec = next(value for field, value in fields(model) if field == 3)
    return next(value for field, value in fields(spec) if field == 2)


def kind_of(model, token):
    if model.IsUnknown(token): return KINDS["unknown"]
    if model.IsControl(token): return KINDS["control"]
    if model.IsUnused(token): return KINDS["unused"]
    return KINDS["normal"]


def main(corpus, output):
    for name, keeps_spaces in (("unigram", False), ("unigram-spaces", True)):
        with tempfile.TemporaryDirectory() as folder:
            path = train(corpus, folder, keeps_spaces)
            model = sentencepiece.SentencePieceProcessor(model_file=path)
            charsmap = normalizer_map(open(path, "rb").read())
        tokens = range(model.GetPieceSize())
        write_vocabulary(os.path.join(output, f"ggml-vocab-{name}.gguf"), {
            "tokenizer.ggml.model": "t5",
            "tokenizer.ggml.pre": "default",
            "tokenizer.ggml.tokens": [model.IdToPiece(i).encode() for i in tokens],
            "tokenizer.ggml.scores": [float(model.GetScore(i)) for i in tokens],
            "tokenizer.ggml.token_type": [kind_of(model, i) for i in tokens],
            "tokenizer.ggml.add_space_prefix": True,
            "tokenizer.ggml.remove_extra_whitespaces": not keeps_spaces,
            "tokenizer.ggml.precompiled_charsmap": charsmap,
        })
        texts = all_texts() + ["ｆｕｌｌ ① ﬁ", "  lead", "trail  ", "tokenizer tokens of the file"]
        with open(os.path.join(output, f"{name}.jsonl"), "w", encoding="utf-8") as out:
            for number, text in enumerate(texts):
                # Of text without a word the GGUF rules keep only the spaces, without SentencePiece's prefix.
                if "\0" in text or (keeps_spaces and not model.Normalize(text).strip("\u2581")):
                    continue
                out.write(json.dumps({"id": f"{name}-{number:04}", "text": text, "add_special": False, "parse_special": False,
                                      "ids": model.EncodeAsIds(text)}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
