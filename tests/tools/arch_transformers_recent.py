"""Models of the transformers package with random weights: those that text and pictures share, and those with unusual layers."""
import numpy as np
import torch
import transformers

from arch_transformers_more import FULL, LOCAL, Compact, experts, permuted
from arch_transformers_sparse import SPARSE, Headed
from arch_written import V


class Chameleon(Compact):
    """Picture tokens, which the package leaves out of the logits, are none of the vocabulary."""
    architecture, model, config = "chameleon", "ChameleonForConditionalGeneration", "ChameleonConfig"
    CONFIG = {"swin_norm": False, "vocabulary_map": {"<image>": V - 1},
              "vq_config": {"base_channels": 32, "channel_multiplier": [1], "num_res_blocks": 1, "num_embeddings": 4, "embed_dim": 4,
                            "latent_channels": 4}}
    KEYS = {"swin_norm": False}

    def rename(self, name, value):
        which = name.split(".")[-2]
        heads = {"q_proj": self.H, "k_proj": self.G}.get(which)
        if "vqmodel" in name:
            return
        if which in ("q_norm", "k_norm"):  # the rows of a head as the file has them, for rotation in adjacent pairs
            value = value.reshape(len(value), 2, -1).swapaxes(1, 2).reshape(len(value), -1)
        super().rename(name, permuted(value, heads) if heads else value)


class ChameleonSwin(Chameleon):
    CONFIG, KEYS = Chameleon.CONFIG | {"swin_norm": True}, {"swin_norm": True}


class HrmText(Compact):
    architecture, model, config, G = "hrm_text", "HrmTextForCausalLM", "HrmTextConfig", 4
    CONFIG = {"head_dim": 8, "num_hidden_layers": 1, "H_cycles": 2, "L_cycles": 2, "embedding_scale": 3.0, "prefix_lm": False}
    KEYS = {"block_count": 6, "embedding_scale": 3.0, "hrm.layers_per_stack": 1, "hrm.h_cycles": 2, "hrm.l_cycles": 2,
            "hrm.prefix_lm": False}
    RENAMED = [(r"model\.L_module\.layers\.0\.", "blk.0."), (r"model\.H_module\.layers\.0\.", "blk.1."),
               (r"self_attn\.gate_proj", "attn_gate"), (r"model\.z_L_init", "hrm.z_l_init")]


class Minimax01(Compact):
    architecture, model, config, L, F = "minimax-01", "MiniMaxForCausalLM", "MiniMaxConfig", 3, 16
    FACTORS = [f"{part}_{which}_factor" for part in ("full_attn", "linear_attn", "mlp") for which in ("alpha", "beta")]
    CONFIG = {"head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "block_size": 8,
              "layer_types": ["linear_attention", "full_attention", "linear_attention"]} | {
        name: 1.5 if "alpha" in name else 1.0 for name in FACTORS}
    KEYS = {"expert_count": 4, "expert_used_count": 2, "attention.recurrent_layers": [True, False, True], "residual_scale": 1.5}
    RENAMED = [(r"self_attn\.qkv_proj", "attn_qkv"), (r"self_attn\.out_proj", "attn_output"), (r"self_attn\.output_gate", "attn_gate"),
               (r"self_attn\.norm", "attn_norm_2")]

    def drawn(self, name, shape):
        made = self.run.state_dict()[name].numpy()
        return made if name.endswith(("slope_rate", "decay")) else super().drawn(name, shape)

    def rename(self, name, value):
        if not name.endswith(("slope_rate", "decay")):
            super().rename(name, value)


