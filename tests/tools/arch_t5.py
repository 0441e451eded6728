"""T5 and UMT5 from Raffel et al. 2020: an encoder, and a decoder that writes with the encoder's rows in view."""
import numpy as np

from arch_written import V, Written


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


class T5(Written):
    """Gated and tied, with buckets of its own in one layer (UMT5), other widths and other depths than usual."""
    architecture, kind, H, K, L, F, WRITES, BUCKETS = "t5", "seq2seq", 4, 12, 2, 48, 3, 16

    def __init__(self, seed):
        super().__init__(seed)
        for name in ("output_norm.weight", "output_norm.bias", "output.weight"):
            del self.weights[name]
        for side, depth in (("enc.", self.L), ("dec.", self.WRITES)):
            self.vector(side + "output_norm", 0.7, 1.3)
            for i in range(depth):
                self.layer(f"{side}blk.{i}.", side == "dec.")
            for i in {0, depth - 2}:
                self.matrix(f"{side}blk.{i}.attn_rel_b", (self.BUCKETS, self.H), 0.8)

    def layer(self, p, writes):
        for attention in ["attn_"] + ["cross_attn_"] * writes:
            self.vector(p + attention + "norm", 0.7, 1.3)
            for name in "qkv":
                self.matrix(p + attention + name, (self.H * self.K, self.E), 0.3 / np.sqrt(self.E) if name == "q" else 0)
            self.matrix(p + attention + "o", (self.E, self.H * self.K))
        self.vector(p + "ffn_norm", 0.7, 1.3)
        self.matrix(p + "ffn_gate", (self.F, self.E)), self.matrix(p + "ffn_up", (self.F, self.E))
        self.matrix(p + "ffn_down", (self.E, self.F))

    def keys(self):
        return {"context_length": 512, "embedding_length": self.E, "block_count": self.L, "feed_forward_length": self.F,
                "decoder_block_count": self.WRITES, "attention.head_count": self.H, "attention.key_length": self.K,
                "attention.value_length": self.K, "attention.relative_buckets_count": self.BUCKETS,
                "attention.layer_norm_epsilon": 1e-6, "attention.layer_norm_rms_epsilon": 1e-6,
                "decoder_start_token_id": 0}

    def rms(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * self.weights[name + ".weight"]

    def bucket(self, away, both_ways):  # of key - query
        count, start = self.BUCKETS, 0
        if both_ways:
            count, start = count // 2, count // 2 if away > 0 else 0
        away = abs(away) if both_ways else max(-away, 0)
        exact = count // 2
        if away < exact:
            return start + away
        share = np.log(away / exact) / np.log(128 / exact)
        return start + min(count - 1, exact + int(share * (count - exact)))

    def attend(self, h, seen, p, bias):  # bias [queries, keys, H]
        q, k, v = (x @ self.weights[p + n + ".weight"].T for x, n in ((h, "q"), (seen, "k"), (seen, "v")))
        out = []
        for head in range(self.H):
            part = slice(head * self.K, (head + 1) * self.K)
            scores = q[:, part] @ k[:, part].T + bias[..., head]
            shares = np.exp(scores - scores.max(1, keepdims=True))
            out.append(shares / shares.sum(1, keepdims=True) @ v[:, part])
        return np.hstack(out) @ self.weights[p + "o.weight"].T

    def distances(self, side, i, length):
        both_ways = side == "enc."
        own = f"{side}blk.{i}.attn_rel_b.weight"
        table = self.weights[own if own in self.weights else f"{side}blk.0.attn_rel_b.weight"]
        bias = np.array([[table[self.bucket(k - q, both_ways)] for k in range(length)] for q in range(length)])
        hidden = np.triu(np.ones((length, length), bool), 1) & (not both_ways)
        return np.where(hidden[..., None], -np.inf, bias)

    def through(self, side, depth, tokens, source=None):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(depth):
            p = f"{side}blk.{i}."
            h = self.rms(x, p + "attn_norm")
            x = x + self.attend(h, h, p + "attn_", self.distances(side, i, len(x)))
            if source is not None:
                h = self.rms(x, p + "cross_attn_norm")
                x = x + self.attend(h, source, p + "cross_attn_", np.zeros((len(x), len(source), self.H)))
            h = self.rms(x, p + "ffn_norm")
            w = lambda name: self.weights[p + name + ".weight"].T
            x = x + (gelu(h @ w("ffn_gate")) * (h @ w("ffn_up"))) @ w("ffn_down")
        return self.rms(x, side + "output_norm")

    def encoded(self, source):
        return self.through("enc.", self.L, source)

    def logits(self, tokens, source):
        x = self.through("dec.", self.WRITES, tokens, self.encoded(source))
        return x / np.sqrt(self.E) @ self.weights["token_embd.weight"].T
