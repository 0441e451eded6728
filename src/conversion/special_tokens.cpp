// The post-processor of tokenizer.json has the first word on what is added to a text, tokenizer_config.json the second.
#include "conversion/special_tokens.hpp"

#include <algorithm>
#include <map>

namespace inlay::inline v0::conversion {
namespace {

struct Role {
  std::string name;
  std::string_view key;  // empty: such a token has no key for its id
};

// What a text of `role` tokens is called in tokenizer_config.json: a string, or an object with the content.
std::string content_of(const Json* token) {
  if (!token) return {};
  const Json* content = token->find("content");
  return std::string(content ? content->text() : token->text());
}

std::string special_id(const Json* piece) {
  const Json* special = piece ? piece->find("SpecialToken") : nullptr;
  const Json* id = special ? special->find("id") : nullptr;
  return std::string(id ? id->text() : std::string_view());
}

class Roles {
 public:
  Roles(const Json& tokenizer, const Json& settings) : tokenizer_(tokenizer) {
    for (const Role& role : roles_) texts_[role.name] = content_of(settings.find(role.name + "_token"));
    if (!tokenizer.members().empty()) read_post_processor();
    for (const Role& role : roles_) {
      const Json* added = settings.find("add_" + role.name + "_token");
      if (const auto* flag = added ? added->as<bool>() : nullptr) adds_.try_emplace(role.name, *flag);
    }
  }

  void write(const Json& config, std::int64_t vocabulary, Metadata& metadata) const {
    for (const Role& role : roles_) {
      if (role.key.empty()) continue;
      auto id = added_id(texts_.at(role.name));
      if (id < 0 || id >= vocabulary) {
        const Json* number = config.find(role.name + "_token_id");
        const auto* integer = number ? number->as<std::int64_t>() : nullptr;
        id = integer ? *integer : -1;
      }
      if (id >= 0 && id < vocabulary) metadata.set(role.key, static_cast<std::uint32_t>(id));
    }
    for (const auto& [name, flag] : adds_) {
      if (name == "bos" || name == "eos" || name == "sep") metadata.set("tokenizer.ggml.add_" + name + "_token", flag);
    }
  }

 private:
  std::int64_t added_id(std::string_view text) const {
    const Json* added = tokenizer_.find("added_tokens");
    if (!added || text.empty()) return -1;
    for (const Json& token : added->items()) {
      const Json* content = token.find("content");
      const Json* id = token.find("id");
      if (!content || !id || content->text() != text) continue;
      const auto* number = id->as<std::int64_t>();
      return number ? *number : -1;
    }
    return -1;
  }

  void read_post_processor() {
    if (texts_["bos"].empty()) texts_["bos"] = texts_["cls"];
    if (texts_["eos"].empty()) texts_["eos"] = texts_["sep"];
    const Json* all = tokenizer_.find("post_processor");
    if (!all) return;
    if (const Json* several = all->find("processors")) {
      for (const Json& one : several->items()) read_processor(one);
    } else {
      read_processor(*all);
    }
  }

  void read_processor(const Json& processor) {
    const Json* type = processor.find("type");
    if (!type) return;
    if (type->text() == "ByteLevel") {
      adds_.try_emplace("bos", false);
      adds_.try_emplace("eos", false);
    } else if (type->text() == "TemplateProcessing") {
      read_single(processor);
      read_pair(processor);
    }
  }

  // What stands around one text.
  void read_single(const Json& processor) {
    first_.clear();
    last_.clear();
    const Json* single = processor.find("single");
    if (!single || single->items().size() < 2) return;
    first_ = special_id(&single->items().front());
    last_ = special_id(&single->items().back());
    if (!first_.empty()) {
      if (texts_["bos"].empty()) texts_["bos"] = first_;
      if (texts_["cls"].empty()) texts_["cls"] = first_;
      adds_["bos"] = first_ == texts_["bos"] || first_ == texts_["cls"];
    }
    if (last_.empty()) return;
    if (last_ != texts_["eos"]) {  // what ended texts ends turns then
      roles_.push_back({"eot", "tokenizer.ggml.eot_token_id"});
      texts_["eot"] = texts_["eos"];
      texts_["eos"] = last_;
    }
    adds_["eos"] = true;
  }

  // What stands between two texts.
  void read_pair(const Json& processor) {
    const Json* pair = processor.find("pair");
    if (!pair || pair->items().empty()) return;
    auto begin = pair->items().begin(), end = pair->items().end();
    if (!first_.empty() && special_id(&*begin) == first_) ++begin;
    if (!last_.empty() && begin != end && special_id(&*(end - 1)) == last_) --end;
    if (end - begin <= 2) return;
    bool add = false;
    const std::string one = special_id(&*(begin + 1));
    if (!one.empty()) add = (one == texts_["sep"] || one == texts_["eos"]) && last_.empty();
    if (end - begin == 4) {
      const std::string two = special_id(&*(begin + 2));
      add = add || (!two.empty() && (two == texts_["sep"] || two == texts_["eos"]));
    }
    adds_["sep"] = add;
    if (add && texts_["sep"].empty()) texts_["sep"] = texts_["eos"];
  }

  const Json& tokenizer_;
  std::vector<Role> roles_ = {{"bos", "tokenizer.ggml.bos_token_id"},     {"eos", "tokenizer.ggml.eos_token_id"},
                              {"unk", "tokenizer.ggml.unknown_token_id"}, {"sep", "tokenizer.ggml.seperator_token_id"},
                              {"pad", "tokenizer.ggml.padding_token_id"}, {"cls", {}},
                              {"mask", "tokenizer.ggml.mask_token_id"}};
  std::map<std::string, std::string> texts_;
  std::map<std::string, bool> adds_;
  std::string first_, last_;
};

// Several templates have names, of which only letters and digits are kept.
void add_named_templates(const Json& templates, Metadata& metadata) {
  std::vector<std::string> names;
  for (const Json& choice : templates.items()) {
    const Json* name = choice.find("name");
    const Json* source = choice.find("template");
    if (!name || name->text().empty() || !source || !source->as<std::string>()) continue;
    std::string kept(name->text());
    for (char& c : kept) {
      const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      if (!plain) c = '_';
    }
    if (kept == "default") {
      metadata.set("tokenizer.chat_template", std::string(source->text()));
      continue;
    }
    metadata.set("tokenizer.chat_template." + kept, std::string(source->text()));
    names.push_back(std::move(kept));
  }
  if (!names.empty()) metadata.set("tokenizer.chat_templates", std::move(names));
}

void add_chat_template(const Folder& folder, const Json& settings, Metadata& metadata) {
  if (settings.members().empty()) return;
  const Json* given = settings.find("chat_template");
  if (given && given->as<Json::List>()) {
    add_named_templates(*given, metadata);
  } else if (given && given->as<std::string>()) {
    metadata.set("tokenizer.chat_template", std::string(given->text()));
  } else if (folder.has("chat_template.jinja")) {
    metadata.set("tokenizer.chat_template", folder.text("chat_template.jinja"));
  } else if (const Json file = folder.json("chat_template.json"); const Json* source = file.find("chat_template")) {
    metadata.set("tokenizer.chat_template", std::string(source->text()));
  }
}

}  // namespace

void add_special_tokens(const Folder& folder, const Json& tokenizer, const Json& config, std::int64_t vocabulary,
                        Metadata& metadata) {
  const Json settings = folder.json("tokenizer_config.json");
  Roles(tokenizer, settings).write(config, vocabulary, metadata);
  add_chat_template(folder, settings, metadata);
}

}  // namespace inlay::inline v0::conversion
