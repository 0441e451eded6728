"""Decoders and encoders that transformers does not have, transcribed from their equations: those with states, and those that
share a class with others in the library."""
import numpy as np

from arch_encoders import NeoBert
from arch_recurrent import Rwkv6, Rwkv7
from arch_written import V, sigmoid, silu
from arch_written_more import Small, SmallThinker, routed, slopes


class Plamo3(Small):
    """Norms around every block; the first layer rotates faster, behind a window."""
    architecture, BASE = "plamo3", 10000.0

    def layer(self, p):
        for name, rows in (("attn_qkv", (self.H + 2 * self.G) * self.K), ("ffn_up", 2 * self.F)):
            self.matrix(p + name, (rows, self.E))
        self.matrix(p + "attn_output", (self.E, self.H * self.K)), self.matrix(p + "ffn_down", (self.E, self.F))
        for name in ("attn_norm", "ffn_norm"):
            self.vector(p + name, 0.7, 1.3)
        for name in ("post_attention_norm", "post_ffw_norm"):  # which these files write without ".weight"
            self.put(p + name, self.random.uniform(0.7, 1.3, size=self.E))
        self.gains(p)

    def gains(self, p):
        self.vector(p + "attn_q_norm", 0.5, 1.5, self.K), self.vector(p + "attn_k_norm", 0.5, 1.5, self.K)

    def window(self, p):
        return 12 if p == "blk.0." else 10 ** 9

    def linear(self, x, name):
        if name[-2:] in ("_q", "_k", "_v") and name[:-1] + "qkv.weight" in self.weights:
            ends = np.cumsum([0, self.H, self.G, self.G]) * self.K
            which = "qkv".index(name[-1])
            return x @ self.weights[name[:-1] + "qkv.weight"][ends[which]:ends[which + 1]].T
        return super().linear(x, name)

    def prepared(self, heads, p, which):
        return self.turned(self.rms(heads, p + f"attn_{which}_norm"), p)

    def turned(self, heads, p):
        half = self.K // 2
        base = self.BASE if p != "blk.0." else 100.0
        angle = np.outer(np.arange(len(heads)), base ** (-np.arange(half) / half))[:, None]
        a, b = heads[..., :half], heads[..., half:]
        return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], -1)

    def feed(self, h, p):
        gate, up = np.split(self.linear(h, p + "ffn_up"), 2, axis=1)
        return self.linear(silu(gate) * up, p + "ffn_down")

    def mix(self, h, p):
        return self.attention(h, p)

    def bare(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.weights[name]

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            x = x + self.bare(self.mix(self.rms(x, p + "attn_norm"), p), p + "post_attention_norm")
            x = x + self.bare(self.feed(self.rms(x, p + "ffn_norm"), p), p + "post_ffw_norm")
        return self.linear(self.rms(x, "output_norm"), "output")

    def keys(self):
        return super().keys() | {"attention.sliding_window": 12, "attention.sliding_window_pattern": [True, False],
                                 "rope.freq_base_swa": 100.0}


class Plamo2(Plamo3):
    """The first layer is a state space with heads, whose input and gate lie side by side in each head."""
    architecture, SSM_HEADS, INNER, STATE, RANK, TAPS = "plamo2", 4, 32, 8, 64, 4

    def layer(self, p):
        super().layer(p)
        if p != "blk.0.":
            return
        for name in [n for n in self.weights if n.startswith(p + "attn_") and not n.endswith("attn_norm.weight")]:
            del self.weights[name]
        self.matrix(p + "ssm_in", (2 * self.INNER, self.E)), self.matrix(p + "ssm_out", (self.E, self.INNER))
        self.matrix(p + "ssm_x", (2 * self.STATE + self.RANK, self.INNER)), self.matrix(p + "ssm_conv1d", (self.INNER, self.TAPS))
        self.matrix(p + "ssm_dt", (self.SSM_HEADS, self.RANK)), self.bias(p + "ssm_dt", self.SSM_HEADS)
        self.put(p + "ssm_a", -self.random.uniform(0.3, 2, size=self.SSM_HEADS))
        self.put(p + "ssm_d", self.random.normal(size=self.SSM_HEADS))
        for name, size in (("dt", self.RANK), ("b", self.STATE), ("c", self.STATE)):
            self.put(p + f"ssm_{name}_norm", self.random.uniform(0.7, 1.3, size=size))

    def gains(self, p):  # one for each head
        self.matrix(p + "attn_q_norm", (self.H, self.K), 1), self.matrix(p + "attn_k_norm", (self.G, self.K), 1)

    def window(self, p):
        return 10 ** 9

    def mix(self, h, p):
        if p != "blk.0.":
            return self.attention(h, p)
        heads, size, n = self.SSM_HEADS, self.INNER // self.SSM_HEADS, self.STATE
        both = self.linear(h, p + "ssm_in").reshape(len(h), heads, 2, size)
        gate, x = both[:, :, 0], both[:, :, 1].reshape(len(h), -1)
        padded = np.vstack([np.zeros((self.TAPS - 1, self.INNER)), x])
        x = silu(sum(padded[k:k + len(h)] * self.weights[p + "ssm_conv1d.weight"][:, k] for k in range(self.TAPS)))
        all = self.linear(x, p + "ssm_x")
        b, c = self.bare(all[:, :n], p + "ssm_b_norm"), self.bare(all[:, n:2 * n], p + "ssm_c_norm")
        step = np.log1p(np.exp(self.linear(self.bare(all[:, 2 * n:], p + "ssm_dt_norm"), p + "ssm_dt")))
        x, state, out = x.reshape(len(h), heads, size), np.zeros((heads, size, n)), np.zeros((len(h), heads, size))
        for t in range(len(h)):
            kept = np.exp(step[t] * self.weights[p + "ssm_a"])[:, None, None]
            state = kept * state + (step[t][:, None] * x[t])[..., None] * b[t]
            out[t] = state @ c[t] + self.weights[p + "ssm_d"][:, None] * x[t]
        return self.linear((silu(gate) * out).reshape(len(h), -1), p + "ssm_out")

    def keys(self):
        keys = {k: v for k, v in super().keys().items() if "sliding" not in k and "swa" not in k}
        return keys | {"attention.head_count": [0, self.H], "attention.head_count_kv": [0, self.G], "ssm.inner_size": self.INNER,
                       "ssm.state_size": self.STATE, "ssm.conv_kernel": self.TAPS, "ssm.time_step_rank": self.SSM_HEADS,
                       "ssm.group_count": 0}


class Arwkv7(Rwkv7):
    """The time mixing of RWKV 7 with neither gates nor a norm, between root mean squares, and a gated MLP."""
    architecture = "arwkv7"

    def __init__(self, seed):
        super().__init__(seed)
        for name in ("token_embd_norm.weight", "token_embd_norm.bias", "output_norm.bias"):
            del self.weights[name]

    def keys(self):
        keys = super().keys() | {"attention.layer_norm_rms_epsilon": 1e-5}
        return {k: v for k, v in keys.items() if k not in ("attention.layer_norm_epsilon", "attention.gate_lora_rank")}

    def layer(self, p, i):
        super().layer(p, i)
        unused = ("channel_mix", "attn_norm", "time_mix_ln", "time_mix_g", "time_mix_lerp")
        for name in [n for n in self.weights if n.startswith(tuple(p + u for u in unused))]:
            del self.weights[name]
        self.vector(p + "time_mix_lerp_fused", 0, 1, (5, self.E))
        self.vector(p + "attn_norm", 0.7, 1.3), self.vector(p + "ffn_norm", 0.7, 1.3)
        for name, shape in (("gate", (self.F, self.E)), ("up", (self.F, self.E)), ("down", (self.E, self.F))):
            self.matrix(p + "ffn_" + name, shape)

    def ln(self, x, name, eps=1e-5):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * self.weights[name + ".weight"]

    def logits(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            w = lambda name: self.weights[p + "ffn_" + name + ".weight"].T
            x = x + self.time_mix(self.ln(x, p + "attn_norm"), p, i)
            h = self.ln(x, p + "ffn_norm")
            x = x + (silu(h @ w("gate")) * (h @ w("up"))) @ w("down")
        return self.ln(x, "output_norm") @ self.weights["output.weight"].T

    def time_mix(self, h, p, i):
        w = lambda name: self.weights[p + "time_mix_" + name + ".weight"]
        low = lambda name, x, act: act(x @ w(name + "1").T) @ w(name + "2").T
        same = lambda x: x
        xr, xw, xk, xv, xa = (h + (self.before(h) - h) * w("lerp_fused")[j] for j in range(5))
        r, k, v = xr @ w("receptance").T, xk @ w("key").T, xv @ w("value").T
        decay = np.exp(-np.exp(-0.5) * sigmoid(w("w0") + low("w", xw, np.tanh)))
        a = sigmoid(w("a0") + low("a", xa, same))
        if i == 0:
            self.first_values = v
        else:
            v = v + (self.first_values - v) * sigmoid(w("v0") + low("v", xv, same))
        kappa, k = k * w("k_k"), k * (1 + (a - 1) * w("k_a"))
        out, K = np.zeros_like(h), self.HEAD
        for head in range(self.E // K):
            part, state = slice(head * K, head * K + K), np.zeros((K, K))
            for t in range(len(h)):
                unit = kappa[t, part] / np.linalg.norm(kappa[t, part])
                state = state @ (np.diag(decay[t, part]) - np.outer(unit, a[t, part] * unit)) + np.outer(v[t, part], k[t, part])
                out[t, part] = state @ r[t, part] + np.sum(r[t, part] * k[t, part] * w("r_k")[part]) * v[t, part]
        return out @ w("output").T


class Rwkv6Qwen2(Rwkv6):
    """Gated linear attention between root mean squares, whose queries' heads share those of keys and values, and a gated MLP."""
    architecture, KV = "rwkv6qwen2", 2

    def __init__(self, seed):
        super().__init__(seed)
        for name in ("token_embd_norm.weight", "token_embd_norm.bias", "output_norm.bias"):
            del self.weights[name]

    def keys(self):
        keys = super().keys() | {"attention.layer_norm_rms_epsilon": 1e-5, "attention.head_count_kv": self.KV,
                                 "token_shift_count": 1}
        return {k: v for k, v in keys.items() if k not in ("attention.layer_norm_epsilon", "rescale_every_n_layers")}

    def layer(self, p, i):
        super().layer(p, i)
        unused = ("channel_mix", "attn_norm", "time_mix_ln", "time_mix_first")
        for name in [n for n in self.weights if n.startswith(tuple(p + u for u in unused))]:
            del self.weights[name]
        for name, rows in (("key", self.KV * self.HEAD), ("value", self.KV * self.HEAD), ("receptance", self.E)):
            self.matrix(p + "time_mix_" + name, (rows, self.E))
            self.put(p + f"time_mix_{name}.bias", 0.2 * self.random.normal(size=rows))
        self.vector(p + "attn_norm", 0.7, 1.3), self.vector(p + "ffn_norm", 0.7, 1.3)
        for name, shape in (("gate", (self.F, self.E)), ("up", (self.F, self.E)), ("down", (self.E, self.F))):
            self.matrix(p + "ffn_" + name, shape)

    def logits(self, tokens):
        rms = lambda x, name: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.weights[name + ".weight"]
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            w = lambda name: self.weights[p + "ffn_" + name + ".weight"].T
            x = x + self.time_mix(rms(x, p + "attn_norm"), p, i)
            h = rms(x, p + "ffn_norm")
            x = x + (silu(h @ w("gate")) * (h @ w("up"))) @ w("down")
        return rms(x, "output_norm") @ self.weights["output.weight"].T

    def time_mix(self, h, p, i):
        w = lambda name: self.weights[p + "time_mix_" + name + ".weight"]
        linear = lambda x, name: x @ w(name).T + self.weights.get(p + f"time_mix_{name}.bias", 0)
        s, K, heads = self.before(h) - h, self.HEAD, self.E // self.HEAD
        low = np.tanh((h + s * w("lerp_x")) @ w("w1").T).reshape(len(h), 5, self.LOW)
        xw, xk, xv, xr, xg = (h + s * (w("lerp_fused")[j] + low[:, j] @ w("w2")[j].T) for j in range(5))
        decay = np.exp(-np.exp(w("decay") + np.tanh(xw @ w("decay_w1").T) @ w("decay_w2").T)).reshape(len(h), heads, K)
        r = linear(xr, "receptance").reshape(len(h), heads, K)
        k, v = (np.repeat(linear(x, name).reshape(len(h), self.KV, K), heads // self.KV, 1)
                for x, name in ((xk, "key"), (xv, "value")))
        state, out = np.zeros((heads, K, K)), np.zeros((len(h), heads, K))
        for t in range(len(h)):
            new = np.einsum("hi,hj->hij", k[t] * (1 - decay[t]), v[t])
            state = decay[t][..., None] * state + new
            out[t] = np.einsum("hi,hij->hj", r[t], state) / np.sqrt(K)
        return (out.reshape(len(h), -1) * sigmoid(linear(xg, "gate"))) @ w("output").T


class Talkie(Small):
    """No gains but one for each head of the queries; the normed embedding is added on every layer."""
    architecture = "talkie"

    def __init__(self, seed):
        super().__init__(seed)
        del self.weights["output_norm.weight"]

    def layer(self, p):
        self.projections(p), self.mlp(p)
        self.put(p + "attn_q_norm.weight", self.random.uniform(0.5, 2, size=(self.H, 1)))
        self.put(p + "layer_output_scale.weight", self.random.uniform(0.2, 0.8, size=1))
        for name in ("attn_output", "ffn_down"):
            self.put(p + name + ".scale", self.random.uniform(0.5, 2, size=1))

    @staticmethod
    def unit(x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)

    def linear(self, x, name):
        return super().linear(x, name) * self.weights.get(name + ".scale", 1)

    def prepared(self, heads, p, which):
        return self.unit(self.rotated(heads)) * (self.weights[p + "attn_q_norm.weight"] if which == "q" else 1)

    def logits(self, tokens):
        x = first = self.unit(self.weights["token_embd.weight"][tokens])
        for i in range(self.L):
            p = f"blk.{i}."
            x = x + self.attention(self.unit(x), p)
            h = self.unit(x)
            fed = self.linear(silu(self.linear(h, p + "ffn_gate")) * self.linear(h, p + "ffn_up"), p + "ffn_down")
            x = x + fed + self.weights[p + "layer_output_scale.weight"] * first
        return 0.7 * self.linear(self.unit(x), "output")

    def keys(self):
        return super().keys() | {"logit_scale": 0.7}


class Baichuan13B(Small):
    """Told from the smaller one by its 40 layers: slopes over distances instead of rotation."""
    architecture, L, E, H, G, K, F = "baichuan", 40, 8, 2, 2, 4, 8

    def turned(self, heads, p):
        return heads

    def scores(self, scores, away, head):
        return scores / np.sqrt(self.K) - slopes(self.H)[head] * away

    def keys(self):
        return {k: v for k, v in super().keys().items() if "rope" not in k}


class PanguEmbedded(Small):
    """Biases on every matrix of attention."""
    architecture, L = "pangu-embedded", 1

    def layer(self, p):
        super().layer(p)
        for name, size in (("q", self.H * self.K), ("k", self.G * self.K), ("v", self.G * self.K), ("output", self.E)):
            self.bias(p + "attn_" + name, size)


class LlamaEmbed(NeoBert):
    """Llama in which everything is in view."""
    architecture = "llama-embed"

    def __init__(self, seed):
        super().__init__(seed)
        self.weights["output_norm.weight"] = self.weights.pop("enc.output_norm.weight")

    def mlp(self, p, suffix="", count=()):
        Small.mlp(self, p)

    def feed(self, h, p):
        return self.gated(h, p)

    def rms(self, x, name):
        return super().rms(x, name.removeprefix("enc."))


class Maple(SmallThinker):
    """Routed by what the experts read; gates are bounded before their activation."""
    architecture, LIMIT = "maple", 0.5

    def layer(self, p):
        super().layer(p)
        self.vector(p + "attn_q_norm", 0.5, 1.5, self.K), self.vector(p + "attn_k_norm", 0.5, 1.5, self.K)

    def prepared(self, heads, p, which):
        return self.turned(self.rms(heads, p + f"attn_{which}_norm"), p)

    def expert(self, p):
        w = lambda name, e: self.weights[p + f"ffn_{name}_exps.weight"][e]
        return lambda h, e: (silu(np.minimum(h @ w("gate", e).T, self.LIMIT))
                             * np.clip(h @ w("up", e).T, -self.LIMIT, self.LIMIT)) @ w("down", e).T

    def feed(self, h, p):
        return routed(h, self.linear(h, p + "ffn_gate_inp"), self.expert(p), self.USED)

    def logits(self, tokens):
        return Small.logits(self, tokens)

    def keys(self):
        return super().keys() | {"attention.sliding_window_pattern": [False, True], "swiglu_clamp_exp": [self.LIMIT] * self.L}


RECENT_WRITTEN = {"maple": Maple, "plamo2": Plamo2, "plamo3": Plamo3, "arwkv7": Arwkv7, "rwkv6qwen2": Rwkv6Qwen2, "talkie": Talkie,
                  "baichuan_13b": Baichuan13B, "pangu_embedded": PanguEmbedded, "llama_embed": LlamaEmbed}
