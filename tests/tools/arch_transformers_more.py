"""More models of the transformers package with random weights: those that mix windows, gates, experts and latents."""
import numpy as np
import torch

from arch_transformers import Gemma4Moe, Transformed

LOCAL, FULL = "sliding_attention", "full_attention"
SHARED_EXPERT = {"expert_shared_count": 1}


def experts(count=4, used=2, width=16, **more):
    return {"expert_count": count, "expert_used_count": used, "expert_feed_forward_length": width} | more


def permuted(value, heads):
    """Rows of heads whose halves turn together, so that neighbours do."""
    rows, columns = value.shape
    return value.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


class Compact(Transformed):
    F = 32


class Afmoe(Compact):
    architecture, model, config, SECOND_NORM = "afmoe", "AfmoeForCausalLM", "AfmoeConfig", "post_attention_norm"
    RENAMED = [(r"pre_mlp_layernorm", "ffn_norm"), (r"post_mlp_layernorm", "post_ffw_norm"),
               (r"self_attn\.gate_proj", "attn_gate"), (r"mlp\.expert_bias", "exp_probs_b.bias"),
               (r"mlp\.router\.gate", "ffn_gate_inp")]
    CONFIG = {"head_dim": 8, "moe_intermediate_size": 16, "num_dense_layers": 1, "num_experts": 4, "num_experts_per_tok": 2,
              "num_shared_experts": 1, "route_scale": 1.5, "layer_types": [LOCAL, FULL], "sliding_window": 12, "mup_enabled": True}
    KEYS = experts(**SHARED_EXPERT, expert_weights_scale=1.5, expert_weights_norm=True) | {
        "leading_dense_block_count": 1, "attention.sliding_window": 12, "attention.sliding_window_pattern": [True, False]}


class Cohere2Moe(Compact):
    architecture, model, config, L = "cohere2moe", "Cohere2MoeForCausalLM", "Cohere2MoeConfig", 3
    CONFIG = {"head_dim": 8, "intermediate_size": 16, "prefix_dense_intermediate_size": 32, "num_experts": 4,
              "num_experts_per_tok": 2, "num_shared_experts": 1, "logit_scale": 0.25, "sliding_window": 12,
              "mlp_layer_types": ["dense", "sparse", "sparse"], "layer_types": [FULL, LOCAL, FULL], "layer_norm_eps": 1e-5,
              "rope_theta": 10000.0, "expert_selection_fn": "sigmoid"}
    KEYS = experts(**SHARED_EXPERT, expert_weights_norm=True) | {
        "leading_dense_block_count": 1, "attention.sliding_window": 12, "logit_scale": 0.25,
        "attention.sliding_window_pattern": [False, True, False], "attention.layer_norm_epsilon": 1e-5}

    def keys(self):
        keys = super().keys()
        del keys["attention.layer_norm_rms_epsilon"]
        return keys


class Cohere2MoeRms(Cohere2Moe):
    """Without shared experts, and with norms of root mean squares, as a file says that states their epsilon."""
    L = 2
    CONFIG = Cohere2Moe.CONFIG | {"num_shared_experts": 0, "mlp_layer_types": ["dense", "sparse"], "rms_norm_eps": 1e-3,
                                  "layer_types": [FULL, LOCAL]}
    KEYS = {k: v for k, v in Cohere2Moe.KEYS.items() if "shared" not in k} | {"attention.sliding_window_pattern": [False, True]}

    def keys(self):
        return Compact.keys(self)


