// soffit: the program. Finds the subcommand, parses its options, runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <functional>
#include <sstream>

#include "command.hpp"
#include "console.hpp"
#include "interrupt.hpp"
#include "open_file.hpp"
#include "options.hpp"

namespace soffit::tool {
namespace {

bool is_command(std::string_view name) {
  return std::ranges::any_of(commands(), [&](const Command* command) { return command->name == name; });
}

std::string command_names() {
  std::string names;
  for (const Command* command : commands()) names += (names.empty() ? "" : ", ") + std::string(command->name);
  return names;
}

// Help and version go to stdout and are a success; everything else that CLI11 throws is wrong usage.
int report(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out, err;
  const int code = app.exit(error, out, err);
  print(out.str());
  if (code == 0) return kDone;
  std::string text = error.what();
  std::string program = "soffit";
  for (const CLI::App* sub : app.get_subcommands()) program += " " + sub->get_name();
  return usage_error(fmt::format("{}\nsee '{} --help'", text, program));
}

int run(int argc, const char* const* argv) {
  std::vector<std::string> arguments = normalised_arguments(argc, argv);
  CLI::App app("GGUF models and their quantised linear layers, near the machine's roof.", "soffit");
  app.set_version_flag("--version", "soffit " SOFFIT_VERSION, "the program's version");
  app.set_help_flag("-h,--help", "this text");
  app.footer("'soffit COMMAND --help' shows a command's options and examples.");
  std::function<int()> action;
  for (const Command* command : commands()) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    sub->set_help_flag("-h,--help", "this text");
    sub->footer(fmt::format("Examples:\n{}", command->examples));
    sub->final_callback([&action, declared = command->declare(*sub)] { action = declared; });
  }
  if (arguments.empty()) {
    note(app.help());
    return usage_error("no command given");
  }
  if (!arguments[0].starts_with('-') && !is_command(arguments[0])) {
    return usage_error(fmt::format("there is no command '{}'; there are {}", printable(arguments[0]), command_names()));
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return report(app, error);
  }
  if (!action) return usage_error(fmt::format("no command given; there are {}", command_names()));
  return action();
}

}  // namespace
}  // namespace soffit::tool

int main(int argc, char** argv) {
  using namespace soffit::tool;
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write()
  install_interrupt_handler();
  install_lost_file_handler();
  try {
    return close_stdout(run(argc, argv));
  } catch (const std::bad_alloc&) {
    return fail({soffit::Code::out_of_memory, "out of memory"});
  } catch (const std::exception& error) {
    return fail({soffit::Code::internal, fmt::format("internal fault: {}", error.what())});
  }
}
