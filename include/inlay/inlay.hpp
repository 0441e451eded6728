// Everything an application needs:
//
//   auto model   = inlay::Model::load("model.gguf");
//   auto session = model.session();
//   for (std::string_view text : session.generate("Why is the sky blue?")) std::cout << text << std::flush;
#pragma once

#include "inlay/batch.hpp"
#include "inlay/chat.hpp"
#include "inlay/convert.hpp"
#include "inlay/error.hpp"
#include "inlay/grammar.hpp"
#include "inlay/model.hpp"
#include "inlay/sampler.hpp"
#include "inlay/session.hpp"
#include "inlay/version.hpp"
