"""RWKV 6 and 7 and RetNet, written from their papers token by token."""
import numpy as np

from arch_written import Written, layer_norm, sigmoid, silu


class Rwkv(Written):
    def __init__(self, seed):
        super().__init__(seed)
        self.norm("token_embd_norm")
        for i in range(self.L):
            self.layer(f"blk.{i}.", i)

    def keys(self):
        return super().keys() | {"attention.head_count": 0, "wkv.head_size": self.HEAD}

    def common(self, p):
        E = self.E
        self.norm(p + "attn_norm"), self.norm(p + "attn_norm_2"), self.norm(p + "time_mix_ln")
        for name in ("receptance", "key", "value", "output"):
            self.matrix(p + "time_mix_" + name, (E, E))
        self.vector(p + "channel_mix_lerp_k", 0, 1)
        self.matrix(p + "channel_mix_key", (self.F, E)), self.matrix(p + "channel_mix_value", (E, self.F))

    def group_norm(self, y, p):  # of one token, over each head
        y = y.reshape(-1, self.HEAD)
        y = (y - y.mean(1, keepdims=True)) / np.sqrt(y.var(1, keepdims=True) + 64e-5)
        return y.reshape(-1) * self.weights[p + "time_mix_ln.weight"] + self.weights[p + "time_mix_ln.bias"]

    def logits(self, tokens):
        x = self.ln(self.weights["token_embd.weight"][tokens], "token_embd_norm")
        self.first_values = []
        for i in range(self.L):
            p = f"blk.{i}."
            x = x + self.time_mix(self.ln(x, p + "attn_norm"), p, i)
            x = self.after(x + self.channel_mix(self.ln(x, p + "attn_norm_2"), p), i)
        return self.ln(x, "output_norm") @ self.weights["output.weight"].T

    def after(self, x, i):
        return x

    @staticmethod
    def before(h):
        return np.vstack([np.zeros(h.shape[1]), h[:-1]])


