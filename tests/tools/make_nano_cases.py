"""Writes golden cases of the repository's model: its tokenizer.json read by Hugging Face tokenizers.

usage: make_nano_cases.py tokenizer.json tests/data/tokenizer     (needs the package `tokenizers`)
"""
import codecs
import json
import os
import sys

from tokenizers import Tokenizer

from token_texts import all_texts

SPECIAL = ["<|im_start|>user\nHi<|im_end|>\n", "<|endoftext|>", "<|im_start|", "a<|im_end|>b<|im_end|><|im_end|>",
           "<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "<|im_start|><tool_call></tool_call> <|endoftext|> x", "<tool_call"]
BOS = "<|endoftext|>"


def streamed(pieces):
    """What each token adds to the text when unfinished characters are held back."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    return [decoder.decode(piece) for piece in pieces], decoder.decode(b"", True)


def main(source, output):
    content, prompt = Tokenizer.from_file(source), Tokenizer.from_file(source)
    content.encode_special_tokens = True
    bos = content.token_to_id(BOS)
    letters = [byte for byte in range(256) if 0x21 <= byte <= 0x7E or (byte >= 0xA1 and byte != 0xAD)]
    alphabet = {chr(byte): byte for byte in letters}
    alphabet |= {chr(0x100 + i): byte for i, byte in enumerate(sorted(set(range(256)) - set(letters)))}
    added = {token["id"]: token["content"] for token in json.load(open(source, encoding="utf-8"))["added_tokens"]}

    def piece(token):
        return added[token].encode() if token in added else bytes(alphabet[c] for c in content.id_to_token(token))

    with open(os.path.join(output, "inlay-nano.jsonl"), "w", encoding="utf-8") as cases, \
         open(os.path.join(output, "inlay-nano.detok.jsonl"), "w", encoding="utf-8") as back:
        for number, text in enumerate(all_texts() + SPECIAL):
            for parse in (False, True) if "<" in text else (False,):
                ids = (prompt if parse else content).encode(text, add_special_tokens=False).ids
                for special in (False, True) if number % 4 == 0 else (False,):
                    cases.write(json.dumps({"id": f"nano-{number:04}", "text": text, "add_special": special,
                                            "parse_special": parse, "ids": [bos] * special + ids}, ensure_ascii=False) + "\n")
            pieces = [piece(token) for token in ids]
            back.write(json.dumps({"kind": "detok", "ids": [bos] + ids, "remove_special": True, "unparse_special": True,
                                   "text": text}, ensure_ascii=False) + "\n")
            chunks, rest = streamed(pieces)
            if number % 3 == 0:
                back.write(json.dumps({"kind": "stream", "ids": ids, "chunks": chunks, "flush": rest}, ensure_ascii=False) + "\n")
        broken = [t for t in range(256)][::-1][:90:3]
        chunks, rest = streamed([piece(token) for token in broken])
        back.write(json.dumps({"kind": "stream", "ids": broken, "chunks": chunks, "flush": rest}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
