// Standard output and standard error of the program. Everything for stdout goes through print(), so that a full disk or
// a reader that went away is noticed; everything else goes to stderr.
#pragma once

#include <string>
#include <string_view>

#include "soffit/status.hpp"

namespace soffit::tool {

// Adds to stdout, buffered. Nothing is written any more once a write has failed.
void print(std::string_view text);
// Writes out what print() buffered; false if that, or any write before, failed.
bool flush_stdout();
// Flushes and returns the program's exit code: `code`, or kFailed when stdout could not be written. A full disk is
// reported; a closed pipe (`soffit … | head`) is not, since the reader wanted no more.
int close_stdout(int code);

// A line on stderr. Control characters and invalid UTF-8 in it are made harmless, but for newlines: names out of files
// are passed through printable() all the same, so that no newline of theirs makes a line that looks like the program's.
void note(std::string_view text);
void warn(std::string_view text);
// Reports the error and returns the exit code that its kind means.
int fail(const Error& error);
int usage_error(std::string_view text);

enum class Style { bold, red, yellow, dim };
// The text in this style if stdout (stderr) is a terminal and NO_COLOR is not set, else the text as it is.
std::string styled(std::string_view text, Style style);
std::string styled_stderr(std::string_view text, Style style);

// Text from a file made harmless for a terminal: control bytes and invalid UTF-8 as \xNN, newline and tab as \n and \t.
std::string printable(std::string_view text);

}  // namespace soffit::tool