class Rwkv6(Rwkv):
    """Peng et al. 2024 (arXiv 2404.05892), section 4.2: Finch."""
    architecture, LOW, HALVED = "rwkv6", 4, 2

    def keys(self):
        return super().keys() | {"time_mix_extra_dim": self.LOW, "time_decay_extra_dim": self.LOW,
                                 "rescale_every_n_layers": self.HALVED}

    def layer(self, p, i):
        E, low = self.E, self.LOW
        self.common(p)
        self.matrix(p + "time_mix_gate", (E, E)), self.matrix(p + "channel_mix_receptance", (E, E))
        self.vector(p + "channel_mix_lerp_r", 0, 1), self.vector(p + "time_mix_lerp_x", 0, 1)
        self.vector(p + "time_mix_lerp_fused", 0, 1, (5, E))
        self.matrix(p + "time_mix_w1", (5 * low, E)), self.matrix(p + "time_mix_w2", (5, E, low), 0.3)
        self.matrix(p + "time_mix_decay_w1", (low, E)), self.matrix(p + "time_mix_decay_w2", (E, low))
        self.vector(p + "time_mix_decay", -3, 1)
        self.vector(p + "time_mix_first", -1, 1, (E // self.HEAD, self.HEAD))

    def time_mix(self, h, p, i):
        w = lambda name: self.weights[p + "time_mix_" + name + ".weight"]
        s = self.before(h) - h
        low = np.tanh((h + s * w("lerp_x")) @ w("w1").T).reshape(len(h), 5, self.LOW)
        xw, xk, xv, xr, xg = (h + s * (w("lerp_fused")[j] + low[:, j] @ w("w2")[j].T) for j in range(5))
        r, k, v = xr @ w("receptance").T, xk @ w("key").T, xv @ w("value").T
        decay = np.exp(-np.exp(w("decay") + np.tanh(xw @ w("decay_w1").T) @ w("decay_w2").T))
        gate, K = silu(xg @ w("gate").T), self.HEAD
        out, state = np.zeros_like(h), np.zeros((self.E // K, K, K))
        for t in range(len(h)):
            y = np.zeros(self.E)
            for head in range(self.E // K):
                part = slice(head * K, head * K + K)
                kv = np.outer(k[t, part], v[t, part])
                y[part] = r[t, part] @ (np.diag(w("first")[head]) @ kv + state[head])
                state[head] = np.diag(decay[t, part]) @ state[head] + kv
            out[t] = self.group_norm(y, p) * gate[t]
        return out @ w("output").T

    def channel_mix(self, h, p):
        w = lambda name: self.weights[p + "channel_mix_" + name + ".weight"]
        s = self.before(h) - h
        k = np.maximum((h + s * w("lerp_k")) @ w("key").T, 0) ** 2
        return sigmoid((h + s * w("lerp_r")) @ w("receptance").T) * (k @ w("value").T)

    def after(self, x, i):
        return x / 2 if (i + 1) % self.HALVED == 0 else x


class Rwkv7(Rwkv):
    """Peng et al. 2025 (arXiv 2503.14456), section 4: Goose."""
    architecture, LOW, L = "rwkv7", 4, 3

    def keys(self):
        return super().keys() | {f"attention.{n}_lora_rank": self.LOW
                                 for n in ("decay", "iclr", "value_residual_mix", "gate")}

    def layer(self, p, i):
        E, low = self.E, self.LOW
        self.common(p)
        self.vector(p + "time_mix_lerp_fused", 0, 1, (6, E))
        for name in ("w", "a", "v", "g"):
            self.matrix(p + f"time_mix_{name}1", (low, E)), self.matrix(p + f"time_mix_{name}2", (E, low))
            if name != "g":
                self.vector(p + f"time_mix_{name}0", -2, 2)
        for name in ("k_k", "k_a", "r_k"):
            self.vector(p + "time_mix_" + name, 0.2, 1)

    def time_mix(self, h, p, i):
        w = lambda name: self.weights[p + "time_mix_" + name + ".weight"]
        low = lambda name, x, act: act(x @ w(name + "1").T) @ w(name + "2").T
        same = lambda x: x
        xr, xw, xk, xv, xa, xg = (h + (self.before(h) - h) * w("lerp_fused")[j] for j in range(6))
        r, k, v = xr @ w("receptance").T, xk @ w("key").T, xv @ w("value").T
        decay = np.exp(-np.exp(-0.5) * sigmoid(w("w0") + low("w", xw, np.tanh)))
        a, gate = sigmoid(w("a0") + low("a", xa, same)), low("g", xg, sigmoid)
        if i == 0:
            self.first_values = v
        else:
            v = v + (self.first_values - v) * sigmoid(w("v0") + low("v", xv, same))
        kappa, k = k * w("k_k"), k * (1 + (a - 1) * w("k_a"))
        out, K, state = np.zeros_like(h), self.HEAD, np.zeros((self.E // self.HEAD, self.HEAD, self.HEAD))
        for t in range(len(h)):
            y, bonus = np.zeros(self.E), np.zeros(self.E)
            for head in range(self.E // K):
                part = slice(head * K, head * K + K)
                unit = kappa[t, part] / np.linalg.norm(kappa[t, part])
                change = np.diag(decay[t, part]) - np.outer(unit, a[t, part] * unit)
                state[head] = state[head] @ change + np.outer(v[t, part], k[t, part])
                y[part] = state[head] @ r[t, part]
                bonus[part] = np.sum(r[t, part] * k[t, part] * w("r_k")[part]) * v[t, part]
            out[t] = (self.group_norm(y, p) + bonus) * gate[t]
        return out @ w("output").T

    def channel_mix(self, h, p):
        w = lambda name: self.weights[p + "channel_mix_" + name + ".weight"]
        return np.maximum((h + (self.before(h) - h) * w("lerp_k")) @ w("key").T, 0) ** 2 @ w("value").T


class RetNet(Written):
    """Sun et al. 2023 (arXiv 2307.08621), section 2: the parallel form; recurrent() is the other one."""
    architecture, HEADS, VALUE = "retnet", 4, 16

    def __init__(self, seed):
        super().__init__(seed)
        E, wide = self.E, self.HEADS * self.VALUE
        for i in range(self.L):
            p = f"blk.{i}."
            self.norm(p + "attn_norm"), self.norm(p + "ffn_norm")
            self.matrix(p + "attn_q", (E, E)), self.matrix(p + "attn_k", (E, E)), self.matrix(p + "attn_v", (wide, E))
            self.matrix(p + "attn_gate", (wide, E)), self.matrix(p + "attn_output", (E, wide))
            self.matrix(p + "ffn_up", (self.F, E)), self.matrix(p + "ffn_down", (E, self.F))

    def keys(self):
        return super().keys() | {"attention.head_count": self.HEADS, "attention.key_length": self.HEAD,
                                 "attention.value_length": self.VALUE, "attention.group_norm_epsilon": 1e-6,
                                 "rope.freq_base": 10000.0, "rope.dimension_count": self.HEAD}

    def turned(self, x):  # pairs (2i, 2i + 1) by position * base^(-2i / K)
        angle = np.outer(np.arange(len(x)), 10000.0 ** (-np.arange(0, self.HEAD, 2) / self.HEAD))
        cos, sin, out = np.cos(angle), np.sin(angle), np.empty_like(x)
        out[:, ::2], out[:, 1::2] = x[:, ::2] * cos - x[:, 1::2] * sin, x[:, ::2] * sin + x[:, 1::2] * cos
        return out

    @staticmethod
    def parallel(q, k, v, gamma):
        away = np.arange(len(q))[:, None] - np.arange(len(q))[None]
        return (q @ k.T * np.where(away >= 0, gamma ** np.maximum(away, 0), 0)) @ v

    @staticmethod
    def recurrent(q, k, v, gamma):
        state, out = np.zeros((k.shape[1], v.shape[1])), np.zeros((len(q), v.shape[1]))
        for t in range(len(q)):
            state = gamma * state + np.outer(k[t], v[t])
            out[t] = q[t] @ state
        return out

    def retention(self, h, p):
        w = lambda name: self.weights[p + "attn_" + name + ".weight"]
        q, k, v, y = h @ w("q").T, h @ w("k").T / np.sqrt(self.HEAD), h @ w("v").T, []
        for head in range(self.HEADS):
            K, U = slice(head * self.HEAD, (head + 1) * self.HEAD), slice(head * self.VALUE, (head + 1) * self.VALUE)
            heads = self.turned(q[:, K]), self.turned(k[:, K]), v[:, U], 1 - 2.0 ** (-5 - head)
            kept = self.parallel(*heads)
            assert np.allclose(kept, self.recurrent(*heads), atol=1e-12)
            y.append(layer_norm(kept, 1, 0, 1e-6))
        return (silu(h @ w("gate").T) * np.hstack(y)) @ w("output").T

    def logits(self, tokens):
        from math import erf, sqrt
        gelu = np.vectorize(lambda u: u / 2 * (1 + erf(u / sqrt(2))))
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            p = f"blk.{i}."
            x = x + self.retention(self.ln(x, p + "attn_norm"), p)
            h = self.ln(x, p + "ffn_norm")
            x = x + gelu(h @ self.weights[p + "ffn_up.weight"].T) @ self.weights[p + "ffn_down.weight"].T
        return self.ln(x, "output_norm") @ self.weights["output.weight"].T