class Dbrx(Compact):
    architecture, model, config, F = "dbrx", "DbrxForCausalLM", "DbrxConfig", 16
    CONFIG = {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 512,
              "attn_config": {"kv_n_heads": 2, "clip_qkv": 1.5, "rope_theta": 10000.0},
              "ffn_config": {"ffn_hidden_size": 16, "moe_num_experts": 4, "moe_top_k": 2, "ffn_act_fn": {"name": "silu"}}}
    RENAMED = [(r"transformer\.wte", "token_embd"), (r"transformer\.norm_f", "output_norm"),
               (r"transformer\.blocks\.(\d+)\.", r"blk.\1."), (r"norm_attn_norm\.norm_1", "attn_norm"),
               (r"norm_attn_norm\.norm_2", "attn_output_norm"), (r"norm_attn_norm\.attn\.Wqkv", "attn_qkv"),
               (r"norm_attn_norm\.attn\.out_proj", "attn_output"), (r"ffn\.router\.layer", "ffn_gate_inp"),
               (r"ffn\.experts\.mlp\.w1", "ffn_gate_exps.weight"), (r"ffn\.experts\.mlp\.v1", "ffn_up_exps.weight"),
               (r"ffn\.experts\.mlp\.w2", "ffn_down_exps.weight")]
    KEYS = {"expert_count": 4, "expert_used_count": 2, "attention.clamp_kqv": 1.5, "attention.layer_norm_epsilon": 1e-5}

    def rename(self, name, value):
        if ".experts." in name:  # the rows of all experts in one matrix; the last matrix is stored the other way around
            value = value.reshape(4, self.F, self.E)
            value = value.swapaxes(1, 2) if name.endswith("w2") else value
        super().rename(name, value)

    def keys(self):
        self.run.config.rms_norm_eps = 1e-5
        return super().keys()


class ExaoneMoe(Compact):
    architecture, model, config = "exaone-moe", "ExaoneMoeForCausalLM", "ExaoneMoeConfig"
    CONFIG = {"head_dim": 8, "moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2, "num_shared_experts": 1,
              "routed_scaling_factor": 1.5, "sliding_window": 12, "layer_types": [LOCAL, FULL], "mlp_layer_types": ["dense", "sparse"],
              "first_k_dense_replace": 1}
    KEYS = experts(**SHARED_EXPERT, expert_weights_scale=1.5, expert_weights_norm=True, expert_gating_func=2) | {
        "attention.sliding_window": 12, "attention.sliding_window_pattern": [True, False], "leading_dense_block_count": 1}


class GraniteSwa(Compact):
    architecture, model, config = "granite_swa", "GraniteSWAForCausalLM", "GraniteSWAConfig"
    RENAMED = [(r"self_attn\.sinks", "attn_sinks.weight")]
    CONFIG = {"head_dim": 8, "sliding_window": 12, "layer_types": [LOCAL, FULL], "embedding_multiplier": 3.0, "logits_scaling": 0.5,
              "residual_multiplier": 0.5, "attention_multiplier": 0.2, "tie_word_embeddings": False,
              "layer_rope_theta": [10000.0, 0]}
    KEYS = {"attention.sliding_window": 12, "attention.sliding_window_pattern": [True, False], "embedding_scale": 3.0,
            "logit_scale": 0.5, "residual_scale": 0.5, "attention.scale": 0.2, "attention.rope_pattern": [True, False]}

    def rename(self, name, value):
        heads = {"q_proj": self.H, "k_proj": self.G}.get(name.split(".")[-2])
        super().rename(name, permuted(value, heads) if heads else value)


class HunyuanV3(Compact):
    architecture, model, config = "hy_v3", "HYV3ForCausalLM", "HYV3Config"
    RENAMED = [(r"mlp\.e_score_correction_bias", "exp_probs_b")]
    CONFIG = {"head_dim": 8, "moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2, "num_shared_experts": 1,
              "router_scaling_factor": 1.5, "mlp_layer_types": ["dense", "sparse"]}
    KEYS = experts(**SHARED_EXPERT, expert_weights_scale=1.5, expert_weights_norm=True, expert_gating_func=2)


class Jais2(Compact):
    architecture, model, config = "jais2", "Jais2ForCausalLM", "Jais2Config"
    CONFIG = {"head_dim": 8, "layer_norm_eps": 1e-5, "hidden_act": "relu2"}
    KEYS = {"attention.layer_norm_epsilon": 1e-5}

    def keys(self):
        self.run.config.rms_norm_eps = 1e-5
        return super().keys()


class Latent(Compact):
    """Keys and values of every head are read from a latent, by two matrices that the file has apart."""
    NOPE, R, VALUE, RANK = 8, 4, 8, 16

    def split_latent(self, name):
        both = self.weights.pop(name + "attn_kv_b.weight").reshape(self.H, self.NOPE + self.VALUE, self.RANK)
        self.weights[name + "attn_k_b.weight"] = both[:, :self.NOPE].swapaxes(1, 2)
        self.weights[name + "attn_v_b.weight"] = both[:, self.NOPE:]

    def latent_keys(self):
        return {"attention.kv_lora_rank": self.RANK, "attention.key_length": self.RANK + self.R,
                "attention.value_length": self.RANK, "attention.key_length_mla": self.NOPE + self.R,
                "attention.value_length_mla": self.VALUE, "rope.dimension_count": self.R}


