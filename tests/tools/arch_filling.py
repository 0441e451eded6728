"""Models that fill texts in by diffusion: what their equations make of a text of which every token sees every other."""
import numpy as np

from arch_written_more import Experts, Small


class Dream(Small):
    """Qwen 2 without its mask."""
    architecture, kind, L = "dream", "filling", 1

    def layer(self, p):
        super().layer(p)
        for name, heads in (("q", self.H), ("k", self.G), ("v", self.G)):
            self.bias(p + "attn_" + name, heads * self.K)


class Llada(Small):
    """Llama without its mask; neighbours turn together."""
    architecture, kind, ADJACENT, L = "llada", "filling", True, 1


class LladaMoe(Experts):
    """Experts are weighed by their shares of all."""
    architecture, kind, L, H, G, NORMALISED = "llada-moe", "filling", 1, 4, 4, False

    def layer(self, p):
        super().layer(p)
        self.vector(p + "attn_q_norm", 0.5, 1.5, self.K), self.vector(p + "attn_k_norm", 0.5, 1.5, self.K)

    def prepared(self, heads, p, which):
        return self.turned(self.rms(heads, p + f"attn_{which}_norm"), p)

    def feed(self, h, p):
        expert, out = self.expert(p), np.zeros_like(h)
        for t, row in enumerate(self.linear(h, p + "ffn_gate_inp")):
            shares = np.exp(row) / np.exp(row).sum()
            chosen = np.argsort(-shares)[:self.USED]
            for e in chosen:
                out[t] += shares[e] / (shares[chosen].sum() if self.NORMALISED else 1) * expert(h[t:t + 1], e)[0]
        return out


class Rnd1(LladaMoe):
    """Experts are weighed by their shares of the chosen ones."""
    architecture, G, NORMALISED = "rnd1", 2, True


FILLING = {"dream": Dream, "llada": Llada, "llada_moe": LladaMoe, "rnd1": Rnd1}
