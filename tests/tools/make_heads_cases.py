"""Makes tests/data/heads: a tiny decoder with Medusa's heads, and one with a block that predicts the token after the next,
whose output matrices are fitted so that they are right; and what a float64 transcription of them guesses.

    python3 make_heads_cases.py ../data/heads        # needs numpy and gguf
"""
import json
import pathlib
import sys

import numpy as np

from arch_written import V, silu
from arch_written_more import Small
from make_arch_cases import write_model


def fitted(x, y, steps=4000, rate=0.5):
    """Rows W so that softmax(x W') is likeliest at y."""
    w, wanted = np.zeros((V, x.shape[1])), np.eye(V)[y]
    for _ in range(steps):
        p = np.exp((z := x @ w.T) - z.max(1, keepdims=True))
        w -= rate * (p / p.sum(1, keepdims=True) - wanted).T @ x / len(x)
    return w


class Chain(Small):
    """Says the tokens from 3 on in the order of one long ring, wherever it begins."""
    architecture, ADJACENT, L, E, H, G, F, STEPS = "llama", True, 1, 16, 2, 1, 16, 4

    def __init__(self, seed):
        super().__init__(seed)
        ring = 3 + self.random.permutation(V - 3)
        self.after = np.arange(V)
        self.after[ring] = np.roll(ring, -1)
        self.texts = [list(self.random.integers(3, V, 12)) for _ in range(60)]
        for text in self.texts:
            for i in range(4, 12):  # half of it follows the ring
                text[i] = int(self.after[text[i - 1]])
        self.put("output.weight", 2 * fitted(self.joined(self.hidden), self.later(1)))
        self.heads()

    def matrix(self, name, shape, gain=None):
        super().matrix(name, shape, 0.1 if name.endswith(("attn_output", "ffn_down")) else gain)

    def joined(self, rows):
        return np.vstack([rows(text) for text in self.texts])

    def later(self, steps, first=0):
        y = np.concatenate([text[first:] for text in self.texts])
        for _ in range(steps):
            y = self.after[y]
        return y

    def layer_of(self, x, p):
        x = x + self.attention(self.rms(x, p + "attn_norm"), p)
        return x + self.feed(self.rms(x, p + "ffn_norm"), p)

    def hidden(self, tokens):
        x = self.weights["token_embd.weight"][tokens]
        for i in range(self.L):
            x = self.layer_of(x, f"blk.{i}.")
        return self.rms(x, "output_norm")

    def logits(self, tokens):
        return self.hidden(tokens) @ self.weights["output.weight"].T


class Medusa(Chain):
    """Head k: output(h + silu(linear(h))) is about the token k + 1 after the next."""
    name, HEADS = "medusa", 3

    def heads(self):
        for k in range(self.HEADS):
            self.matrix(f"medusa.{k}.0", (self.E, self.E), 0.5)
            self.bias(f"medusa.{k}.0", self.E)
            self.put(f"medusa.{k}.output.weight", 2 * fitted(self.joined(lambda text: self.features(text, k)), self.later(k + 2)))

    def features(self, tokens, k):
        h = self.hidden(tokens)
        return h + silu(self.linear(h, f"medusa.{k}.0"))

    def head_logits(self, tokens, following):
        return np.hstack([self.features(tokens, k) @ self.weights[f"medusa.{k}.output.weight"].T for k in range(self.HEADS)])

    def guess(self, tokens, following):
        return [int(row.argmax()) for row in self.head_logits(tokens, following)[-1].reshape(self.HEADS, V)]


class NextToken(Chain):
    """Of h_i and token i + 1: layer(eh_proj [enorm(token); hnorm(h)]), normed, is the next h and says token i + 2."""
    name = "nextn"

    def heads(self):
        p = f"blk.{self.L}."
        self.layer(p)
        self.put(p + "nextn.eh_proj.weight", np.hstack([np.eye(self.E), 0.2 * self.random.normal(size=(self.E, self.E))]))
        for norm in ("enorm", "hnorm", "shared_head_norm"):
            self.vector(p + "nextn." + norm, 0.7, 1.3)
        rows = lambda text: self.made(self.hidden(text[:-1]), text[1:])
        self.put(p + "nextn.shared_head_head.weight", 2 * fitted(self.joined(rows), self.later(1, first=1)))

    def keys(self):
        return super().keys() | {"block_count": self.L + 1, "nextn_predict_layers": 1}

    def made(self, hidden, tokens):
        p = f"blk.{self.L}."
        token = self.rms(self.weights["token_embd.weight"][tokens], p + "nextn.enorm")
        x = self.linear(np.hstack([token, self.rms(hidden, p + "nextn.hnorm")]), p + "nextn.eh_proj")
        return self.rms(self.layer_of(x, p), p + "nextn.shared_head_norm")

    def head_logits(self, tokens, following):
        return self.made(self.hidden(tokens), tokens[1:] + [following]) @ self.weights[f"blk.{self.L}.nextn.shared_head_head.weight"].T

    def guess(self, tokens, following):
        hidden, said = self.hidden(tokens), tokens[1:] + [following]
        for _ in range(self.STEPS):
            made = self.made(hidden, said)
            said = said + [int((made[-1] @ self.weights[f"blk.{self.L}.nextn.shared_head_head.weight"].T).argmax())]
            hidden = np.vstack([hidden, made[-1:]])
        return said[len(tokens):]


def case(made, tokens, with_logits):
    following = int(made.logits(tokens)[-1].argmax())
    logits = [round(float(x), 3) for x in made.head_logits(tokens, following)[-1]]
    return {"tokens": tokens, "next": following, "guess": made.guess(tokens, following)} | ({"logits": logits} if with_logits else {})


if __name__ == "__main__":
    folder, cases = pathlib.Path(sys.argv[1]), {}
    for family in (Medusa, NextToken):
        made = family(7)
        write_model(folder / f"{made.name}.gguf", made)
        cases[made.name] = [case(made, [int(t) for t in text], i == 0) for i, text in enumerate(made.texts[:3])]
        for one in cases[made.name]:
            right, token = 0, one["next"]
            for guessed in one["guess"]:
                token = int(made.after[token])
                right += guessed == token
            print(made.name, "next", one["next"] == made.after[one["tokens"][-1]], right, "of", len(one["guess"]), "guesses right")
    (folder / "heads.json").write_text(json.dumps(cases) + "\n")
