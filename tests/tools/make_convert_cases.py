"""Makes tests/data/conversion: tiny models as Hugging Face folders, what llama.cpp's converter makes of them, and the
logits that transformers computes.

usage: make_convert_cases.py LLAMA_CPP OUT
needs torch, transformers, tokenizers, sentencepiece and a source tree of llama.cpp

llama.cpp knows a pre-tokenizer by a hash of what the whole vocabulary makes of a test text, and no tiny vocabulary has
a known one: here the name is given to its converter.
"""
import io
import json
import pathlib
import shutil
import sys

import sentencepiece
import tokenizers
import torch
import transformers
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

LLAMA_CPP, OUT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path[:0] = [str(LLAMA_CPP), str(LLAMA_CPP / "gguf-py")]
import conversion  # noqa: E402
import gguf  # noqa: E402

CORPUS = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind at all.",
    "A model is a function over blocks; calling a block records one operation.",
    "Twelve and 345 make 357, says the machine. Numbers, words and signs: (a + b) * c != 7!",
    "Größe, naïve café, Ελληνικά, 中文字符 and some emoji in the rain.",
    "It's what they've said: we'll see, won't we? Tokens of tokens, texts of texts.",
] * 20
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
CHAT = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
TOKENS = [3, 17, 250, 101, 33, 260, 5, 77]


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def byte_level(folder, pattern, specials, first=None):
    """A tokenizer.json like those of Llama 3 and Qwen; `first` begins every text."""
    tokenizer = tokenizers.Tokenizer(models.BPE(ignore_merges=pattern == LLAMA3))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=290, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_special_tokens(specials)
    tokenizer.add_tokens(["<think>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    if first:
        template = processors.TemplateProcessing(
            single=f"{first} $A", pair=f"{first} $A {first}:1 $B:1", special_tokens=[(first, tokenizer.token_to_id(first))])
        tokenizer.post_processor = processors.Sequence([tokenizer.post_processor, template])
    tokenizer.save(str(folder / "tokenizer.json"))


def sentence_pieces(folder, **flags):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, model_type="bpe", vocab_size=360, byte_fallback=True,
        character_coverage=0.98, num_threads=1, minloglevel=2,
        normalization_rule_name="identity", **flags)
    (folder / "tokenizer.model").write_bytes(model.getvalue())


COMMON = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
              max_position_embeddings=512, bos_token_id=1, eos_token_id=2, pad_token_id=None)
SPM_CONFIG = {"add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": {"content": "</s>"},
              "unk_token": "<unk>", "pad_token": None, "chat_template": CHAT, "tokenizer_class": "LlamaTokenizer"}
GEMMA_ADDED = {"0": {"content": "<pad>", "special": True}, "1": {"content": "<eos>", "special": True},
               "2": {"content": "<bos>", "special": True}, "4": {"content": "<mask>", "special": False},
               "5": {"content": "▁▁", "special": False}, "6": {"content": "<unused0>", "special": False}}
GEMMA_CONFIG = {"add_bos_token": True, "bos_token": "<bos>", "eos_token": "<eos>", "added_tokens_decoder": GEMMA_ADDED,
                "chat_template": [{"name": "default", "template": CHAT}, {"name": "tool use", "template": "{{ 1 }}"}]}
GEMMA_PIECES = dict(pad_id=0, eos_id=1, bos_id=2, unk_id=3, pad_piece="<pad>", bos_piece="<bos>", eos_piece="<eos>",
                    user_defined_symbols=["<mask>", "▁▁", "<unused0>"])
GEMMA = dict(COMMON, vocab_size=368, head_dim=16, bos_token_id=2, eos_token_id=1, pad_token_id=0)


