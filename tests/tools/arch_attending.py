"""Decoders with attention, transcribed from their equations, not from their modeling files."""
import numpy as np

from arch_written import V, Written, silu


class Attending(Written):
    """Decoders with attention, as their equations are usually given."""
    H, G, K, TURNED, ADJACENT, WINDOW, EXPERTS = 4, 2, 8, 8, False, 10 ** 9, 0

    def __init__(self, seed):
        super().__init__(seed)
        for i in range(self.L):
            self.layer(f"blk.{i}.")

    def keys(self):
        return super().keys() | {"attention.head_count": self.H, "attention.head_count_kv": self.G,
                                 "attention.key_length": self.K, "attention.value_length": self.K,
                                 "attention.layer_norm_rms_epsilon": 1e-5, "rope.dimension_count": self.TURNED,
                                 "rope.freq_base": 10000.0}

    def bias(self, name, size):
        self.put(name + ".bias", 0.2 * self.random.normal(size=size))

    def projections(self, p):
        for name, heads in (("q", self.H), ("k", self.G), ("v", self.G)):
            self.matrix(p + "attn_" + name, (heads * self.K, self.E))
        self.matrix(p + "attn_output", (self.E, self.H * self.K))

    def mlp(self, p, suffix="", count=()):
        self.matrix(p + "ffn_gate" + suffix, (*count, self.F, self.E))
        self.matrix(p + "ffn_up" + suffix, (*count, self.F, self.E))
        self.matrix(p + "ffn_down" + suffix, (*count, self.E, self.F))

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights.get(name + ".bias", 0)

    def rms(self, x, name, eps=1e-5):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * self.weights[name + ".weight"]

    def rotated(self, x):  # [T, heads, K]
        half = self.TURNED // 2
        angle = np.outer(np.arange(len(x)), 10000.0 ** (-np.arange(half) / half))[:, None]
        first, second = ((slice(0, self.TURNED, 2), slice(1, self.TURNED, 2)) if self.ADJACENT
                         else (slice(0, half), slice(half, self.TURNED)))
        out = x.copy()
        out[..., first] = x[..., first] * np.cos(angle) - x[..., second] * np.sin(angle)
        out[..., second] = x[..., first] * np.sin(angle) + x[..., second] * np.cos(angle)
        return out

    def normed(self, heads, name):
        return heads

    def turned(self, heads, p):
        return self.rotated(heads)

    def prepared(self, heads, p, which):
        return self.normed(self.turned(heads, p), p + f"attn_{which}_norm")

    def window(self, p):
        return self.WINDOW

    def scores(self, scores, away, head):
        return scores / np.sqrt(self.K)

    def attend(self, h, p):
        q, k, v = (self.linear(h, p + "attn_" + n).reshape(len(h), -1, self.K) for n in "qkv")
        q, k = self.prepared(q, p, "q"), self.prepared(k, p, "k")
        away, out = np.arange(len(h))[:, None] - np.arange(len(h))[None], []
        for head in range(q.shape[1]):
            group = head // (q.shape[1] // k.shape[1])
            scores = self.scores(q[:, head] @ k[:, group].T, away, head)
            shares = np.exp(np.where(((away >= 0) | (self.kind != "causal")) & (away < self.window(p)), scores, -np.inf))
            out.append(shares / shares.sum(1, keepdims=True) @ v[:, group])
        return np.hstack(out)

    def attention(self, h, p):
        return self.linear(self.attend(h, p), p + "attn_output")

    def gated(self, h, p, suffix="", expert=None):
        w = lambda name: self.weights[p + name + suffix + ".weight"][... if expert is None else expert]
        return (silu(h @ w("ffn_gate").T) * (h @ w("ffn_up").T)) @ w("ffn_down").T


class Llamas(Attending):
    """x += attention(rms(x)); x += mlp(rms(x))"""

    def __init__(self, seed):
        super().__init__(seed)
        del self.weights["output_norm.bias"]

    def layer(self, p):
        self.projections(p)
        for name in ("attn_norm", "ffn_norm"):
            self.vector(p + name, 0.7, 1.3)
        self.mlp(p)

    def feed(self, h, p):
        return self.gated(h, p)

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            x = x + self.attention(self.rms(x, p + "attn_norm"), p)
            x = x + self.feed(self.rms(x, p + "ffn_norm"), p)
        return self.linear(self.rms(x, "output_norm"), "output")


class MistralWindow(Llamas):
    architecture, WINDOW, ADJACENT = "mistral", 12, True  # files hold the rows of q and k in adjacent pairs

    def keys(self):
        return super().keys() | {"attention.sliding_window": self.WINDOW}


class HunyuanDense(Llamas):
    architecture = "hunyuan-dense"

    def layer(self, p):
        super().layer(p)
        self.vector(p + "attn_q_norm", 0.5, 1.5, self.K), self.vector(p + "attn_k_norm", 0.5, 1.5, self.K)
        for name, heads in (("q", self.H), ("k", self.G), ("v", self.G)):
            self.bias(p + "attn_" + name, heads * self.K)

    def normed(self, heads, name):  # behind the rotation
        return self.rms(heads, name)


class HunyuanMoe(HunyuanDense):
    architecture, EXPERTS, USED, F = "hunyuan-moe", 4, 2, 16

    def mlp(self, p, suffix="", count=()):
        super().mlp(p, "_shexp"), super().mlp(p, "_exps", (self.EXPERTS,))
        self.matrix(p + "ffn_gate_inp", (self.EXPERTS, self.E))

    def keys(self):
        return super().keys() | {"expert_count": self.EXPERTS, "expert_used_count": self.USED,
                                 "expert_feed_forward_length": self.F, "expert_shared_feed_forward_length": self.F}

    def feed(self, h, p):
        shares = np.exp(self.linear(h, p + "ffn_gate_inp"))
        out = self.gated(h, p, "_shexp")
        for t, row in enumerate(shares / shares.sum(1, keepdims=True)):
            chosen = np.argsort(-row)[:self.USED]
            for e in chosen:
                out[t] += row[e] / row[chosen].sum() * self.gated(h[t], p, "_exps", e)
        return out


class GptJ(Attending):
    """x += attention(ln(x)) + mlp(ln(x))"""
    architecture, G, TURNED, ADJACENT = "gptj", 4, 4, True

    def layer(self, p):
        self.projections(p), self.norm(p + "attn_norm")
        self.matrix(p + "ffn_up", (self.F, self.E)), self.bias(p + "ffn_up", self.F)
        self.matrix(p + "ffn_down", (self.E, self.F)), self.bias(p + "ffn_down", self.E)
        self.bias("output", V)

    def keys(self):
        return {k: v for k, v in super().keys().items() if "rms" not in k}

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            h = self.ln(x, p + "attn_norm")
            u = self.linear(h, p + "ffn_up")
            u = u / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u ** 3)))
            x = x + self.attention(h, p) + self.linear(u, p + "ffn_down")
        return self.linear(self.ln(x, "output_norm"), "output")
