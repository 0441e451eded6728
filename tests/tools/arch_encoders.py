"""Encoders that transformers does not have, transcribed from their equations."""
import math

import numpy as np

from arch_attending import Attending
from arch_written import silu
from arch_written_more import Small, slopes


def gelu(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


class NeoBert(Small):
    """Gate and up in one matrix, and everything in view."""
    architecture, ADJACENT, kind, L = "neo-bert", True, "encoder", 1

    def __init__(self, seed):
        super().__init__(seed)
        del self.weights["output.weight"]
        self.weights["enc.output_norm.weight"] = self.weights.pop("output_norm.weight")

    def mlp(self, p, suffix="", count=()):
        self.matrix(p + "ffn_up", (2 * self.F, self.E)), self.matrix(p + "ffn_down", (self.E, self.F))

    def feed(self, h, p):
        gate, up = np.split(self.linear(h, p + "ffn_up"), 2, axis=1)
        return self.linear(silu(gate) * up, p + "ffn_down")

    def rows(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            x = x + self.attention(self.rms(x, p + "attn_norm"), p)
            x = x + self.feed(self.rms(x, p + "ffn_norm"), p)
        return self.rms(x, "enc.output_norm")


class PostBert(Attending):
    """x = ln(x + attention(x)); x = ln(x + mlp(x))"""
    kind, G, F = "encoder", 4, 32

    def __init__(self, seed):
        super().__init__(seed)
        for name in ("output_norm.weight", "output_norm.bias", "output.weight"):
            del self.weights[name]
        self.norm("token_embd_norm")
        self.matrix("token_types", (2, self.E), 0.3)

    def layer(self, p):
        self.projections(p), self.norm(p + "attn_output_norm"), self.norm(p + "layer_output_norm"), self.mlp(p)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            self.bias(p + name, self.E)

    def keys(self):
        keys = super().keys()
        return {key: value for key, value in keys.items() if "rms" not in key}

    def rows(self, tokens):
        x = self.weights["token_embd.weight"][tokens] + self.weights["token_types.weight"][0]
        x = self.ln(x, "token_embd_norm")
        for i in range(self.L):
            p = f"blk.{i}."
            x = self.ln(x + self.attention(x, p), p + "attn_output_norm")
            x = self.ln(x + self.feed(x, p), p + "layer_output_norm")
        return x


class JinaBertV2(PostBert):
    architecture, L = "jina-bert-v2", 1

    def turned(self, heads, p):
        return heads

    def scores(self, scores, away, head):
        return scores / np.sqrt(self.K) - slopes(self.H)[head] * np.abs(away)

    def feed(self, h, p):
        w = lambda name: self.weights[p + "ffn_" + name + ".weight"].T
        return (gelu(h @ w("gate")) * (h @ w("up"))) @ w("down") + self.weights[p + "ffn_down.bias"]

    def mlp(self, p, suffix="", count=()):
        super().mlp(p), self.bias(p + "ffn_down", self.E)


class NomicBertMoe(PostBert):
    """Every second layer has experts of two matrices, weighed by their shares of all."""
    architecture, EXPERTS, USED = "nomic-bert-moe", 4, 2

    def mlp(self, p, suffix="", count=()):
        count, suffix = ((self.EXPERTS,), "_exps") if p == "blk.1." else ((), "")
        self.matrix(p + "ffn_up" + suffix, (*count, self.F, self.E)), self.matrix(p + "ffn_down" + suffix, (*count, self.E, self.F))
        if count:
            self.matrix(p + "ffn_gate_inp", (self.EXPERTS, self.E))
        else:
            self.bias(p + "ffn_up", self.F), self.bias(p + "ffn_down", self.E)

    def feed(self, h, p):
        if p != "blk.1.":
            return self.linear(gelu(self.linear(h, p + "ffn_up")), p + "ffn_down")
        shares = np.exp(self.linear(h, p + "ffn_gate_inp"))
        shares /= shares.sum(1, keepdims=True)
        out = np.zeros_like(h)
        for t, row in enumerate(shares):
            for e in np.argsort(-row)[:self.USED]:
                up, down = (self.weights[p + f"ffn_{name}_exps.weight"][e] for name in ("up", "down"))
                out[t] += row[e] * (gelu(up @ h[t]) @ down.T)
        return out

    def keys(self):
        return super().keys() | {"expert_count": self.EXPERTS, "expert_used_count": self.USED, "moe_every_n_layers": 2}


ENCODERS = {"neo_bert": NeoBert, "jina_bert_v2": JinaBertV2, "nomic_bert_moe": NomicBertMoe}
