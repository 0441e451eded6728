"""Makes tests/data/arch fixtures of architectures that the shared set lacks: a tiny GGUF file with random weights, and the
logits of the transformers package in float64, or of a plain float64 transcription of the paper or of the equations.

    python3 make_arch_cases.py OUT [NAME ...]        # needs numpy and gguf, and for some torch and transformers
"""
import json
import pathlib
import sys

import gguf
import numpy as np

from arch_attending import GptJ, HunyuanDense, HunyuanMoe, MistralWindow
from arch_encoders import ENCODERS
from arch_filling import FILLING
from arch_recurrent import RetNet, Rwkv6, Rwkv7
from arch_t5 import T5
from arch_written import V
from arch_written_more import WRITTEN
from arch_written_recent import RECENT_WRITTEN

FAMILIES = {"rwkv6": Rwkv6, "rwkv7": Rwkv7, "retnet": RetNet, "gptj": GptJ, "mistral_window": MistralWindow,
            "hunyuan_dense": HunyuanDense, "hunyuan_moe": HunyuanMoe, "t5_written": T5} | WRITTEN | ENCODERS | RECENT_WRITTEN | FILLING
TRANSFORMED = {"phimoe": "Phimoe", "gemma3n": "Gemma3n", "seed_oss": "SeedOss", "dots1": "Dots1", "glm": "Glm", "gemma4": "Gemma4"}
MORE = ["afmoe", "cohere2_moe", "cohere2_moe_rms", "dbrx", "exaone_moe", "granite_swa", "hy_v3", "jais2", "kimi_linear", "laguna", "mellum", "mimo2",
        "mistral4", "eurobert", "gemma4_moe"]
ROTATED = ["llama_rope_linear", "llama_rope_llama3", "llama_rope_yarn"]
MIXED = ["falcon_mamba_eps", "grovemoe", "nemotron_h_latent"]
RECENT = ["bailingmoe3", "chameleon", "chameleon_swin", "deepseek32", "dots3note", "glm4_moe_lite", "glm_dsa", "hrm_text", "hy_v4", "jina_bert_v3", "minimax_01", "minimax_m3", "muse_glimmer",
          "step35"]


def family(name):
    if name in FAMILIES:
        return FAMILIES[name]
    import arch_transformers  # which most cases do not need
    if name in MORE:
        import arch_transformers_more
        return arch_transformers_more.MORE[name]
    if name in RECENT:
        import arch_transformers_recent
        return arch_transformers_recent.RECENT[name]
    if name in MIXED:
        import arch_transformers_mixed
        return arch_transformers_mixed.MIXED[name]
    if name in ROTATED:
        import arch_transformers_rotated
        return arch_transformers_rotated.ROTATED[name]
    return getattr(arch_transformers, TRANSFORMED[name])


def put_key(out, key, value):
    kinds = {bool: out.add_bool, int: out.add_uint32, float: out.add_float32, list: out.add_array, str: out.add_string}
    kinds[type(value)](key, value)


def write_model(path, made):
    out = gguf.GGUFWriter(path, made.architecture)
    out.add_vocab_size(V)
    for key, value in made.keys().items():
        put_key(out, f"{made.architecture}.{key}", value)
    out.add_tokenizer_model("llama")
    out.add_token_list(["<unk>", "<s>", "</s>", "\u2581"] + [chr(0x41 + i) for i in range(V - 4)])
    out.add_token_scores([0.0] * V)
    out.add_token_types([2, 3, 3] + [1] * (V - 3))
    out.add_bos_token_id(1), out.add_eos_token_id(2)
    for name, value in made.weights.items():
        value = np.ascontiguousarray(value, np.float32)
        if value.ndim > 1 and name.endswith(".weight"):  # rounded to bfloat16 when they were drawn
            bits = gguf.quants.quantize(value, gguf.GGMLQuantizationType.BF16)
            out.add_tensor(name, bits, raw_dtype=gguf.GGMLQuantizationType.BF16)
        else:
            out.add_tensor(name, value)
    out.write_header_to_file(), out.write_kv_data_to_file(), out.write_tensors_to_file(), out.close()


