# Writes OUTPUT, a C++ file with the contents of FILES (of the directory ROOT, as lists of names) for
# src/lanes/embedded.hpp. Run with cmake -P.
cmake_minimum_required(VERSION 3.25)

set(text "#include \"lanes/embedded.hpp\"\n\nnamespace soffit::lanes {\n\nconst EmbeddedFile kEmbeddedFiles[] = {\n")
set(count 0)
foreach(file IN LISTS FILES)
  string(REGEX REPLACE "^([^=]*)=(.*)$" "\\1" name "${file}")
  string(REGEX REPLACE "^([^=]*)=(.*)$" "\\2" path "${file}")
  file(READ ${path} content HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" content "${content}")
  # A string of bytes; broken in lines so that no compiler's limit is met.
  string(REGEX REPLACE "((\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..)(\\\\x..))" "\\1\"\n    \"" content "${content}")
  string(APPEND text "  {\"${name}\",\n    \"${content}\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "};\nconst unsigned kEmbeddedFileCount = ${count};\n\n}  // namespace soffit::lanes\n")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "@text@" @ONLY)
