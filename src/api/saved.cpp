// Sessions to files and memory, and back.
#include <algorithm>
#include <system_error>

#include "api/guarded.hpp"
#include "api/state.hpp"
#include "base/mapping.hpp"
#include "base/replacement.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

// Runs `work`; what the system says against it names the file.
template <class Work>
auto with_file(std::string_view path, const char* verb, const Work& work) {
  try {
    return work();
  } catch (const std::system_error& error) {
    throw Error(Errc::io, std::string("cannot ") + verb + " " + std::string(path) + ": " + error.code().message());
  }
}

}  // namespace

void Session::save(std::string_view path) const {
  guarded([&] {
    state_->settle();
    with_file(path, "save the session to", [&] {
      base::Replacement file{std::string(path)};
      state_->engine().wake(state_->sequence);
      state_->engine().save(state_->sequence, state_->model->fingerprint(),
                            [&](std::span<const std::byte> bytes) { file.write(bytes); });
      file.commit();
    });
  });
}

std::vector<std::byte> Session::save() const {
  return guarded([&] {
    state_->settle();
    std::vector<std::byte> saved;
    saved.reserve(state_->engine().saved_bytes(state_->sequence));
    state_->engine().wake(state_->sequence);
    state_->engine().save(state_->sequence, state_->model->fingerprint(), [&](std::span<const std::byte> bytes) {
      saved.insert(saved.end(), bytes.begin(), bytes.end());
    });
    return saved;
  });
}

Session Model::restore(std::string_view path, const SessionOptions& options) const {
  return guarded([&] {
    const auto file = with_file(path, "open the saved session",
                                [&] { return base::Mapping::open(std::string(path), base::Mapping::Way::copy); });
    return restore(file.content(), options);
  });
}

Session Model::restore(std::span<const std::byte> saved, const SessionOptions& options) const {
  return guarded([&] {
    auto session = this->session(options);
    auto& sequence = session.state_->sequence;
    auto restored = state_->engine->restore(saved, state_->fingerprint());
    restored.salt = std::move(sequence.salt);
    sequence = std::move(restored);
    return session;
  });
}

}  // namespace v0
}  // namespace inlay
