"""Makes tests/data/rank: tiny rerankers with random weights, and the scores that the transformers package gives pairs of
texts in float64.

    python3 make_rank_cases.py OUT        # needs numpy, gguf, torch and transformers
"""
import json
import pathlib
import re
import sys

import gguf
import numpy as np
import torch
import transformers

from arch_transformers import NAMES
from arch_written import V, bf16
from make_arch_cases import put_key

E, H, F = 32, 4, 48
BERT = [(r"^roberta\.embeddings\.word_embeddings", "token_embd"), (r"^roberta\.embeddings\.position_embeddings", "position_embd"),
        (r"^roberta\.embeddings\.token_type_embeddings", "token_types"), (r"^roberta\.embeddings\.LayerNorm", "token_embd_norm"),
        (r"^roberta\.encoder\.layer\.(\d+)\.", r"blk.\1."), (r"attention\.self\.query", "attn_q"),
        (r"attention\.self\.key", "attn_k"), (r"attention\.self\.value", "attn_v"),
        (r"attention\.output\.dense", "attn_output"), (r"attention\.output\.LayerNorm", "attn_output_norm"),
        (r"intermediate\.dense", "ffn_up"), (r"output\.dense", "ffn_down"), (r"output\.LayerNorm", "layer_output_norm"),
        (r"^classifier\.dense", "cls"), (r"^classifier\.out_proj", "cls.output")]
MODERN = [(r"^model\.embeddings\.tok_embeddings", "token_embd"), (r"^model\.embeddings\.norm", "token_embd_norm"),
          (r"^model\.layers\.(\d+)\.", r"blk.\1."), (r"attn\.Wqkv", "attn_qkv"), (r"attn\.Wo", "attn_output"),
          (r"mlp\.Wi", "ffn_up"), (r"mlp\.Wo", "ffn_down"), (r"mlp_norm", "ffn_norm"), (r"^model\.final_norm", "output_norm"),
          (r"^head\.dense", "cls"), (r"^head\.norm", "cls.norm"), (r"^classifier", "cls.output")]
SHARED = {"vocab_size": V, "hidden_size": E, "intermediate_size": F, "num_hidden_layers": 2, "num_attention_heads": H,
          "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "num_labels": 1}
ENDS, TWICE = {"add_bos_token": True, "add_eos_token": True, "add_sep_token": False}, {"add_sep_token": True}
KEYS = {"context_length": 256, "embedding_length": E, "block_count": 2, "feed_forward_length": F, "attention.head_count": H,
        "attention.layer_norm_epsilon": 1e-5}


def letters(text):
    return [4 + ord(c) - 0x41 for c in text]


class Roberta:
    """A dense layer with tanh and a projection over the first row."""
    name, architecture, renamed, flags = "roberta", "bert", BERT, ENDS | TWICE
    keys = KEYS | {"attention.causal": False}

    def __init__(self):
        self.run = transformers.XLMRobertaForSequenceClassification(transformers.XLMRobertaConfig(
            **SHARED, max_position_embeddings=257, type_vocab_size=1, layer_norm_eps=1e-5))

    def adapt(self, weights):  # positions begin behind the padding's id
        weights["position_embd.weight"] = weights["position_embd.weight"][1:]

    def pair(self, query, document):
        return [1, *letters(query), 2, 2, *letters(document), 2]

    def types(self, query, document):
        return None

    def score(self, logits):
        return float(logits[0, 0])


class Bert(Roberta):
    """The first row's pooler, and a projection; tokens of the second text are of the second type."""
    name, flags = "bert", ENDS
    renamed = [(old.replace("roberta", "bert"), new) for old, new in BERT[:-2]] + [
        (r"^bert\.pooler\.dense", "cls"), (r"^classifier", "cls.output")]

    def __init__(self):
        self.run = transformers.BertForSequenceClassification(transformers.BertConfig(
            **SHARED, max_position_embeddings=256, type_vocab_size=2, layer_norm_eps=1e-5))

    def adapt(self, weights):
        pass

    def pair(self, query, document):
        return [1, *letters(query), 2, *letters(document), 2]

    def types(self, query, document):
        return [0] * (len(query) + 2) + [1] * (len(document) + 1)


class ModernBert(Roberta):
    """A dense layer with GELU, a norm and a projection, over the mean of all rows."""
    name, architecture, renamed, flags = "modern_bert", "modern-bert", MODERN, ENDS
    keys = Roberta.keys | {"attention.sliding_window": 8, "attention.sliding_window_pattern": 3, "classifier.pooling_type": 1,
                           "rope.freq_base": 160000.0, "rope.freq_base_swa": 10000.0}

    def __init__(self):
        self.run = transformers.ModernBertForSequenceClassification(transformers.ModernBertConfig(
            **SHARED, max_position_embeddings=256, norm_eps=1e-5, local_attention=8, global_attn_every_n_layers=3,
            classifier_pooling="mean", cls_token_id=1, sep_token_id=2))

    def adapt(self, weights):
        pass

    def pair(self, query, document):
        return [1, *letters(query), 2, *letters(document), 2]


class Qwen3(Roberta):
    """A decoder asked for yes or no: the rows of the two in its output, behind a template."""
    name, architecture, renamed, flags, YES, NO = "qwen3", "qwen3", NAMES, {"add_bos_token": False}, 40, 41
    keys = KEYS | {"attention.head_count_kv": 2, "attention.key_length": 8, "attention.value_length": 8,
                   "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 10000.0, "pooling_type": 4,
                   "classifier.output_labels": ["no", "yes"]}

    def __init__(self):
        self.run = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(
            **SHARED | {"num_labels": 2}, num_key_value_heads=2, head_dim=8, tie_word_embeddings=True, rms_norm_eps=1e-6,
            max_position_embeddings=256))

    def adapt(self, weights):
        weights.pop("output.weight", None)
        for name in [n for n in weights if "post_attention_layernorm" in n]:
            weights[name.replace("post_attention_layernorm", "ffn_norm")] = weights.pop(name)
        weights["cls.output.weight"] = weights["token_embd.weight"][[self.NO, self.YES]]

    def pair(self, query, document):
        return [1, *letters("Q"), *letters(query), *letters("D"), *letters(document), *letters("Z"), 2]

    def score(self, logits):
        no, yes = (float(logits[0, -1, row]) for row in (self.NO, self.YES))
        return 1 / (1 + np.exp(no - yes))


