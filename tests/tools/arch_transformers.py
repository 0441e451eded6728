"""Models of the transformers package with random weights, by the names that GGUF files give them. Needs torch."""
import re
import sys

import numpy as np
import torch
import transformers

from arch_written import V, bf16

torch.set_num_threads(1)
NAMES = [(r"model\.embed_tokens", "token_embd"), (r"model\.norm", "output_norm"), (r"lm_head", "output"),
         (r"model\.layers\.(\d+)\.", r"blk.\1."), (r"input_layernorm", "attn_norm"),
         (r"self_attn\.([qkv])_proj", r"attn_\1"), (r"self_attn\.o_proj", "attn_output"),
         (r"self_attn\.([qk])_norm", r"attn_\1_norm"), (r"shared_experts\.(\w+)_proj", r"ffn_\1_shexp"),
         (r"mlp\.gate_up_proj", "ffn_up"), (r"mlp\.(\w+)_proj", r"ffn_\1"), (r"mlp\.(gate|router)\.weight", "ffn_gate_inp.weight"),
         (r"mlp\.gate\.e_score_correction_bias", "exp_probs_b.bias"), (r"^(blk\.\d+\.)mlp\.", r"\1")]
GEMMA3N = [(r"post_attention_layernorm", "post_attention_norm"), (r"pre_feedforward_layernorm", "ffn_norm"),
           (r"post_feedforward_layernorm", "post_ffw_norm"), (r"altup\.correct_output_scale", "altup_correct_scale.weight"),
           (r"altup\.correction_coefs", "altup_correct_coef"), (r"altup\.prediction_coefs", "altup_predict_coef"),
           (r"altup\.modality_router", "altup_router"), (r"altup\.router_norm", "altup_router_norm"),
           (r"laurel\.linear_left", "laurel_l"), (r"laurel\.linear_right", "laurel_r"),
           (r"laurel\.post_laurel_norm", "laurel_post_norm"), (r"per_layer_input_gate", "inp_gate"),
           (r"post_per_layer_input_norm", "post_norm"), (r"model\.embed_tokens_per_layer", "per_layer_token_embd"),
           (r"model\.per_layer_model_projection", "per_layer_model_proj"),
           (r"model\.per_layer_projection_norm", "per_layer_proj_norm"), (r"per_layer_projection", "proj"),
           (r"model\.altup_projections\.", "altup_proj."), (r"model\.altup_unembed_projections\.", "altup_unembd_proj.")]