LATENT_NAMES = [(r"self_attn\.kv_a_proj_with_mqa", "attn_kv_a_mqa"), (r"self_attn\.kv_a_layernorm", "attn_kv_a_norm"),
                (r"self_attn\.kv_b_proj", "attn_kv_b"), (r"self_attn\.q_a_proj", "attn_q_a"),
                (r"self_attn\.q_a_layernorm", "attn_q_a_norm"), (r"self_attn\.q_b_proj", "attn_q_b")]


class KimiLinear(Latent):
    architecture, model, config, G = "kimi-linear", "KimiLinearForCausalLM", "KimiLinearConfig", 4
    RENAMED = LATENT_NAMES + [(r"self_attn\.forget_gate\.dt_bias", "ssm_dt.bias"), (r"self_attn\.forget_gate\.A_log", "ssm_a"),
                              (r"self_attn\.forget_gate\.f_([ab])_proj", r"ssm_f_\1"), (r"self_attn\.g_([ab])_proj", r"ssm_g_\1"),
                              (r"self_attn\.b_proj", "ssm_beta"), (r"self_attn\.o_norm", "ssm_norm")]
    CONFIG = {"kv_lora_rank": 16, "q_lora_rank": None, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
              "num_local_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 16,
              "routed_scaling_factor": 1.5, "layer_types": ["linear_attention", FULL], "mlp_layer_types": ["dense", "sparse"],
              "linear_head_dim": 8, "linear_num_heads": 4, "linear_conv_kernel_dim": 4}
    KEYS = experts(**SHARED_EXPERT, expert_weights_scale=1.5, expert_gating_func=2) | {
        "ssm.conv_kernel": 4, "kda.head_dim": 8, "leading_dense_block_count": 1}

    def drawn(self, name, shape):
        values = super().drawn(name, shape)
        return np.abs(values) if "A_log" in name else values

    def rename(self, name, value):
        if name.endswith("A_log"):
            value = -np.exp(value.reshape(-1))
        if name.endswith("conv1d.weight"):
            start = f"blk.{name.split('.')[2]}.ssm_conv1d_"
            for letter, part in zip("qkv", np.split(value[:, 0], 3)):
                self.weights[start + letter + ".weight"] = part
        else:
            super().rename(name, value)

    def keys(self):
        if "blk.1.attn_kv_b.weight" in self.weights:
            self.split_latent("blk.1.")
        return super().keys() | self.latent_keys() | {"attention.head_count_kv": [0, 1]}


