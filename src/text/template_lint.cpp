// Looks for what is likely to be a mistake in a template: what the parser noticed, and what a trial shows.
#include "inlay/error.hpp"
#include "text/template_compiled.hpp"

namespace inlay::text {
namespace {

void lint_trial(const ChatTemplate& chat, const LintContext& context, std::vector<std::string>& remarks) {
  const std::string bos(context.bos_token);
  RenderInput trial;
  trial.messages = R"([{"role": "user", "content": "Hello"}])";
  trial.bos_token = bos;
  trial.now = std::tm{};
  trial.now->tm_mday = 1;
  try {
    const std::string prompt = chat.render(trial).text;
    if (prompt.find("Hello") == prompt.npos) remarks.push_back("the template leaves out what the user says");
    if (bos.empty() || !prompt.starts_with(bos)) return;
    if (prompt.starts_with(bos + bos)) remarks.push_back("the template writes the BOS token twice");
    if (context.tokenizer_adds_bos) {
      remarks.push_back("the template writes the BOS token, and the tokenizer adds it as well");
    }
  } catch (const Error& error) {
    remarks.push_back("the template cannot render a single user message: " + std::string(error.what()));
  }
}

}  // namespace

std::vector<std::string> ChatTemplate::lint(const LintContext& context) const {
  std::vector<std::string> remarks(compiled_->syntax.remarks.begin(), compiled_->syntax.remarks.end());
  if (!mentions("messages")) remarks.push_back("the template does not look at the messages");
  if (!mentions("add_generation_prompt")) {
    remarks.push_back("the template has no generation prompt: it does not look at add_generation_prompt");
  }
  lint_trial(*this, context, remarks);
  return remarks;
}

}  // namespace inlay::text