class MuseGlimmer(Compact):
    architecture, config = "muse-glimmer", "MuseGlimmerTextConfig"
    CONFIG = {"head_dim": 8, "sliding_window": 12, "layer_types": [LOCAL, FULL], "layer_rope_theta": [10000.0, 0],
              "final_logit_softcapping": 4.0, "output_multiplier": 0.5, "qk_scale_factor": 2.0, "rms_norm_eps": 1e-5}
    KEYS = {"attention.sliding_window": 12, "attention.sliding_window_pattern": [True, False], "logit_scale": 0.5,
            "final_logit_softcapping": 4.0}
    RENAMED = [(r"post_attention_layernorm", "post_attention_norm"), (r"pre_feedforward_layernorm", "ffn_norm"),
               (r"post_feedforward_layernorm", "post_ffw_norm"), (r"self_attn\.gate_proj", "attn_gate")]

    def built(self, config):
        return Headed("MuseGlimmerTextModel", config)

    def drawn(self, name, shape):  # gains are stored less 1
        return super().drawn(name, shape) - (1 if name.endswith("layernorm.weight") else 0)

    def rename(self, name, value):
        heads = {"q_proj": self.H, "k_proj": self.G}.get(name.split(".")[-2])
        if name.endswith("layernorm.weight"):
            value = value + 1
        if heads == self.H:
            block = f"blk.{name.split('.')[2]}."
            self.weights[block + "attn_q_norm.weight"], self.weights[block + "attn_k_norm.weight"] = np.full(8, 2.0), np.ones(8)
        super().rename(name, permuted(value, heads) if heads else value)

    def logits(self, tokens):
        with torch.no_grad():
            rows = self.run.model(torch.tensor([tokens]), use_cache=False).last_hidden_state[0]
            return (4 * torch.tanh(self.run.lm_head(rows) * 0.5 / 4)).numpy()


class Step35(Compact):
    architecture, config = "step35", "Step3p7TextConfig"
    CONFIG = {"head_dim": 8, "sliding_window": 12, "layer_types": [FULL, LOCAL, FULL], "num_hidden_layers": 3,
              "mlp_layer_types": ["dense", "sparse", "sparse"], "num_sliding_attention_heads": 6, "n_routed_experts": 4,
              "num_experts_per_tok": 2, "moe_intermediate_size": 16, "share_expert_dim": 16, "moe_router_scaling_factor": 1.5,
              "swiglu_limits": [0.0, 0.0, 0.5], "swiglu_limits_shared": [0.0, 0.4, 0.5],
              "rope_parameters": {FULL: {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
                                  LOCAL: {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}}}
    KEYS = experts(expert_shared_feed_forward_length=16, expert_weights_scale=1.5, expert_weights_norm=True,
                   expert_gating_func=2) | {
        "block_count": 3, "attention.head_count": [4, 6, 4], "attention.head_count_kv": [2, 2, 2], "attention.sliding_window": 12,
        "attention.sliding_window_pattern": [False, True, False], "leading_dense_block_count": 1, "rope.freq_base": 500000.0,
        "rope.freq_base_swa": 10000.0, "rope.dimension_count": 8, "swiglu_clamp_exp": [0.0, 0.0, 0.5],
        "swiglu_clamp_shexp": [0.0, 0.4, 0.5]}
    RENAMED = [(r"self_attn\.g_proj", "attn_gate")]

    def built(self, config):
        return Headed("Step3p7TextModel", config)

    def drawn(self, name, shape):  # gains are stored less 1
        return super().drawn(name, shape) - (1 if name.endswith("norm.weight") else 0)

    def rename(self, name, value):
        super().rename(name, value + 1 if name.endswith("norm.weight") else value)

    def logits(self, tokens):
        with torch.no_grad():
            return self.run.lm_head(self.run.model(torch.tensor([tokens]), use_cache=False).last_hidden_state[0]).numpy()


class JinaBertV3(Compact):
    architecture, config, kind, G = "jina-bert-v3", "JinaEmbeddingsV3Config", "encoder", 4
    CONFIG = {"type_vocab_size": 1}
    KEYS = {"attention.layer_norm_epsilon": 1e-5}
    RENAMED = [(r"embeddings\.word_embeddings", "token_embd"), (r"embeddings\.token_type_embeddings", "token_types"),
               (r"embeddings\.LayerNorm", "token_embd_norm"), (r"^layers\.(\d+)\.", r"blk.\1."),
               (r"post_attention_layernorm", "attn_output_norm"), (r"post_mlp_layernorm", "layer_output_norm"),
               (r"mlp\.fc1", "ffn_up"), (r"mlp\.fc2", "ffn_down")]

    def built(self, config):
        return transformers.JinaEmbeddingsV3Model(config, add_pooling_layer=False)

    def keys(self):
        self.run.config.rms_norm_eps = 1e-5
        keys = super().keys()
        del keys["attention.layer_norm_rms_epsilon"]
        return keys

    def rows(self, tokens):
        with torch.no_grad():
            return self.run(torch.tensor([tokens])).last_hidden_state[0].numpy()


RECENT = SPARSE | {
    "chameleon": Chameleon, "chameleon_swin": ChameleonSwin, "hrm_text": HrmText, "minimax_01": Minimax01,
    "muse_glimmer": MuseGlimmer, "step35": Step35, "jina_bert_v3": JinaBertV3}
