"""Makes tests/data/conversion/byte_fallback: the tokenizer of the mistral folder as a list of merges, and what the
tokenizers package makes of texts with it.

    python3 make_byte_fallback_case.py ../data/conversion        # needs tokenizers, transformers and sentencepiece
"""
import json
import pathlib
import sys

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, processors
from transformers.convert_slow_tokenizer import SentencePieceExtractor

TEXTS = ["The quick brown fox jumps.", "Größe 中文 ok", "357! dogs", "a<extra>b", "Twelve and 345 make 357, says the machine."]

root = pathlib.Path(sys.argv[1])
out = root / "byte_fallback"
out.mkdir(exist_ok=True)
pieces = SentencePieceExtractor(str(root / "mistral" / "tokenizer.model")).extract(None)
tokenizer = Tokenizer(models.BPE(pieces["vocab"], [tuple(merge) for merge in pieces["merges"]], unk_token="<unk>",
                                 fuse_unk=True, byte_fallback=True))
tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
tokenizer.add_tokens([AddedToken("<extra>", normalized=False)])
tokenizer.post_processor = processors.TemplateProcessing(
    single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
(out / "tokenizer.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":")))
(out / "cases.json").write_text(json.dumps(
    [{"text": text, "tokens": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS], ensure_ascii=False) + "\n")
