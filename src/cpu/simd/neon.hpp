// NEON, alone, with dot products of bytes, and with products of small byte matrices: 4 rows a vector.
#pragma once

#include <arm_neon.h>

namespace inlay::cpu {
namespace {
namespace isa {

struct Neon {
  using arch = xsimd::neon64;
  using Bytes = uint8x16_t;
  static constexpr int rows = 4, tokens = 2, plain_tokens = 4, few_tokens = 2, most_few = 4, signed_bias = 0;
  static constexpr int paired_tokens = 0, paired_plain_tokens = 0;  // two groups of rows at once: too few registers

  static INLAY_INLINE Bytes load(const void* from) noexcept { return vld1q_u8(static_cast<const std::uint8_t*>(from)); }
  static INLAY_INLINE void store(void* to, Bytes bytes) noexcept { vst1q_u8(static_cast<std::uint8_t*>(to), bytes); }

  template <int right, int mask>
  static INLAY_INLINE Bytes field(Bytes bytes) noexcept {
    uint32x4_t lanes = vreinterpretq_u32_u8(bytes);
    if constexpr (right > 0) lanes = vshrq_n_u32(lanes, right);
    if constexpr (right < 0) lanes = vshlq_n_u32(lanes, -right);
    return vandq_u8(vreinterpretq_u8_u32(lanes), vdupq_n_u8(mask));
  }
  static INLAY_INLINE Bytes merge(Bytes a, Bytes b) noexcept { return vorrq_u8(a, b); }
  static INLAY_INLINE Bytes lookup(const std::int8_t (&table)[16], Bytes indices) noexcept {
    return vqtbl1q_u8(vreinterpretq_u8_s8(vld1q_s8(table)), indices);
  }
  template <int q>
  static INLAY_INLINE Bytes spread(const std::int8_t* codes) noexcept {
    std::int32_t quad;
    __builtin_memcpy(&quad, codes + 4 * q, sizeof quad);
    return vreinterpretq_u8_s32(vdupq_n_s32(quad));
  }

  // Codes stay below 128, so signed products serve all; a pair of them fits in 16 bits.
  template <int bits>
  struct Dot {
    int32x4_t sums;

    template <int i>
    INLAY_INLINE void add(Bytes codes, Bytes x) noexcept {
      const int8x16_t a = vreinterpretq_s8_u8(codes), b = vreinterpretq_s8_u8(x);
      const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b)), high = vmull_high_s8(a, b);
      sums = vpadalq_s16(i == 0 ? vdupq_n_s32(0) : sums, vpaddq_s16(low, high));
    }
    template <int n>
    INLAY_INLINE xsimd::batch<std::int32_t, arch> total() const noexcept {
      return sums;
    }
  };

  static INLAY_INLINE xsimd::batch<float, arch> halves(const std::uint16_t* from) noexcept {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  }
  static INLAY_INLINE xsimd::batch<float, arch> bfloats(const std::uint16_t* from) noexcept {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(from), 16));
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> ints(const std::uint8_t* from) noexcept {
    const std::int32_t lanes[4] = {from[0], from[1], from[2], from[3]};
    return vld1q_s32(lanes);
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> ints(const std::int8_t* from) noexcept {
    const std::int32_t lanes[4] = {from[0], from[1], from[2], from[3]};
    return vld1q_s32(lanes);
  }
  template <class Byte>
  static INLAY_INLINE xsimd::batch<float, arch> widen(const Byte* from) noexcept {
    return xsimd::to_float(ints(from));
  }
  static INLAY_INLINE void narrow(const xsimd::batch<std::int32_t, arch> (&from)[8], std::int8_t* to) noexcept {
    for (int i = 0; i < 8; i += 2) {
      const int16x8_t words = vcombine_s16(vmovn_s32(from[i]), vmovn_s32(from[i + 1]));
      vst1_s8(to + 4 * i, vmovn_s16(words));
    }
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> nearest(xsimd::batch<float, arch> x) noexcept {
    return vcvtnq_s32_f32(x);
  }
};

#if defined(__ARM_FEATURE_DOTPROD)
struct NeonDot : Neon {
  // Four quads of activations, of which a product takes one by its place.
  template <int place>
  struct Spread {
    int8x16_t quads;
  };
  template <int q>
  static INLAY_INLINE Spread<q % 4> spread(const std::int8_t* codes) noexcept {
    return {vld1q_s8(codes + q / 4 * 16)};
  }

  template <int bits>
  struct Dot {
    int32x4_t sums;

    template <int i, int place>
    INLAY_INLINE void add(Bytes codes, Spread<place> x) noexcept {
      sums = vdotq_laneq_s32(i == 0 ? vdupq_n_s32(0) : sums, vreinterpretq_s8_u8(codes), x.quads, place);
    }
    template <int n>
    INLAY_INLINE xsimd::batch<std::int32_t, arch> total() const noexcept {
      return sums;
    }
  };
};
#endif

#if defined(__ARM_FEATURE_MATMUL_INT8)
struct NeonI8mm : NeonDot {};
#endif

}  // namespace isa
}  // namespace
}  // namespace inlay::cpu