def old_style(folder, **changes):
    """config.json as it was written before version 5 of transformers."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters", None) or {}
    if "rope_theta" in rope:
        config["rope_theta"] = rope.pop("rope_theta")
    config.update(changes)
    write_json(path, config)


def llama(folder):
    specials = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|reserved|>"]
    byte_level(folder, LLAMA3, specials, first=specials[0])
    write_json(folder / "tokenizer_config.json",
               {"bos_token": specials[0], "eos_token": specials[2], "tokenizer_class": "PreTrainedTokenizerFast"})
    (folder / "chat_template.jinja").write_text(CHAT)
    write_json(folder / "generation_config.json", {"temperature": 0.6, "top_p": 0.9, "top_k": 40})
    scaling = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
               "rope_type": "llama3"}
    config = transformers.LlamaConfig(**dict(COMMON, bos_token_id=290, eos_token_id=[291, 292]), vocab_size=300,
                                      tie_word_embeddings=False, rope_parameters=dict(scaling, rope_theta=500000.0))
    yield transformers.LlamaForCausalLM(config), torch.bfloat16, "llama-bpe", {"max_shard_size": "30KB"}
    old_style(folder, rope_scaling=scaling)


def mistral(folder):
    sentence_pieces(folder)
    write_json(folder / "tokenizer_config.json", dict(SPM_CONFIG, add_prefix_space=True))
    write_json(folder / "added_tokens.json", {"<extra>": 360})
    config = transformers.MistralConfig(**COMMON, vocab_size=362, sliding_window=None, tie_word_embeddings=False)
    yield transformers.MistralForCausalLM(config), torch.float16, None, {}


def smollm3(folder):
    byte_level(folder, LLAMA3, ["<|begin_of_text|>", "<|im_start|>", "<|im_end|>"])
    write_json(folder / "tokenizer_config.json", {"bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|im_end|>"})
    (folder / "chat_template.jinja").write_text(CHAT)
    config = transformers.SmolLM3Config(**COMMON, vocab_size=296, no_rope_layer_interval=4)
    yield transformers.SmolLM3ForCausalLM(config), torch.bfloat16, "llama-bpe", {}


def qwen2(folder):
    byte_level(folder, QWEN2, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    write_json(folder / "tokenizer_config.json",
               {"add_bos_token": False, "bos_token": None, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>",
                "chat_template": CHAT})
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}
    config = transformers.Qwen2Config(**COMMON, vocab_size=304, tie_word_embeddings=False,
                                      rope_parameters=dict(scaling, rope_theta=1000000.0))
    yield transformers.Qwen2ForCausalLM(config), torch.bfloat16, "qwen2", {}
    old_style(folder, rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128})


def qwen3(folder):
    byte_level(folder, QWEN2, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    write_json(folder / "tokenizer_config.json", {"eos_token": "<|im_end|>", "chat_template": CHAT})
    config = transformers.Qwen3Config(**COMMON, vocab_size=296, head_dim=16, tie_word_embeddings=True)
    yield transformers.Qwen3ForCausalLM(config), torch.bfloat16, "qwen2", {}


def gemma(folder):
    sentence_pieces(folder, **GEMMA_PIECES)
    write_json(folder / "tokenizer_config.json", GEMMA_CONFIG)
    yield transformers.GemmaForCausalLM(transformers.GemmaConfig(**GEMMA)), torch.bfloat16, None, {}


def gemma2(folder):
    sentence_pieces(folder, **GEMMA_PIECES)
    write_json(folder / "tokenizer_config.json", GEMMA_CONFIG)
    config = transformers.Gemma2Config(**GEMMA, sliding_window=16, query_pre_attn_scalar=16)
    yield transformers.Gemma2ForCausalLM(config), torch.float32, None, {}


def gemma3(folder):
    sentence_pieces(folder, **GEMMA_PIECES)
    write_json(folder / "tokenizer_config.json", GEMMA_CONFIG)
    config = transformers.Gemma3TextConfig(**GEMMA, sliding_window=16, query_pre_attn_scalar=16,
                                           layer_types=["sliding_attention", "sliding_attention"])
    yield transformers.Gemma3ForCausalLM(config), torch.bfloat16, None, {}
    old_style(folder, rope_theta=1000000.0, rope_local_base_freq=10000.0, sliding_window_pattern=6)


def phi3(folder):
    sentence_pieces(folder)
    write_json(folder / "tokenizer_config.json", SPM_CONFIG)
    write_json(folder / "added_tokens.json", {"<|user|>": 361, "<|end|>": 362})
    factors = {"short_factor": [1.0, 1.05, 1.1, 1.25], "long_factor": [1.0, 1.5, 3.0, 7.0]}
    config = transformers.Phi3Config(
        **dict(COMMON, pad_token_id=0), vocab_size=366, original_max_position_embeddings=128, sliding_window=64,
        tie_word_embeddings=False,
        rope_parameters=dict(factors, rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=128))
    yield transformers.Phi3ForCausalLM(config), torch.bfloat16, None, {}
    old_style(folder, rope_scaling=dict(factors, type="longrope"))


def logits(folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    with torch.no_grad():
        rows = model(torch.tensor([TOKENS])).logits[0]
    return [float(f"{value:.7g}") for value in rows[-1].tolist()]


FILE_TYPES = {"f32": "ALL_F32", "f16": "MOSTLY_F16", "bf16": "MOSTLY_BF16", "q8_0": "MOSTLY_Q8_0", "auto": "GUESSED"}


def expect(folder, pre, kind):
    hparams = conversion.ModelBase.load_hparams(folder, False)
    architecture = conversion.get_model_architecture(hparams, conversion.ModelType.TEXT)
    cls = conversion.get_model_class(architecture)
    cls.get_vocab_base_pre = lambda self, tokenizer: pre
    cls(folder, gguf.LlamaFileType[FILE_TYPES[kind]], folder / f"expected-{kind}.gguf").write()


def main():
    kinds = {"llama": ["auto", "q8_0"], "mistral": ["auto"], "gemma2": ["f16"], "phi3": ["f32"]}
    for make in (llama, mistral, smollm3, qwen2, qwen3, gemma, gemma2, gemma3, phi3):
        folder = OUT / make.__name__
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        torch.manual_seed(7)
        steps = make(folder)
        model, dtype, pre, saving = next(steps)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, 0.0, 0.2)
        model.to(dtype).save_pretrained(folder, **saving)
        if make is not llama:
            (folder / "generation_config.json").unlink(missing_ok=True)
        next(steps, None)
        write_json(folder / "logits.json", {"tokens": TOKENS, "last": logits(folder)})
        for kind in kinds.get(make.__name__, ["auto"]):
            expect(folder, pre, kind)


if __name__ == "__main__":
    main()
