"""Writes a small RWKV vocabulary and its golden cases: tokens in escaped form, text cut greedily by plain search.

usage: make_rwkv_cases.py tests/data/tokenizer
"""
import json
import os
import sys

from token_texts import all_texts
from vocabulary_file import write_vocabulary

WORDS = ["the", " the", "hello", "Hello", " world", "\n\n", "\r\n", "  ", "    ", "中", "中文", "é", "don't", "'s", "\\", "\\n", "\"", "''",
         "日本", "日本語", "👍", "abc", "ab", "123", "12", "Привет", "\t\t", "a b", " = ", "://", "()", "();\n"]


def main(output):
    tokens = [b"<s>"] + [bytes([byte]) for byte in range(256)]
    tokens += [word.encode() for word in WORDS if len(word.encode()) > 1]
    tokens += ["中".encode()[:2], b"\xf0\x9f", b"\xff\xfe"]  # tokens need not be whole characters
    longest = sorted(range(1, len(tokens)), key=lambda i: -len(tokens[i]))

    def encode(data):
        ids = []
        while data:
            ids.append(next(i for i in longest if data.startswith(tokens[i])))
            data = data[len(tokens[ids[-1]]):]
        return ids

    write_vocabulary(os.path.join(output, "ggml-vocab-rwkv.gguf"), {
        "tokenizer.ggml.model": "rwkv",
        "tokenizer.ggml.tokens": [repr(token)[2:-1].encode() for token in tokens],
        "tokenizer.ggml.token_type": [1] * len(tokens),
    })
    inputs = [text.encode() for text in all_texts()] + [bytes(range(256)), b"\xff\xfe\xff", b"\xe4\xb8\xf0\x9f\x91", b"<s>"]
    with open(os.path.join(output, "rwkv.jsonl"), "w", encoding="utf-8") as cases, \
         open(os.path.join(output, "rwkv.detok.jsonl"), "w", encoding="utf-8") as back:
        for number, data in enumerate(inputs):
            ids = encode(data)
            cases.write(json.dumps({"id": f"rwkv-{number:04}", "text_hex": data.hex(), "add_special": False,
                                    "parse_special": False, "ids": ids}) + "\n")
            back.write(json.dumps({"kind": "detok", "ids": ids, "remove_special": False, "unparse_special": False,
                                   "text_hex": data.hex()}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
