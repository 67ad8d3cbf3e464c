// The rendered conversations against what Jinja makes of the models' own templates.
#include "text/chat_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden.hpp"
#include "text/load_tokenizer.hpp"

namespace soffit::text::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Just enough of each template to be recognised by: the templates themselves belong to their models.
const std::pair<const char*, std::string> kTemplates[] = {
    {"smollm2",
     "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant named "
     "SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"},
    {"qwen2.5",
     "{{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}{{- '<|im_start|>system\\nYou "
     "are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\\n' }}"},
    {"qwen3",
     "<|im_start|> ns.last_query_index loop.last or (not loop.last and reasoning_content) <think> </think> "
     "{{- '<|im_start|>assistant\\n' }} enable_thinking"},
    {"qwen3-thinking-2507",
     "ns.last_query_index loop.last or (not loop.last and reasoning_content) </think> "
     "{{- '<|im_start|>assistant\\n<think>\\n' }}"},
    {"llama3", "'<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' bos_token"},
    {"llama3.1",
     "{{- bos_token }} <|start_header_id|> <|end_header_id|> \"Cutting Knowledge Date: December 2023\\n\" "
     "\"Today Date: \" + date_string"},
    {"llama3.3",
     "{{- bos_token }} <|start_header_id|> <|end_header_id|> \"Cutting Knowledge Date: December 2023\\n\" "
     "\"Today Date: \" + date_string"},
    {"gemma2", "{{ bos_token }} '<start_of_turn>' '<end_of_turn>'"},
    {"gemma3", "{{ bos_token }} '<start_of_turn>' '<end_of_turn>'"},
};

std::vector<std::vector<Message>> conversations() {
  std::vector<std::vector<Message>> out(1);
  for (const std::string& line : data_lines("chat_conversations.txt")) {
    if (line.rfind("#", 0) == 0) continue;
    const size_t space = line.find(' ');
    if (space == std::string::npos) {
      out.emplace_back();
    } else {
      out.back().push_back({line.substr(0, space), unescape(line.substr(space + 1))});
    }
  }
  return out;
}

TEST(ChatTemplate, RendersWhatJinjaRenders) {
  const auto all = conversations();
  ASSERT_EQ(all.size(), 11u);
  const std::vector<std::string> lines = data_lines("chat.golden");
  size_t templates = 0, compared = 0;
  for (size_t at = 0; at < lines.size(); ++at) {
    if (lines[at].rfind("template ", 0) != 0) continue;
    const size_t space = lines[at].rfind(' ');
    const std::string name = lines[at].substr(9, space - 9);
    const auto* known = std::find_if(std::begin(kTemplates), std::end(kTemplates),
                                     [&](const auto& entry) { return entry.first == name; });
    ASSERT_NE(known, std::end(kTemplates)) << name;
    auto chat = ChatTemplate::recognize(known->second);
    ASSERT_TRUE(chat) << name << ": " << chat.error().message;
    EXPECT_EQ(chat->wants_bos(), lines[at].substr(space + 1) == "bos") << name;
    ++templates;
    for (size_t i = 0; i < all.size() * 2; ++i) {
      const std::string& line = lines.at(at + 1 + i);
      auto text = chat->render(all[i / 2], i % 2 == 0);
      if (line == "!") {
        // Gemma 2's template refuses system messages; ours puts them before the question, as Gemma 3's does.
        const bool tolerated = name == "gemma2" && all[i / 2][0].role == "system";
        EXPECT_EQ(bool(text), tolerated) << name << ", conversation " << i / 2;
        continue;
      }
      ASSERT_TRUE(text) << name << ", conversation " << i / 2 << ": " << text.error().message;
      EXPECT_EQ(*text, unescape(line)) << name << ", conversation " << i / 2;
      ++compared;
    }
  }
  EXPECT_EQ(templates, std::size(kTemplates));
  EXPECT_GE(compared, 180u);
}

TEST(ChatTemplate, AnUnknownTemplateSaysHowToGoOn) {
  for (const char* jinja :
       {"", "{{ messages }}", "[INST] [/INST]", "<|im_start|><think></think>", "<|im_start|>assistant<|im_sep|>",
        "<start_of_turn>", "<|start_header_id|><|end_header_id|>\n\nCutting Knowledge Date: December 2023\n",
        "<|im_start|> You are a function calling AI model"}) {
    auto chat = ChatTemplate::recognize(jinja);
    ASSERT_FALSE(chat) << jinja;
    EXPECT_EQ(chat.error().code, Code::unsupported);
    EXPECT_THAT(chat.error().message, AllOf(HasSubstr("-p"), HasSubstr("--chat"), HasSubstr("Llama 3")));
  }
  auto none = ChatTemplate::of(Vocabulary{});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, AllOf(HasSubstr("tokenizer.chat_template"), HasSubstr("-p")));
}

TEST(ChatTemplate, MessagesThatNoTemplateTakesAreNamed) {
  auto chat = ChatTemplate::recognize(kTemplates[0].second);
  ASSERT_TRUE(chat);
  const auto message = [&](std::vector<Message> messages) {
    auto text = chat->render(messages);
    return text ? std::string("no error") : text.error().message;
  };
  EXPECT_THAT(message({{"user", "a"}, {"tool", "b"}}), AllOf(HasSubstr("message 1"), HasSubstr("\"tool\"")));
  EXPECT_THAT(message({{"user", "a"}, {"system", "b"}}), HasSubstr("only the first"));
  EXPECT_EQ(message({}), "no error");
  chat = ChatTemplate::recognize("<start_of_turn> <end_of_turn>");
  EXPECT_THAT(message({{"system", "s"}}), HasSubstr("user message"));
  EXPECT_THAT(message({{"system", "s"}, {"user", "a"}, {"user", "b"}}),
              AllOf(HasSubstr("turns"), HasSubstr("message 2")));
}

TEST(ChatTemplate, OfTheRealFiles) {
  const auto path = model_file("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (!path) GTEST_SKIP() << skip_reason("SmolLM2-135M-Instruct.Q4_1.gguf");
  auto file = gguf::File::open(*path);
  ASSERT_TRUE(file) << file.error().message;
  auto tokenizer = load_tokenizer(**file);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  auto chat = ChatTemplate::of((*tokenizer)->vocabulary());
  ASSERT_TRUE(chat) << chat.error().message;
  EXPECT_EQ(chat->family(), ChatFamily::chatml);
  EXPECT_EQ(chat->default_system(), "You are a helpful AI assistant named SmolLM, trained by Hugging Face");
  EXPECT_FALSE(chat->wants_bos());
  // The marks become single tokens.
  const std::vector<Message> messages = {{"user", "Hi"}};
  auto ids = (*tokenizer)->encode(*chat->render(messages), {true, true});
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->front(), 1);
  EXPECT_EQ(std::count(ids->begin(), ids->end(), 1), 3);
  EXPECT_EQ(std::count(ids->begin(), ids->end(), 2), 2);
}

}  // namespace
}  // namespace soffit::text::test
