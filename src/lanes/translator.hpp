// The translator's parts: one class, its methods by what they read (declarations.cpp, statements.cpp, expressions.cpp).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lanes/lexer.hpp"
#include "lanes/translate.hpp"

namespace soffit::lanes {

// [begin, end) of the token list.
struct Range {
  size_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

struct Attribute {
  std::string name, arguments;  // arguments as C++ text, empty when there are none
};

struct ParsedParameter {
  std::string name;
  std::string kind;   // "buffer", "threadgroup" or a position's attribute
  std::string index;  // C++ text
  bool constant = false, writable = false;
};

struct ParsedKernel {
  std::string name, host_name;
  bool is_template = false;
  uint32_t line = 0, scope = 0;
  std::string max_threads = "0";
  std::vector<ParsedParameter> parameters;
};

class Translator {
 public:
  Translator(const Tokens& tokens, const TranslationRequest& request)
      : tokens_(tokens.list), files_(tokens.files), request_(request) {}
  Result<std::string> run();

 private:
  struct Fault {  // of the source: ends the translation of the declaration it is in
    size_t token;
    std::string message;
  };
  // Whoever looks for a token behind the last finds that the source ends too early, whatever it holds.
  class Source {
   public:
    explicit Source(const std::vector<Token>& tokens) : tokens_(tokens) {}
    size_t size() const { return tokens_.size(); }
    const Token& operator[](size_t i) const {
      if (i >= tokens_.size()) throw Fault{tokens_.size() - 1, "the source ends too early"};
      return tokens_[i];
    }

   private:
    const std::vector<Token>& tokens_;
  };

  using Attributes = std::vector<Attribute>;

  // lint.cpp: what this translator could do without, and Metal could not
  void refuse_without_address_space(Range type, size_t mark);
  void refuse_local_variable(size_t end, bool is_constexpr, bool marks);
  void refuse_kernel(size_t name, const ParsedKernel& kernel);
  void refuse_recursion();
  size_t argument_count(size_t open) const;  // of a call or list of parameters
  void add_once(std::vector<std::string>& list, std::string text) const;

  // declarations.cpp
  void declarations(size_t end);
  void declaration(bool is_template = false);
  void refuse_unknown_words();
  bool attributes_begin(size_t at) const;
  size_t attributes_end(size_t at, Attributes* to = nullptr);  // behind "]]"
  std::string host_name(const Attribute& attribute, size_t token) const;
  void template_header();
  void instantiation();
  void type_definition();
  void struct_body(size_t end);
  void anonymous_member();
  void alias();
  void function_or_variable(bool is_template, bool member);
  void specifiers(size_t end, bool member);
  void global_variable(size_t end, const Attributes& attributes);
  void static_assertion();

  // functions.cpp
  void function(size_t name, const Attributes& attributes, bool is_template, bool member);
  void function_body(std::string_view name);
  bool is_defaulted(size_t open) const;  // whose parameters begin there: f(…) = default
  void parameter_list(size_t close);
  ParsedKernel kernel(size_t name, const Attributes& attributes, bool is_template);
  ParsedParameter parameter(Range range);

  // statements.cpp
  void block();
  void statement();
  void body();
  void parenthesised();
  void loop();
  void do_loop();
  void simple_statement();
  void threadgroup_variables(size_t end);
  void constant_variable(size_t end);
  void place();  // where the statement that follows stands

  // expressions.cpp
  void expression(size_t end);
  void raw(size_t end);              // an expression without sites
  std::string text_of(Range range);  // the same, aside
  void identifier(size_t end);
  void punctuator();
  void opening();
  void binary(size_t length);
  void unary();
  void question();
  void member_access();
  void typed(size_t end, size_t type);
  void template_call();
  void number();
  void call_with_place();  // "(" of a call: the place goes first

  // types.cpp
  size_t type_end(size_t at) const;  // behind the type that begins there, without * and &; `at` when none does
  size_t named_type_end(size_t at) const;
  bool is_number_type(Range type) const;
  void type(size_t end);                         // writes it
  void pointer_marks(size_t end);                // * & const and address spaces behind it
  size_t parenthesised_type(size_t open) const;  // behind ")" if the parentheses hold a type and nothing else; or 0

  // Tokens
  const Token& now() const { return tokens_[at_]; }
  const Token& next(size_t n = 1) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  size_t matching(size_t open) const;        // the index of the bracket that closes it
  size_t template_close(size_t open) const;  // the last ">" of what "<" opens; 0 when nothing closes it
  size_t find(size_t from, size_t end, std::string_view what) const;  // outside of brackets; `end` when not there
  [[noreturn]] void fault(size_t token, std::string message) const { throw Fault{token, std::move(message)}; }
  void expect(std::string_view what);
  std::string where(size_t token) const;

  // Output
  void put(std::string_view text) { (out_ += text) += ' '; }
  void line_of(const Token& token);  // goes to the token's line
  void copy();                       // the token as it is
  uint32_t site(const Token& token, std::string_view text);
  std::string at(const Token& token, std::string_view text);  // "lanes::At{n}"
  bool checked() const { return request_.mode == Mode::checked && !raw_; }
  bool cuda() const { return request_.mode == Mode::cuda; }
  // Before a variable of namespace scope that may change, or has an address.
  std::string_view in_memory() const { return cuda() ? "static __device__ " : "static constinit "; }
  std::string tables() const;
  std::string cuda_tables() const;
  std::string parameter_table() const;
  std::string call_of(size_t entry) const;
  std::string kernel_table() const;

  struct SiteEntry {
    uint32_t file, line, column;
    std::string text;
  };
  struct ScopeEntry {
    uint32_t first, last;
    bool loop;
    std::string name;
  };
  struct GlobalConstant {
    std::string name, index;
  };

  const Source tokens_;
  const std::vector<std::string>& files_;
  const TranslationRequest& request_;
  size_t at_ = 0;
  bool after_operand_ = false, raw_ = false, behind_cast_ = false;

  struct Condition {
    uint32_t depth, site;
  };
  uint32_t depth_ = 0;                 // of brackets
  std::vector<Condition> conditions_;  // the ? that wait for their :
  std::string out_;
  bool raw_text_ = false;  // on one line
  uint32_t out_line_ = 0, out_file_ = ~0u;
  uint32_t serial_ = 0;  // of names made up

  using Names = std::set<std::string, std::less<>>;
  Names types_, structs_, type_templates_, function_templates_, members_, own_functions_, derived_names_,
      optional_;  // function constants that are asked whether they are defined
  std::vector<SiteEntry> sites_;
  std::vector<ScopeEntry> scopes_;
  std::vector<ParsedKernel> kernels_;
  std::vector<GlobalConstant> constants_;
  std::vector<std::string> arrays_;  // with their namespaces
  std::string namespace_;            // that declarations are in, and "::"
  std::string derived_;              // assignments
  struct Entry {
    std::string name, expression;
    size_t kernel;
  };
  std::vector<Entry> entries_;
  struct FunctionEntry {
    std::string name;
    size_t token, parameters;
    Range body;
  };
  std::vector<FunctionEntry> functions_;  // with bodies
  bool in_kernel_ = false, anonymous_ = false, uses_members_ = false;
  std::vector<std::string> faults_, remarks_;
};

}  // namespace soffit::lanes
