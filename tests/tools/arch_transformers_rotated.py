"""Models of the transformers package with random weights: Llama with each kind of scaled rotation."""
import numpy as np

from arch_transformers_more import Compact, permuted


class LlamaLinear(Compact):
    architecture, model, config, K, SCALING = "llama", "LlamaForCausalLM", "LlamaConfig", 16, {"rope_type": "linear", "factor": 4.0}
    KEYS = {"rope.dimension_count": 16, "rope.scaling.type": "linear", "rope.scaling.factor": 4.0}

    def __init__(self, seed):
        self.CONFIG = {"head_dim": 16, "rms_norm_eps": 1e-5, "rope_parameters": {"rope_theta": 10000.0} | self.SCALING}
        super().__init__(seed)

    def rename(self, name, value):
        heads = {"q_proj": self.H, "k_proj": self.G}.get(name.split(".")[-2])
        super().rename(name, permuted(value, heads) if heads else value)


class LlamaYarn(LlamaLinear):
    SCALING = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
    KEYS = LlamaLinear.KEYS | {"rope.scaling.type": "yarn", "rope.scaling.original_context_length": 64}


class Llama3(LlamaLinear):
    """Files hold what the frequencies are divided by."""
    SCALING = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64}
    KEYS = {"rope.dimension_count": 16, "rope.freq_base": 500000.0}

    def __init__(self, seed):
        super().__init__(seed)
        plain = 500000.0 ** (-np.arange(0, 16, 2) / 16)
        self.weights["rope_freqs.weight"] = plain / self.run.model.rotary_emb.inv_freq.numpy()


ROTATED = {"llama_rope_linear": LlamaLinear, "llama_rope_yarn": LlamaYarn, "llama_rope_llama3": Llama3}
