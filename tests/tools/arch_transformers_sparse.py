"""Models of the transformers package with random weights: those whose attention chooses the keys that it reads, and their kin."""
import re

import numpy as np
import torch
import transformers

from arch_transformers_more import LATENT_NAMES, Compact, Latent, experts

class Headed(torch.nn.Module):
    """A model of transformers without a head, and a head."""

    def __init__(self, name, config):
        super().__init__()
        self.config, self.model = config, getattr(transformers, name)(config)
        self.lm_head = torch.nn.Linear(config.hidden_size, config.vocab_size, bias=False)


INDEXER_NAMES = [(r"self_attn\.indexer\.wq_b", "indexer.attn_q_b"), (r"self_attn\.indexer\.wk", "indexer.attn_k"),
                 (r"self_attn\.indexer\.weights_proj", "indexer.proj"), (r"self_attn\.indexer\.", "indexer.")]


class Deepseek32(Latent):
    """The indexer chooses from the 25th token on. With this seed no key is within 0.001 of another choice."""
    architecture, model, config, G, SEED = "deepseek32", "DeepseekV32ForCausalLM", "DeepseekV32Config", 4, 16
    RENAMED = LATENT_NAMES + INDEXER_NAMES
    CONFIG = {"kv_lora_rank": 16, "q_lora_rank": 24, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
              "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 16,
              "routed_scaling_factor": 1.5, "norm_topk_prob": True, "first_k_dense_replace": 1, "n_group": 2, "topk_group": 1,
              "index_topk": 24, "index_head_dim": 8, "index_n_heads": 8,
              "rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 1.0,
                                  "original_max_position_embeddings": 32, "beta_fast": 32.0, "beta_slow": 1.0}}
    KEYS = experts(expert_shared_count=1, expert_weights_scale=1.5, expert_weights_norm=True, expert_gating_func=2,
                   expert_group_count=2, expert_group_used_count=1) | {
        "attention.q_lora_rank": 24, "attention.head_count_kv": 1, "leading_dense_block_count": 1, "rope.scaling.type": "yarn",
        "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 32, "rope.scaling.yarn_log_multiplier": 0.1,
        "attention.indexer.head_count": 8, "attention.indexer.key_length": 8, "attention.indexer.top_k": 24}

    def keys(self):
        for i in range(self.L):
            if f"blk.{i}.attn_kv_b.weight" in self.weights:
                self.split_latent(f"blk.{i}.")
        return super().keys() | self.latent_keys() | self.KEYS


class GlmMoeDsa(Deepseek32):
    """The second layer reads what the first one chose, whose indexer turns neighbours together."""
    architecture, model, config = "glm-dsa", "GlmMoeDsaForCausalLM", "GlmMoeDsaConfig"
    CONFIG = {k: v for k, v in Deepseek32.CONFIG.items() if not k.startswith("rope")} | {"indexer_types": ["full", "shared"]}
    KEYS = {k: v for k, v in Deepseek32.KEYS.items() if not k.startswith("rope")} | {"attention.indexer.types": [1, 0]}


