"""Makes tests/data/embed: tiny decoders with random weights that embed texts, and what the transformers package makes of
texts in float64: the last layer's row of the last token, normed, and the mean of all rows.

    python3 make_embed_cases.py OUT        # needs numpy, gguf, torch and transformers
"""
import json
import pathlib
import re
import sys

import numpy as np
import torch
import transformers

from arch_transformers import NAMES
from make_rank_cases import KEYS, SHARED, fill, letters, write

DECODER = KEYS | {"context_length": 1024, "feed_forward_length": 16, "attention.head_count_kv": 2, "attention.key_length": 8,
                  "attention.value_length": 8, "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 10000.0}
CONFIG = SHARED | {"intermediate_size": 16, "num_key_value_heads": 2, "head_dim": 8, "rms_norm_eps": 1e-6,
                   "max_position_embeddings": 1024}


class Qwen3:
    """Qwen3 Embedding: the last row, which is that of a token behind the text; no beginning, and no output of its own."""
    name, architecture, flags = "qwen3_embedding", "qwen3", {"add_bos_token": False, "add_eos_token": True}
    keys = DECODER | {"pooling_type": 3}

    def __init__(self):
        self.run = transformers.Qwen3Model(transformers.Qwen3Config(**CONFIG))

    def tokens(self, text):
        return [*letters(text), 2]

    def mask(self, tokens):
        return None  # the usual one

    def adapt(self, weights):
        pass


class Mistral(Qwen3):
    """E5 Mistral, as its files are: they do not say how rows are pooled."""
    name, architecture, flags = "mistral_embedding", "llama", {"add_bos_token": True, "add_eos_token": True}
    keys = DECODER

    def __init__(self):
        self.run = transformers.MistralModel(transformers.MistralConfig(**CONFIG, sliding_window=None))

    def tokens(self, text):
        return [1, *letters(text), 2]

    def adapt(self, weights):  # rows of a head are paired as neighbours in the file
        for name, value in weights.items():
            if re.search(r"attn_[qk]\.weight", name):
                heads = value.reshape(-1, 2, self.run.config.head_dim // 2, value.shape[1])
                weights[name] = heads.swapaxes(1, 2).reshape(value.shape)


class BothWays(Qwen3):
    """GTE Qwen 2: a decoder that was taught to see later tokens, too."""
    name, architecture = "qwen2_both_ways", "qwen2"
    keys = DECODER | {"pooling_type": 3, "attention.causal": False}

    def __init__(self):
        self.run = transformers.Qwen2Model(transformers.Qwen2Config(**CONFIG))

    def mask(self, tokens):
        return torch.zeros(1, 1, tokens, tokens, dtype=torch.float64)


def make(made, folder):
    random = np.random.default_rng(11)
    made.run.config._attn_implementation = "eager"
    made.run = made.run.eval().double()
    fill(made.run, random)
    weights = {}
    for name, value in made.run.state_dict().items():
        name = "model." + name
        for old, new in [(r"post_attention_layernorm", "ffn_norm")] + NAMES:
            name = re.sub(old, new, name)
        weights[name] = value.numpy()
    made.adapt(weights)
    cases = []
    for length in (1, 9, 40, 700):  # the last one is longer than a step
        text = "".join(chr(0x41 + int(i)) for i in random.integers(0, 26, length))
        tokens = made.tokens(text)
        with torch.no_grad():
            made_of = made.run(torch.tensor([tokens]), attention_mask=made.mask(len(tokens)), use_cache=False)
        rows = made_of.last_hidden_state[0].numpy()
        cases.append({"text": text, "tokens": tokens, "last": rows[-1].round(8).tolist(), "mean": rows.mean(0).round(8).tolist()})
    write(folder / f"{made.name}.gguf", made, weights)
    (folder / f"{made.name}.json").write_text(json.dumps({"gguf": f"{made.name}.gguf", "cases": cases}) + "\n")
    print(made.name, [case["last"][:2] for case in cases])


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for kind in (Qwen3, Mistral, BothWays):
        make(kind(), target)