def continued(logits, tokens, n=16):
    tokens, margin = list(tokens), np.inf
    for _ in range(n):
        best = np.sort(last := logits(tokens)[-1])
        margin = min(margin, best[-1] - best[-2])
        tokens.append(int(last.argmax()))
    return tokens[-n:], float(margin)


class Asked:
    """A sequence with what the model makes of it: of a decoder's tokens, or of an encoder-decoder's source and tokens."""

    def __init__(self, made, draw, length):
        self.two = made.kind == "seq2seq"
        self.tokens = ([0] + draw(length - 1) if length > 1 else [0]) if self.two else draw(length)
        self.source = [draw(length)] if self.two else []
        self.encodes = made.kind == "encoder"
        self.writes = made.kind not in ("encoder", "filling")
        self.logits = made.rows if self.encodes else lambda tokens: made.logits(tokens, *self.source)
        self.greedy, self.margin = continued(self.logits, [0] if self.two else self.tokens) if self.writes else ([], 0)

    def described(self):
        return {"encoder_tokens": self.source[0], "decoder_tokens": self.tokens} if self.two else {"tokens": self.tokens}


def blocks(made, asked):
    """(sequence, kind, rows, values) of each block."""
    for name, sequence in asked.items():
        rows = list(range(len(sequence.tokens)))[-17 if len(sequence.tokens) <= 17 else -4:]
        values = sequence.logits(sequence.tokens)
        yield name, "token_embeddings" if sequence.encodes else "logits", rows, values[rows]
        if sequence.encodes:
            yield name, "mean_pooled", None, values.mean(0, keepdims=True)
    if made.kind == "seq2seq":
        source = asked["s17"].source[0]
        yield "s17", "encoder_states", list(range(len(source))), made.encoded(source)


def reduced(made, asked, largest):
    """What a cache of half floats may cost: twice what it costs the original, where that can be told, else 2^-10."""
    if made.kind == "encoder" or not hasattr(made, "logits_of_halves"):
        return round(largest / 1024, 4)
    costs = [np.abs(made.logits_of_halves(s.tokens) - s.logits(s.tokens)).max() for s in asked.values()]
    return round(max(2 * float(max(costs)), largest / 1024), 4)


def make(name, folder):
    seed = getattr(family(name), "SEED", 1)
    made = family(name)(seed)
    random = np.random.default_rng(seed + 100)
    draw = lambda n: [int(t) for t in random.integers(3, V, n)]
    s17 = max((Asked(made, draw, 17) for _ in range(6)), key=lambda asked: asked.margin)
    asked = {"s1": Asked(made, draw, 1), "s17": s17, "long": Asked(made, draw, 64)}
    outputs, values, offset = [], [], 0
    for sequence, kind, rows, block in blocks(made, asked):
        values.append(block)
        outputs.append({"sequence": sequence, "kind": kind, "shape": list(block.shape), "positions": rows,
                        "offset_floats": offset})
        offset += block.size
    largest = max(float(np.abs(v).max()) for v in values)
    write_model(folder / f"{name}.gguf", made)
    np.concatenate([v.ravel() for v in values]).astype("<f4").tofile(folder / f"{name}.logits.f32")
    (folder / f"{name}.json").write_text(json.dumps({
        "name": name, "architecture": made.architecture, "kind": made.kind, "gguf": f"{name}.gguf",
        "values_file": f"{name}.logits.f32", "seed": seed, "tolerance": {"abs_f32": 1e-4, "abs_reduced": reduced(made, asked, largest)},
        "sequences": [{"name": n} | sequence.described() for n, sequence in asked.items()], "outputs": outputs
    } | ({} if not s17.writes else {"greedy": {"prompt": "s17", "tokens": s17.greedy, "min_top1_top2_margin": s17.margin}}), indent=1) + "\n")
    print(f"{name}: logits from {min(v.min() for v in values):.2f} to {max(v.max() for v in values):.2f}, "
          f"greedy margin {s17.margin:.3f}, {(folder / f'{name}.gguf').stat().st_size >> 10} KiB")


if __name__ == "__main__":
    for chosen in sys.argv[2:] or [*FAMILIES, *TRANSFORMED, *MORE, *RECENT, *ROTATED, *MIXED]:
        make(chosen, pathlib.Path(sys.argv[1]))