class Laguna(Compact):
    architecture, model, config = "laguna", "LagunaForCausalLM", "LagunaConfig"
    RENAMED = [(r"self_attn\.g_proj", "attn_gate")]
    CONFIG = {"head_dim": 8, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16, "num_experts": 4,
              "num_experts_per_tok": 2, "moe_routed_scaling_factor": 1.5, "sliding_window": 12, "layer_types": [FULL, LOCAL],
              "num_attention_heads_per_layer": [4, 6], "mlp_layer_types": ["dense", "sparse"],
              "rope_parameters": {FULL: {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
                                  LOCAL: {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}}}
    KEYS = experts(expert_shared_feed_forward_length=16, expert_weights_scale=1.5, expert_weights_norm=True,
                   expert_gating_func=2) | {
        "attention.head_count": [4, 6], "attention.sliding_window": 12, "attention.sliding_window_pattern": [False, True],
        "leading_dense_block_count": 1, "rope.freq_base": 500000.0, "rope.freq_base_swa": 10000.0, "rope.dimension_count": 4,
        "rope.dimension_count_swa": 8}


class Mellum(Compact):
    architecture, model, config = "mellum", "MellumForCausalLM", "MellumConfig"
    CONFIG = {"head_dim": 8, "moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2, "sliding_window": 12,
              "layer_types": [LOCAL, FULL],
              "rope_parameters": {FULL: {"rope_type": "default", "rope_theta": 10000.0},
                                  LOCAL: {"rope_type": "default", "rope_theta": 10000.0}}}
    KEYS = experts() | {"attention.sliding_window": 12, "attention.sliding_window_pattern": [True, False]}


class Mimo2(Compact):
    architecture, model, config, K = "mimo2", "MiMoV2FlashForCausalLM", "MiMoV2FlashConfig", 16
    RENAMED = [(r"self_attn\.sinks", "attn_sinks.weight")]
    CONFIG = {"head_dim": 16, "v_head_dim": 8, "moe_intermediate_size": 16, "n_routed_experts": 4, "num_experts_per_tok": 2,
              "sliding_window": 12, "layer_types": [FULL, LOCAL], "mlp_layer_types": ["dense", "sparse"],
              "rope_parameters": {FULL: {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
                                  LOCAL: {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}}}
    KEYS = experts(expert_weights_norm=True) | {
        "attention.value_length": 8, "attention.sliding_window": 12, "attention.sliding_window_pattern": [False, True],
        "attention.value_scale": 0.707, "rope.freq_base": 500000.0, "rope.freq_base_swa": 10000.0, "rope.dimension_count": 8}

    def keys(self):
        groups = [self.weights[f"blk.{i}.attn_k.weight"].shape[0] // self.K for i in range(self.L)]
        return super().keys() | {"attention.head_count_kv": groups}


class Mistral4(Latent):
    architecture, model, config, G = "mistral4", "Mistral4ForCausalLM", "Mistral4Config", 4
    RENAMED = LATENT_NAMES
    CONFIG = {"kv_lora_rank": 16, "q_lora_rank": 24, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
              "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1, "moe_intermediate_size": 16,
              "routed_scaling_factor": 1.5, "norm_topk_prob": True, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1,
              "rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 1.0,
                                  "original_max_position_embeddings": 32, "beta_fast": 32.0, "beta_slow": 1.0,
                                  "llama_4_scaling_beta": 0.1}}
    KEYS = experts(**SHARED_EXPERT, expert_weights_scale=1.5, expert_weights_norm=True) | {
        "attention.q_lora_rank": 24, "attention.head_count_kv": 1, "leading_dense_block_count": 1, "rope.scaling.type": "yarn",
        "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 32, "rope.scaling.yarn_log_multiplier": 0.1,
        "attention.temperature_scale": 0.1, "attention.temperature_length": 32}

    def keys(self):
        for i in range(self.L):
            if f"blk.{i}.attn_kv_b.weight" in self.weights:
                self.split_latent(f"blk.{i}.")
        return super().keys() | self.latent_keys() | self.KEYS


class EuroBert(Compact):
    architecture, model, config, kind = "eurobert", "EuroBertModel", "EuroBertConfig", "encoder"
    RENAMED = [(r"^embed_tokens", "token_embd"), (r"^norm", "output_norm"), (r"^layers\.(\d+)\.", r"blk.\1.")]
    CONFIG = {"head_dim": 8, "mask_token_id": 3}

    def rows(self, tokens):
        ids = torch.tensor([tokens])
        with torch.no_grad():
            return self.run(ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0].numpy()


class Gemma4Experts(Compact, Gemma4Moe):
    """Gemma4Moe of fewer layers."""
    L, LAYERS = 2, [True, False]
    CONFIG = Gemma4Moe.CONFIG | {"num_experts": 4, "top_k_experts": 2, "layer_types": [LOCAL, FULL]}
    KEYS = Gemma4Moe.KEYS | experts() | {
        "attention.head_count_kv": [2, 1], "attention.sliding_window_pattern": [True, False], "feed_forward_length": [32] * 2}


MORE = {"afmoe": Afmoe, "cohere2_moe": Cohere2Moe, "cohere2_moe_rms": Cohere2MoeRms, "dbrx": Dbrx, "exaone_moe": ExaoneMoe, "granite_swa": GraniteSwa,
        "hy_v3": HunyuanV3, "jais2": Jais2, "kimi_linear": KimiLinear, "laguna": Laguna, "mellum": Mellum, "mimo2": Mimo2,
        "mistral4": Mistral4, "eurobert": EuroBert, "gemma4_moe": Gemma4Experts}
