"""Decoders that transformers does not have, transcribed from their equations."""
import numpy as np

from arch_attending import Attending, Llamas
from arch_written import sigmoid, silu


class Small(Llamas):
    F = 32


def slopes(heads):  # of a power of two
    return 2.0 ** (-8 * (np.arange(heads) + 1) / heads)


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def routed(x, logits, expert, used):
    """Of every row the sum of its best experts, by their shares in the softmax of those."""
    out = np.zeros((len(x), expert(x[:1], 0).shape[1]))
    for t, row in enumerate(logits):
        chosen = np.argsort(-row)[:used]
        shares = np.exp(row[chosen] - row.max())
        for e, share in zip(chosen, shares / shares.sum()):
            out[t] += share * expert(x[t:t + 1], e)[0]
    return out


class Baichuan(Small):
    architecture, ADJACENT, L = "baichuan", True, 1


class Qwen(Small):
    """Twice the width of the MLP stands in the file."""
    architecture, L = "qwen", 1

    def layer(self, p):
        super().layer(p)
        for name, heads in (("q", self.H), ("k", self.G), ("v", self.G)):
            self.bias(p + "attn_" + name, heads * self.K)

    def keys(self):
        return super().keys() | {"feed_forward_length": 2 * self.F}


class Refact(Small):
    architecture, G, L = "refact", 1, 1

    def turned(self, heads, p):
        return heads

    def scores(self, scores, away, head):
        return scores / np.sqrt(self.K) - slopes(self.H)[head] * away


class Jais(Refact):
    """Layer norms and biases everywhere."""
    architecture, G = "jais", 4

    def __init__(self, seed):
        super().__init__(seed)
        self.norm("output_norm")

    def layer(self, p):
        self.projections(p), self.mlp(p), self.norm(p + "attn_norm"), self.norm(p + "ffn_norm")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            self.bias(p + name, len(self.weights[p + name + ".weight"]))

    def rms(self, x, name):
        return self.ln(x, name)

    def feed(self, h, p):
        return self.linear(silu(self.linear(h, p + "ffn_gate")) * self.linear(h, p + "ffn_up"), p + "ffn_down")

    def scores(self, scores, away, head):
        return scores / self.K - slopes(self.H)[head] * away

    def keys(self):
        keys = super().keys() | {"attention.max_alibi_bias": 8.0}
        return {key: value for key, value in keys.items() if "rms" not in key}


class Maincoder(Small):
    architecture, ADJACENT, L = "maincoder", True, 1

    def layer(self, p):
        super().layer(p)
        self.vector(p + "attn_q_norm", 0.5, 1.5, self.K), self.vector(p + "attn_k_norm", 0.5, 1.5, self.K)

    def normed(self, heads, name):  # behind the rotation
        return self.rms(heads, name)


class OpenElm(Maincoder):
    """Layers of different heads, normed before the rotation."""
    architecture, ADJACENT, L, HEADS, GROUPS, WIDTHS = "openelm", False, 2, [2, 4], [1, 2], [32, 48]

    def layer(self, p):
        i = int(p.split(".")[1])
        self.H, self.G, self.F = self.HEADS[i], self.GROUPS[i], self.WIDTHS[i]
        super().layer(p)

    def prepared(self, heads, p, which):
        return self.rotated(self.rms(heads, p + f"attn_{which}_norm"))

    def keys(self):
        return super().keys() | {"attention.head_count": self.HEADS, "attention.head_count_kv": self.GROUPS,
                                 "feed_forward_length": self.WIDTHS}


class Nanbeige(Small):
    """Two turns through the layers, with the last norm between them."""
    architecture, ADJACENT = "nanbeige", True

    def keys(self):
        return super().keys() | {"num_loops": 2}

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for turn in range(2):
            for i in range(self.L):
                p = f"blk.{i}."
                x = x + self.attention(self.rms(x, p + "attn_norm"), p)
                x = x + self.feed(self.rms(x, p + "ffn_norm"), p)
            x = self.rms(x, "output_norm")
        return self.linear(x, "output")


class Plamo(Small):
    architecture, L = "plamo", 1

    def layer(self, p):
        super().layer(p)
        del self.weights[p + "ffn_norm.weight"]

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            h = self.rms(x, p + "attn_norm")
            x = x + self.attention(h, p) + self.feed(h, p)
        return self.linear(self.rms(x, "output_norm"), "output")


