// For those who describe models: tensors, weights, blocks and the decoder they make.
#pragma once

#include "inlay/nn/altup.hpp"
#include "inlay/nn/architecture.hpp"
#include "inlay/nn/blocks.hpp"
#include "inlay/nn/borrowing.hpp"
#include "inlay/nn/decoder.hpp"
#include "inlay/nn/gated.hpp"
#include "inlay/nn/heads.hpp"
#include "inlay/nn/layers.hpp"
#include "inlay/nn/mla.hpp"
#include "inlay/nn/moe.hpp"
#include "inlay/nn/per_layer.hpp"
#include "inlay/nn/recurrent.hpp"
#include "inlay/nn/source.hpp"
#include "inlay/nn/tensor.hpp"
#include "inlay/nn/typed_encoder.hpp"
#include "inlay/nn/weights.hpp"