def fill(model, random):
    with torch.no_grad():
        for name, value in model.named_parameters():
            drawn = random.normal(size=tuple(value.shape))
            if value.dim() == 1:
                drawn = drawn * 0.2 + ("norm" in name.lower() and "bias" not in name)
            else:
                drawn *= 0.5 if "embed" in name else 1.5 / np.sqrt(value.shape[-1])
            value.copy_(torch.from_numpy(bf16(drawn).astype(np.float64)))


def write(path, made, weights):
    out = gguf.GGUFWriter(path, made.architecture)
    for key, value in made.keys.items():
        put_key(out, f"{made.architecture}.{key}", value)
    out.add_tokenizer_model("llama")
    out.add_token_list(["<unk>", "<s>", "</s>", "\u2581"] + [chr(0x41 + i) for i in range(V - 4)])
    out.add_token_scores([0.0] * V)
    out.add_token_types([2, 3, 3] + [1] * (V - 3))
    out.add_bos_token_id(1), out.add_eos_token_id(2), out.add_bool("tokenizer.ggml.add_space_prefix", False)
    for key, value in made.flags.items():
        out.add_bool(f"tokenizer.ggml.{key}", value)
    if made.name == "qwen3":
        out.add_string("tokenizer.chat_template.rerank", "<s>Q{query}D{document}Z</s>")
    for name, value in weights.items():
        out.add_tensor(name, np.ascontiguousarray(value, np.float32))
    out.write_header_to_file(), out.write_kv_data_to_file(), out.write_tensors_to_file(), out.close()


def make(made, folder):
    random = np.random.default_rng(7)
    made.run.config._attn_implementation = "eager"
    made.run = made.run.eval().double()
    fill(made.run, random)
    weights = {}
    for name, value in made.run.state_dict().items():
        for old, new in made.renamed:
            name = re.sub(old, new, name)
        weights[name] = value.numpy()
    made.adapt(weights)
    word = lambda n: "".join(chr(0x41 + int(i)) for i in random.integers(0, 26, n))
    cases = []
    for lengths in ((3, 8), (5, 1), (4, 60)):
        query, document = map(word, lengths)
        ids, types = torch.tensor([made.pair(query, document)]), made.types(query, document)
        more = {"token_type_ids": torch.tensor([types])} if types else {}
        with torch.no_grad():
            cases.append({"query": query, "document": document,
                          "score": made.score(made.run(ids, attention_mask=torch.ones_like(ids), **more).logits)})
    write(folder / f"{made.name}.gguf", made, weights)
    (folder / f"{made.name}.json").write_text(json.dumps({"gguf": f"{made.name}.gguf", "cases": cases}, indent=1) + "\n")
    print(made.name, [case["score"] for case in cases])


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for kind in (Roberta, Bert, ModernBert, Qwen3):
        make(kind(), target)