class Experts(Small):
    """Experts alone: gated, chosen by softmax, their weights brought to 1."""
    EXPERTS, USED, F = 4, 2, 16

    def mlp(self, p, suffix="", count=()):
        super().mlp(p, "_exps", (self.EXPERTS,))
        self.matrix(p + "ffn_gate_inp", (self.EXPERTS, self.E))

    def keys(self):
        return super().keys() | {"expert_count": self.EXPERTS, "expert_used_count": self.USED,
                                 "expert_feed_forward_length": self.F}

    act = staticmethod(silu)

    def expert(self, p):
        w = lambda name, e: self.weights[p + name + "_exps.weight"][e]
        return lambda x, e: (self.act(x @ w("ffn_gate", e).T) * (x @ w("ffn_up", e).T)) @ w("ffn_down", e).T


class SmallThinker(Experts):
    """The second layer looks through a window and rotates, the first sees everything and does not."""
    architecture = "smallthinker"
    act = staticmethod(lambda x: np.maximum(x, 0))

    def window(self, p):
        return 12 if p == "blk.1." else 10 ** 9

    def turned(self, heads, p):
        return self.rotated(heads) if p == "blk.1." else heads

    def keys(self):
        return super().keys() | {"attention.sliding_window": 12}

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            chosen_by = self.linear(x, p + "ffn_gate_inp")
            x = x + self.attention(self.rms(x, p + "attn_norm"), p)
            x = x + routed(self.rms(x, p + "ffn_norm"), chosen_by, self.expert(p), self.USED)
        return self.linear(self.rms(x, "output_norm"), "output")


class Arctic(Experts):
    """An MLP as wide as the model, and experts beside it that read the layer's input."""
    architecture, ADJACENT = "arctic", True

    def mlp(self, p, suffix="", count=()):
        super().mlp(p)
        for name in ("gate", "up", "down"):
            self.matrix(p + "ffn_" + name, (self.E, self.E))
        self.vector(p + "ffn_norm_exps", 0.7, 1.3)

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            beside = self.rms(x, p + "ffn_norm_exps")
            x = x + self.attention(self.rms(x, p + "attn_norm"), p)
            x = x + self.gated(self.rms(x, p + "ffn_norm"), p)
            x = x + routed(beside, self.linear(beside, p + "ffn_gate_inp"), self.expert(p), self.USED)
        return self.linear(self.rms(x, "output_norm"), "output")


class Grok(Experts):
    """The second: an MLP beside the experts."""
    architecture = "grok"
    act = staticmethod(gelu_tanh)

    def mlp(self, p, suffix="", count=()):
        super().mlp(p)
        for name, shape in (("gate", (self.F, self.E)), ("up", (self.F, self.E)), ("down", (self.E, self.F))):
            self.matrix(p + "ffn_" + name, shape)
        self.vector(p + "attn_output_norm", 0.7, 1.3), self.vector(p + "post_ffw_norm", 0.7, 1.3)

    def scores(self, scores, away, head):
        return 3 * np.tanh(scores * 0.3 / 3)

    def keys(self):
        return super().keys() | {"attention.output_scale": 0.3, "attn_logit_softcapping": 3.0, "embedding_scale": 2.0,
                                 "logit_scale": 0.8, "final_logit_softcapping": 4.0}

    def logits(self, tokens):
        x = 2 * self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            x = x + self.rms(self.attention(self.rms(x, p + "attn_norm"), p), p + "attn_output_norm")
            h = self.rms(x, p + "ffn_norm")
            w = lambda name: self.weights[p + "ffn_" + name + ".weight"].T
            mlp = (gelu_tanh(h @ w("gate")) * (h @ w("up"))) @ w("down")
            beside = routed(h, self.linear(h, p + "ffn_gate_inp"), self.expert(p), self.USED)
            x = x + self.rms((mlp + beside) / np.sqrt(2), p + "post_ffw_norm")
        return 4 * np.tanh(0.8 * self.linear(self.rms(x, "output_norm"), "output") / 4)


