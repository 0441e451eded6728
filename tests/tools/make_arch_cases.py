"""Makes tests/data/arch fixtures of architectures that the shared set lacks: a tiny GGUF file with random weights, and the
logits of a plain float64 transcription of the paper or of the equations.

    python3 make_arch_cases.py OUT [NAME ...]        # needs numpy and gguf
"""
import json
import pathlib
import sys

import gguf
import numpy as np

from arch_attending import GptJ, HunyuanDense, HunyuanMoe, MistralWindow
from arch_recurrent import RetNet, Rwkv6, Rwkv7
from arch_written import V

FAMILIES = {"rwkv6": Rwkv6, "rwkv7": Rwkv7, "retnet": RetNet, "gptj": GptJ, "mistral_window": MistralWindow,
            "hunyuan_dense": HunyuanDense, "hunyuan_moe": HunyuanMoe}


def write_model(path, made):
    out = gguf.GGUFWriter(path, made.architecture)
    out.add_vocab_size(V)
    for key, value in made.keys().items():
        (out.add_float32 if isinstance(value, float) else out.add_uint32)(f"{made.architecture}.{key}", value)
    out.add_tokenizer_model("llama")
    out.add_token_list(["<unk>", "<s>", "</s>", "\u2581"] + [chr(0x41 + i) for i in range(V - 4)])
    out.add_token_scores([0.0] * V)
    out.add_token_types([2, 3, 3] + [1] * (V - 3))
    out.add_bos_token_id(1), out.add_eos_token_id(2)
    for name, value in made.weights.items():
        out.add_tensor(name, np.ascontiguousarray(value, np.float32))
    out.write_header_to_file(), out.write_kv_data_to_file(), out.write_tensors_to_file(), out.close()


def continued(made, tokens, n=16):
    tokens, margin = list(tokens), np.inf
    for _ in range(n):
        best = np.sort(last := made.logits(tokens)[-1])
        margin = min(margin, best[-1] - best[-2])
        tokens.append(int(last.argmax()))
    return tokens[-n:], float(margin)


def make(name, folder, seed=1):
    made = FAMILIES[name](seed)
    random = np.random.default_rng(seed + 100)
    draw = lambda n: [int(t) for t in random.integers(3, V, n)]
    s17 = max((draw(17) for _ in range(6)), key=lambda s: continued(made, s)[1])
    greedy, margin = continued(made, s17)
    sequences, outputs, values, offset = {"s1": draw(1), "s17": s17, "long": draw(64)}, [], [], 0
    for sequence, tokens in sequences.items():
        rows = list(range(len(tokens)))[-17 if len(tokens) <= 17 else -4:]
        values.append(made.logits(tokens)[rows])
        outputs.append({"sequence": sequence, "kind": "logits", "shape": [len(rows), V], "positions": rows,
                        "offset_floats": offset})
        offset += values[-1].size
    largest = max(float(np.abs(v).max()) for v in values)
    write_model(folder / f"{name}.gguf", made)
    np.concatenate(values).astype("<f4").tofile(folder / f"{name}.logits.f32")
    (folder / f"{name}.json").write_text(json.dumps({
        "name": name, "architecture": made.architecture, "kind": "causal", "gguf": f"{name}.gguf",
        "values_file": f"{name}.logits.f32", "seed": seed, "tolerance": {"abs_f32": 1e-4, "abs_reduced": round(largest / 1024, 4)},  # a cache of half floats: 2^-10
        "sequences": [{"name": s, "tokens": t} for s, t in sequences.items()], "outputs": outputs,
        "greedy": {"prompt": "s17", "tokens": greedy, "min_top1_top2_margin": margin}}, indent=1) + "\n")
    print(f"{name}: logits from {min(v.min() for v in values):.2f} to {max(v.max() for v in values):.2f}, "
          f"greedy margin {margin:.3f}, {(folder / f'{name}.gguf').stat().st_size >> 10} KiB")


if __name__ == "__main__":
    for chosen in sys.argv[2:] or FAMILIES:
        make(chosen, pathlib.Path(sys.argv[1]))
