"""Models of the transformers package with random weights: those whose layers mix tokens in other ways than by attention, whose
experts work on a latent, or share small ones."""
import numpy as np
import torch

from arch_transformers_more import Compact, experts


class NemotronLatent(Compact):
    """Experts that work on a latent half as wide as the model; which of the layers are what is told by their sizes."""
    architecture, model, config = "nemotron_h_moe", "NemotronHForCausalLM", "NemotronHConfig"
    RENAMED = [(r"model\.embeddings", "token_embd"), (r"model\.norm_f", "output_norm"), (r"\.norm\.", ".attn_norm."),
               (r"mixer\.([qkv])_proj", r"attn_\1"), (r"mixer\.o_proj", "attn_output"), (r"mixer\.fc1_latent_proj", "ffn_latent_down"),
               (r"mixer\.fc2_latent_proj", "ffn_latent_up"), (r"mixer\.gate\.e_score_correction_bias", "exp_probs_b.bias"),
               (r"mixer\.gate", "ffn_gate_inp"), (r"mixer\.experts\.(\w+)_proj", r"ffn_\1_exps.weight"), (r"mixer\.", "")]
    CONFIG = {"layers_block_type": ["attention", "moe"], "head_dim": 8, "n_routed_experts": 4, "num_experts_per_tok": 2,
              "moe_intermediate_size": 16, "moe_shared_expert_intermediate_size": 24, "n_shared_experts": 1, "norm_topk_prob": True,
              "routed_scaling_factor": 1.5, "n_group": 1, "topk_group": 1, "moe_latent_size": 16, "mamba_num_heads": 8,
              "mamba_head_dim": 8, "n_groups": 2, "ssm_state_size": 16, "layer_norm_epsilon": 1e-5}
    KEYS = experts(expert_shared_count=1, expert_shared_feed_forward_length=24, expert_weights_scale=1.5, expert_weights_norm=True) | {
        "moe_latent_size": 16, "feed_forward_length": [0, 16], "attention.head_count_kv": [2, 0], "ssm.conv_kernel": 4,
        "ssm.state_size": 16, "ssm.group_count": 2, "ssm.inner_size": 64, "ssm.time_step_rank": 8,
        "attention.layer_norm_epsilon": 1e-5}

    def keys(self):
        self.run.config.rms_norm_eps = 1e-5
        return super().keys()


class FalconMamba(Compact):
    """Mamba whose inner norms have no gains, and an epsilon that no key of the file tells."""
    architecture, model, config, F = "mamba", "FalconMambaForCausalLM", "FalconMambaConfig", 64
    RENAMED = [(r"backbone\.embeddings", "token_embd"), (r"backbone\.norm_f", "output_norm"),
               (r"backbone\.layers\.(\d+)\.", r"blk.\1."), (r"\.norm\.", ".attn_norm."), (r"mixer\.conv1d", "ssm_conv1d"),
               (r"mixer\.in_proj", "ssm_in"), (r"mixer\.x_proj", "ssm_x"), (r"mixer\.dt_proj", "ssm_dt"),
               (r"mixer\.out_proj", "ssm_out"), (r"mixer\.A_log", "ssm_a"), (r"mixer\.D", "ssm_d")]
    CONFIG = {"state_size": 4, "conv_kernel": 4, "expand": 2, "time_step_rank": 4, "layer_norm_epsilon": 1e-2,
              "tie_word_embeddings": True}

    def drawn(self, name, shape):
        values = super().drawn(name, shape)
        return np.abs(values) if name.endswith("A_log") else values

    def rename(self, name, value):
        if name.endswith("A_log"):
            value = -np.exp(value)
        super().rename(name, value[:, 0] if name.endswith("conv1d.weight") else value)

    def keys(self):
        return {"context_length": 512, "embedding_length": 32, "block_count": 2, "feed_forward_length": 0, "attention.head_count": 0,
                "attention.layer_norm_rms_epsilon": 1e-2, "ssm.conv_kernel": 4, "ssm.state_size": 4, "ssm.inner_size": 64,
                "ssm.time_step_rank": 4, "ssm.dt_b_c_rms": True}

    def logits_of_halves(self, tokens):  # nothing is kept as half floats
        return self.logits(tokens)


class Stack(torch.nn.Module):
    def __init__(self, *shape):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(shape))


class Grove(torch.nn.Module):
    """The sum of weight * (expert e + 0.05 * small expert e / 2) over the chosen e, by inclusionAI's own modelling file."""

    def __init__(self, config, small=24):
        super().__init__()
        count, dim, hidden, self.used = config.num_experts, config.hidden_size, config.moe_intermediate_size, config.num_experts_per_tok
        self.ffn_gate_inp = torch.nn.Linear(dim, count, bias=False)
        for name, n, width in (("exps", count, hidden), ("chexps", count // 2, small)):
            for part in ("gate", "up"):
                setattr(self, f"ffn_{part}_{name}", Stack(n, width, dim))
            setattr(self, f"ffn_down_{name}", Stack(n, dim, width))

    def expert(self, name, i, x):
        gate, up, down = (getattr(self, f"ffn_{part}_{name}").weight[i] for part in ("gate", "up", "down"))
        return down @ (torch.nn.functional.silu(gate @ x) * (up @ x))

    def forward(self, rows):
        made = torch.zeros_like(rows)
        for at in np.ndindex(rows.shape[:-1]):
            logits = self.ffn_gate_inp(rows[at])
            chosen = torch.topk(torch.sigmoid(logits), self.used).indices.tolist()
            weights = torch.softmax(logits, -1)[chosen]
            for e, weight in zip(chosen, weights / weights.sum()):
                made[at] += weight * (self.expert("exps", e, rows[at]) + 0.05 * self.expert("chexps", e // 2, rows[at]))
        return made


class GroveMoe(Compact):
    """Qwen 3 with those experts; small ones are drawn larger, that one left out shows."""
    architecture, model, config = "grovemoe", "Qwen3MoeForCausalLM", "Qwen3MoeConfig"
    CONFIG = {"head_dim": 8, "moe_intermediate_size": 16, "num_experts": 6, "num_experts_per_tok": 3}
    KEYS = {"expert_count": 6, "expert_used_count": 3, "expert_feed_forward_length": 16, "experts_per_group": 2,
            "expert_chunk_feed_forward_length": 24, "expert_group_scale": 0.05}

    def built(self, config):
        model = super().built(config)
        for layer in model.model.layers:
            layer.mlp = Grove(config)
        return model

    def drawn(self, name, shape):
        return super().drawn(name, shape) * (4 if "chexps" in name else 1)


MIXED = {"grovemoe": GroveMoe, "nemotron_h_latent": NemotronLatent, "falcon_mamba_eps": FalconMamba}