class Spark25(Small):
    architecture = "spark2_5"

    def layer(self, p):
        super().layer(p)
        self.matrix(p + "attn_gate", (self.H, self.E))

    def window(self, p):
        return 12 if p == "blk.0." else 10 ** 9

    def attention(self, h, p):
        gates = np.repeat(sigmoid(self.linear(h, p + "attn_gate")), self.K, axis=1)
        return self.linear(gates * self.attend(h, p), p + "attn_output")

    def keys(self):
        return super().keys() | {"attention.sliding_window": 12, "attention.sliding_window_pattern": [True, False]}


class Deci(Small):
    """Layers with attention, with a matrix in its place, and without either; the first without an MLP."""
    architecture, ADJACENT, L = "deci", True, 4

    def layer(self, p):
        super().layer(p)
        without = {"blk.0.": ("ffn",), "blk.1.": ("attn_q", "attn_k", "attn_v"), "blk.2.": ("attn",), "blk.3.": ()}[p]
        for name in [n for n in self.weights if n.startswith(p) and n[len(p):].startswith(without or ("-",))]:
            del self.weights[name]

    def keys(self):
        return super().keys() | {"attention.head_count": [4, 4, 0, 4], "attention.head_count_kv": [2, 0, 0, 2],
                                 "feed_forward_length": [0] + 3 * [self.F]}

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            if i == 1:
                x = x + self.linear(self.rms(x, p + "attn_norm"), p + "attn_output")
            elif i != 2:
                x = x + self.attention(self.rms(x, p + "attn_norm"), p)
            if i > 0:
                x = x + self.feed(self.rms(x, p + "ffn_norm"), p)
        return self.linear(self.rms(x, "output_norm"), "output")


class Plm(Small):
    """Latent attention whose keys and values come from one matrix, and a rectifier's square."""
    architecture, ADJACENT, G, NOPE, TURNED, RANK = "plm", True, 4, 8, 4, 16

    def projections(self, p):
        self.matrix(p + "attn_q", (self.H * (self.NOPE + self.TURNED), self.E))
        self.matrix(p + "attn_kv_a_mqa", (self.RANK + self.TURNED, self.E))
        self.vector(p + "attn_kv_a_norm", 0.7, 1.3, self.RANK)
        self.matrix(p + "attn_kv_b", (self.H * (self.NOPE + self.K), self.RANK))
        self.matrix(p + "attn_output", (self.E, self.H * self.K))

    def mlp(self, p, suffix="", count=()):
        self.matrix(p + "ffn_up", (self.F, self.E)), self.matrix(p + "ffn_down", (self.E, self.F))

    def feed(self, h, p):
        return self.linear(np.maximum(self.linear(h, p + "ffn_up"), 0) ** 2, p + "ffn_down")

    def attention(self, h, p):
        q = self.linear(h, p + "attn_q").reshape(len(h), self.H, -1)
        both = self.linear(h, p + "attn_kv_a_mqa")
        key = self.rotated(both[:, None, self.RANK:])
        latent = self.rms(both[:, :self.RANK], p + "attn_kv_a_norm", 1e-6)
        kv = self.linear(latent, p + "attn_kv_b").reshape(len(h), self.H, -1)
        turned, out = self.rotated(q[..., self.NOPE:]), []
        for head in range(self.H):
            scores = q[:, head, :self.NOPE] @ kv[:, head, :self.NOPE].T + turned[:, head] @ key[:, 0].T
            shares = np.exp(np.where(np.tri(len(h), dtype=bool), scores / np.sqrt(self.NOPE + self.TURNED), -np.inf))
            out.append(shares / shares.sum(1, keepdims=True) @ kv[:, head, self.NOPE:])
        return self.linear(np.hstack(out), p + "attn_output")

    def keys(self):
        return super().keys() | {"attention.kv_lora_rank": self.RANK, "attention.key_length": self.NOPE + self.TURNED,
                                 "attention.value_length": self.K}


WRITTEN = {"baichuan": Baichuan, "qwen": Qwen, "refact": Refact, "jais": Jais, "maincoder": Maincoder, "openelm": OpenElm,
           "nanbeige": Nanbeige, "plamo": Plamo, "smallthinker": SmallThinker, "arctic": Arctic, "grok": Grok,
           "spark2_5": Spark25, "deci": Deci, "plm": Plm}