class Transformed:
    """`model` and `config` name classes of transformers; CONFIG adds to what all share, KEYS to the file's keys."""
    E, L, H, G, K, F, kind = 32, 2, 4, 2, 8, 16, "causal"
    CONFIG, KEYS, RENAMED, SECOND_NORM = {}, {}, [], "ffn_norm"

    def __init__(self, seed):
        shared = {"vocab_size": V, "hidden_size": self.E, "intermediate_size": self.F, "num_hidden_layers": self.L,
                  "num_attention_heads": self.H, "num_key_value_heads": self.G, "max_position_embeddings": 512,
                  "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
                  "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}
        config = getattr(transformers, self.config)(**shared | self.CONFIG)
        config._attn_implementation = config._experts_implementation = "eager"
        self.random = np.random.default_rng(seed)
        self.run = self.built(config).eval().double()
        state = self.run.state_dict()
        with torch.no_grad():
            for name in state:
                state[name].copy_(torch.from_numpy(self.drawn(name, tuple(state[name].shape))))
        self.weights = {}
        for name in state:
            if name != "lm_head.weight" or not config.tie_word_embeddings:
                self.rename(name, state[name].numpy())

    def built(self, config):
        return getattr(transformers, self.model)(config)

    def drawn(self, name, shape):
        values = self.random.normal(size=shape)
        if len(shape) == 1:
            values = values * 0.2 + (1 if "norm" in name and "bias" not in name or "scal" in name else 0)
        else:
            values *= 0.5 if "embed" in name else 1 / np.sqrt(shape[-1])
        return bf16(values).astype(np.float64)

    def rename(self, name, value):
        for old, new in self.RENAMED + [(r"post_attention_layernorm", self.SECOND_NORM)] + NAMES:
            name = re.sub(old, new, name)
        if stacked := re.fullmatch(r"(altup_\w+)\.(\d)\.weight", name):
            self.weights.setdefault(stacked[1] + ".weight", np.zeros((3, self.E, self.E)))[int(stacked[2])] = value
        elif name.endswith("experts.gate_up_proj"):
            half, start = value.shape[1] // 2, name[:-len("experts.gate_up_proj")]
            self.weights[start + "ffn_gate_exps.weight"], self.weights[start + "ffn_up_exps.weight"] = value[:, :half], value[:, half:]
        elif name.endswith("experts.down_proj"):
            self.weights[name[:-len("experts.down_proj")] + "ffn_down_exps.weight"] = value
        else:
            self.weights[name] = value

    def keys(self):
        return {"context_length": 512, "embedding_length": self.E, "block_count": self.L, "feed_forward_length": self.F,
                "attention.head_count": self.H, "attention.head_count_kv": self.G, "attention.key_length": self.K,
                "attention.value_length": self.K, "attention.layer_norm_rms_epsilon": self.run.config.rms_norm_eps,
                "rope.freq_base": 10000.0} | self.KEYS

    def logits(self, tokens):
        with torch.no_grad():
            return self.run(torch.tensor([tokens]), use_cache=False).logits[0].numpy()

    def logits_of_halves(self, tokens):
        """The same with keys and values rounded to half floats, as a cache may hold them."""
        module = sys.modules[type(getattr(self.run, "model", self.run)).__module__]
        exact = module.eager_attention_forward
        module.eager_attention_forward = lambda layer, query, key, value, *others, **named: exact(
            layer, query, key.half().double(), value.half().double(), *others, **named)
        try:
            return self.logits(tokens)
        finally:
            module.eager_attention_forward = exact


class Phimoe(Transformed):
    architecture, model, config, F = "phimoe", "PhimoeForCausalLM", "PhimoeConfig", 24
    CONFIG = {"num_local_experts": 4, "num_experts_per_tok": 2, "attention_bias": True, "lm_head_bias": True,
              "sliding_window": None, "router_jitter_noise": 0.01}
    KEYS = {"expert_count": 4, "expert_used_count": 2}


class SeedOss(Transformed):
    architecture, model, config, K, SECOND_NORM = "seed_oss", "SeedOssForCausalLM", "SeedOssConfig", 16, "post_attention_norm"
    CONFIG = {"head_dim": 16, "attention_bias": True, "attention_out_bias": False}


class Dots1(Transformed):
    architecture, model, config = "dots1", "Dots1ForCausalLM", "Dots1Config"
    CONFIG = {"moe_intermediate_size": 16, "n_routed_experts": 6, "num_experts_per_tok": 3, "n_shared_experts": 2,
              "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "norm_topk_prob": True,
              "routed_scaling_factor": 1.5, "head_dim": 8, "sliding_window": None}
    KEYS = {"expert_count": 6, "expert_used_count": 3, "expert_shared_count": 2, "expert_feed_forward_length": 16,
            "leading_dense_block_count": 1, "expert_weights_norm": True, "expert_weights_scale": 1.5,
            "expert_gating_func": 2}


class Glm(Transformed):
    architecture, model, config, K = "chatglm", "GlmForCausalLM", "GlmConfig", 16
    CONFIG = {"head_dim": 16, "attention_bias": True,
              "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}}
    KEYS = {"rope.dimension_count": 8}


class Gemma3n(Transformed):
    architecture, model, config, L, RENAMED = "gemma3n", "Gemma3nForCausalLM", "Gemma3nTextConfig", 6, GEMMA3N
    LOCAL = [True, True, False, True, False, True]
    CONFIG = {"intermediate_size": [48] * 6, "head_dim": 8, "vocab_size_per_layer_input": V,
              "hidden_size_per_layer_input": 8, "laurel_rank": 8, "num_kv_shared_layers": 2, "sliding_window": 12,
              "layer_types": ["sliding_attention" if local else "full_attention" for local in LOCAL],
              "activation_sparsity_pattern": [0.95] * 2 + [0.0] * 4,
              "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                                  "full_attention": {"rope_type": "default", "rope_theta": 1000000.0}}}
    KEYS = {"attention.sliding_window": 12, "attention.sliding_window_pattern": LOCAL, "attention.shared_kv_layers": 2,
            "rope.freq_base": 1000000.0, "rope.freq_base_swa": 10000.0, "embedding_length_per_layer_input": 8,
            "activation_sparsity_scale": [1.6448536] * 2 + [-np.inf] * 4, "feed_forward_length": [48] * 6}


class Gemma4(Transformed):
    architecture, model, config, L, G = "gemma4", "Gemma4ForCausalLM", "Gemma4TextConfig", 6, 2
    RENAMED = [(r"post_feedforward_layernorm_(\d)", r"post_ffw_norm_\1"), (r"pre_feedforward_layernorm_2", "pre_ffw_norm_2"),
               (r"layer_scalar", "layer_output_scale.weight"), (r"router\.proj", "ffn_gate_inp"),
               (r"router\.scale", "ffn_gate_inp.scale"), (r"router\.per_expert_scale", "ffn_down_exps.scale")] + GEMMA3N
    LOCAL = [True, True, False, True, True, False]
    CONFIG = {"head_dim": 8, "global_head_dim": 16, "num_global_key_value_heads": 1, "vocab_size_per_layer_input": V,
              "hidden_size_per_layer_input": 8, "num_kv_shared_layers": 2, "sliding_window": 12,
              "final_logit_softcapping": 4.0,
              "layer_types": ["sliding_attention" if local else "full_attention" for local in LOCAL],
              "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                                  "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25,
                                                     "rope_theta": 1000000.0}}}
    KEYS = {"attention.sliding_window": 12, "attention.sliding_window_pattern": LOCAL, "attention.shared_kv_layers": 2,
            "rope.freq_base": 1000000.0, "rope.freq_base_swa": 10000.0, "embedding_length_per_layer_input": 8,
            "attention.key_length": 16, "attention.value_length": 16, "attention.key_length_swa": 8,
            "attention.value_length_swa": 8, "rope.dimension_count": 16, "rope.dimension_count_swa": 8,
            "final_logit_softcapping": 4.0, "feed_forward_length": [16] * 6}

    def __init__(self, seed):
        super().__init__(seed)
        self.weights["rope_freqs.weight"] = np.array([1.0] * 2 + [1e30] * 6)  # of 16 dimensions a quarter turns


class Gemma4Moe(Gemma4):
    """The one with experts beside the MLP, whose full layers have values that are their keys."""
    CONFIG = Gemma4.CONFIG | {"hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0, "enable_moe_block": True,
                              "num_experts": 6, "top_k_experts": 3, "moe_intermediate_size": 16, "attention_k_eq_v": True}
    KEYS = Gemma4.KEYS | {"attention.head_count_kv": [2 if local else 1 for local in Gemma4.LOCAL], "expert_count": 6,
                          "expert_used_count": 3, "expert_feed_forward_length": 16,
                          "embedding_length_per_layer_input": 0, "attention.shared_kv_layers": 0}