class MinimaxM3(Compact):
    """Three of eight blocks of eight keys are chosen; gains are stored less 1."""
    architecture, config, F = "minimax-m3", "MiniMaxM3VLTextConfig", 16
    CONFIG = {"head_dim": 8, "dense_intermediate_size": 32, "intermediate_size": 16, "shared_intermediate_size": 16,
              "num_local_experts": 4, "num_experts_per_tok": 2, "routed_scaling_factor": 1.5, "rotary_dim": 4,
              "mlp_layer_types": ["dense", "sparse"], "layer_types": ["full_attention", "minimax_m3_sparse"], "index_n_heads": 2,
              "index_head_dim": 8, "index_block_size": 8, "index_topk_blocks": 3, "index_local_blocks": 1,
              "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}}
    KEYS = experts(expert_shared_count=1, expert_weights_scale=1.5, expert_weights_norm=True, expert_gating_func=2) | {
        "feed_forward_length": 32, "leading_dense_block_count": 1, "rope.dimension_count": 4, "attention.indexer.head_count": 2,
        "attention.indexer.key_length": 8, "attention.indexer.top_k": 3, "attention.indexer.block_size": 8,
        "attention.indexer.local_blocks": 1}
    RENAMED = [(r"self_attn\.indexer\.", "indexer.")]

    def built(self, config):
        return transformers.MiniMaxM3VLForCausalLM(config)

    def drawn(self, name, shape):
        values = super().drawn(name, shape)
        return values - 1 if name.endswith("norm.weight") else 4 * values if "gate_up" in name else values

    def rename(self, name, value):
        if name.endswith("gate_up_proj.weight"):
            for part, rows in zip(("gate", "up"), np.split(value, 2)):
                super().rename(name.replace("gate_up", part), rows)
        else:
            super().rename(name, value + 1 if name.endswith("norm.weight") else value)


class BailingMoe3(Latent):
    """The first layer has a state that decays by no more than e^-5 a token."""
    architecture, model, config, G = "bailingmoe3", "BailingHybridForCausalLM", "BailingHybridConfig", 4
    RENAMED = LATENT_NAMES + [(r"self_attn\.forget_gate\.dt_bias", "ssm_dt.bias"), (r"self_attn\.forget_gate\.A_log", "ssm_a"),
                              (r"self_attn\.forget_gate\.f_proj", "ssm_f_a"), (r"(blk\.0)\.self_attn\.g_proj", r"\1.ssm_g_a"),
                              (r"self_attn\.g_proj", "attn_gate"), (r"self_attn\.b_proj", "ssm_beta"),
                              (r"self_attn\.o_norm", "ssm_norm")]
    CONFIG = {"kv_lora_rank": 16, "q_lora_rank": None, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8, "head_dim": 8,
              "num_local_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 16, "n_group": 2,
              "topk_group": 1, "routed_scaling_factor": 1.5, "first_k_dense_replace": 1, "layer_group_size": 2,
              "max_position_embeddings": 512}
    KEYS = experts(expert_shared_count=1, expert_weights_scale=1.5, expert_weights_norm=True, expert_gating_func=2,
                   expert_group_count=2, expert_group_used_count=1) | {
        "ssm.conv_kernel": 4, "kda.head_dim": 8, "kda.gate_lower_bound": -5.0, "leading_dense_block_count": 1}

    def rename(self, name, value):
        if name.endswith("conv1d.weight"):
            for letter, part in zip("qkv", np.split(value[:, 0], 3)):
                self.weights[f"blk.0.ssm_conv1d_{letter}.weight"] = part
        else:
            super().rename(re.sub(r"model\.layers\.(\d)\.", r"blk.\1.", name), np.exp(value) if name.endswith("A_log") else value)

    def keys(self):
        if "blk.1.attn_kv_b.weight" in self.weights:
            self.split_latent("blk.1.")
        return super().keys() | self.latent_keys() | {"attention.head_count_kv": [0, 1]}


class Dots3Note(Deepseek32):
    """The first layer chooses keys; the second one has sizes of its own, and a window."""
    architecture, config, R = "dots3note", "Dots3NoteTextConfig", 4
    RENAMED = LATENT_NAMES + INDEXER_NAMES + [(r"self_attn\.k_rope_only_layernorm", "attn_k_norm"),
                                              (r"self_attn\.g_proj", "attn_gate")]
    CONFIG = {k: v for k, v in Deepseek32.CONFIG.items() if not k.startswith("rope")} | {
        "rms_norm_eps": 1e-3, "n_group": 1, "topk_group": 1, "head_dim": 12, "shared_experts_intermediate_size": 16,
        "layer_types": ["indexed_attention", "sliding_attention"], "sliding_window": 12, "swa_num_attention_heads": 2,
        "swa_num_key_value_heads": 2, "swa_q_lora_rank": 24, "swa_kv_lora_rank": 24, "swa_head_dim": 16, "swa_qk_nope_head_dim": 12,
        "swa_v_head_dim": 16,
        "rope_parameters": {"indexed_attention": {"rope_type": "default", "rope_theta": 500000.0},
                            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}}
    KEYS = {k: v for k, v in Deepseek32.KEYS.items() if not k.startswith(("rope", "expert_group"))} | {
        "attention.head_count": [4, 2], "attention.kv_lora_rank_swa": 24, "attention.key_length_mla_swa": 16,
        "attention.value_length_mla_swa": 16, "attention.sliding_window": 12, "attention.sliding_window_pattern": [False, True],
        "attention.indexer.types": [1, 0], "rope.freq_base": 500000.0, "rope.freq_base_swa": 10000.0}

    def built(self, config):
        return Headed("Dots3NoteTextModel", config)

    def rename(self, name, value):  # the gains of latents hold their scales
        rank = value.shape[0]
        super().rename(name, value * np.sqrt(self.E / rank) if "_a_layernorm" in name else value)

    def split_latent(self, name):
        H, NOPE, VALUE, RANK = self.H, self.NOPE, self.VALUE, self.RANK
        if name == "blk.1.":
            self.H, self.NOPE, self.VALUE, self.RANK = 2, 12, 16, 24
        super().split_latent(name)
        self.H, self.NOPE, self.VALUE, self.RANK = H, NOPE, VALUE, RANK

    def logits(self, tokens):
        with torch.no_grad():
            return self.run.lm_head(self.run.model(torch.tensor([tokens]), use_cache=False).last_hidden_state[0]).numpy()


class Glm4MoeLite(Deepseek32):
    """No key says that the experts are weighed by sigmoids; the norms of latents keep an epsilon of their own."""
    architecture, model, config, SEED = "deepseek2", "Glm4MoeLiteForCausalLM", "Glm4MoeLiteConfig", 1
    CONFIG = {k: v for k, v in Deepseek32.CONFIG.items() if not k.startswith(("index", "rope"))} | {
        "rms_norm_eps": 1e-3, "mlp_layer_types": ["dense", "sparse"]}
    KEYS = {k: v for k, v in Deepseek32.KEYS.items() if not k.startswith(("attention.indexer", "rope.")) and "gating" not in k}


class HyV4(Deepseek32):
    """Two residual streams. The indexer's heads turn at their end; halves turn together."""
    architecture, model, config, SEED = "hy_v4", "HYV4ForCausalLM", "HYV4Config", 1
    RENAMED = LATENT_NAMES + INDEXER_NAMES + [(r"self_attn\.sinks", "attn_sinks.weight"), (r"self_attn\.gate_proj", "attn_gate"),
                                              (r"model\.hc_head\.hc_(\w+)", r"output_hc_\1.weight"),
                                              (r"(attn|ffn)_hc\.(\w+)$", r"hc_\1_\2.weight")]
    CONFIG = {k: v for k, v in Deepseek32.CONFIG.items() if not k.startswith(("rope", "first"))} | {
        "n_group": 1, "topk_group": 1, "n_routed_experts": 3, "q_lora_rank": 16, "indexer_types": ["full", "shared"], "hc_mult": 2,
        "hc_magnitude": 1.5, "hc_eps": 0.01, "swiglu_limit": 0.5, "mlp_layer_types": ["dense", "sparse"]}
    KEYS = {k: v for k, v in Deepseek32.KEYS.items() if not k.startswith(("rope", "expert_group"))} | {
        "expert_count": 3, "attention.q_lora_rank": 16, "attention.indexer.types": [True, False], "hyper_connection.count": 2,
        "hyper_connection.epsilon": 0.01, "hyper_connection.magnitude": 1.5, "swiglu_clamp_exp": [0.5, 0.5]}


SPARSE = {"deepseek32": Deepseek32, "glm4_moe_lite": Glm4MoeLite, "glm_dsa": GlmMoeDsa, "bailingmoe3": BailingMoe3,
          "dots3note": Dots3Note, "hy_v4": HyV4, "minimax_m3": MinimaxM3}
