// The C door to conversion.
#include "inlay/convert.hpp"

#include "api/c_api.hpp"

using namespace inlay::api;

static_assert(INLAY_WEIGHT_Q8_0 == static_cast<int>(inlay::WeightType::q8_0));

inlay_status inlay_convert(inlay_text folder, inlay_text out, inlay_weight_type type,
                           int (*progress)(void* user, float done), void* user, inlay_error* error) {
  return status_of(error, [&] {
    inlay::ConvertOptions options;
    options.type = static_cast<inlay::WeightType>(type);
    if (progress) options.progress = [&](float done) { return progress(user, done) != 0; };
    inlay::convert(view(folder), view(out), options);
    return INLAY_OK;
  });
}
