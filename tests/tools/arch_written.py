"""What the models of make_arch_cases.py share: weights by their names in the file, in float64."""
import numpy as np

V = 64


def bf16(x):
    """Rounded to bfloat16, so that files of any type could hold it."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def layer_norm(x, w, b, eps):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * w + b


class Written:
    """A model written out here: `weights` by GGUF name, in float64, and logits(tokens)."""
    E, L, HEAD, F, kind = 32, 2, 8, 16, "causal"

    def __init__(self, seed):
        self.random, self.weights = np.random.default_rng(seed), {}
        self.matrix("token_embd", (V, self.E), 0.5)
        self.norm("output_norm")
        self.matrix("output", (V, self.E), 0.4)

    def put(self, name, value):
        self.weights[name] = bf16(value).astype(np.float64)

    def matrix(self, name, shape, gain=None):
        self.put(name + ".weight", self.random.normal(size=shape) * (gain or 1 / np.sqrt(shape[-1])))

    def vector(self, name, low, high, shape=None):
        self.put(name + ".weight", self.random.uniform(low, high, size=shape or self.E))

    def norm(self, name):
        self.put(name + ".weight", 1 + 0.2 * self.random.normal(size=self.E))
        self.put(name + ".bias", 0.1 * self.random.normal(size=self.E))

    def ln(self, x, name, eps=1e-5):
        return layer_norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"], eps)

    def keys(self):
        return {"context_length": 512, "embedding_length": self.E, "block_count": self.L, "feed_forward_length": self.F,
                "attention.layer_norm_epsilon": 1e-5}
