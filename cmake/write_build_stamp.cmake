# Writes STAMP, a C++ file, for the sources in SOURCE. Run with cmake -P at every build; see soffit_build_stamp.cmake.
set(parts src include tools cmake CMakeLists.txt CMakePresets.json)

# One hash over the names and contents of everything that a build reads of the tree.
set(patterns)
foreach(part IN LISTS parts)
  foreach(suffix cpp hpp h c cc cu cuh metal in cmake txt json)
    list(APPEND patterns ${SOURCE}/${part}/*.${suffix})
  endforeach()
endforeach()
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${SOURCE} ${patterns})
list(APPEND files CMakeLists.txt CMakePresets.json)
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 ${SOURCE}/${file} hash)
  string(APPEND all "${hash}  ${file}\n")
endforeach()
string(SHA256 SOURCE_SHA256 "${all}")

# The commit, if SOURCE is a checkout of its own and not a directory in somebody else's. The owner may be another user,
# as in a container.
set(COMMIT "")
set(DIRTY "std::nullopt")
find_program(GIT git)
if(GIT)
  set(git ${GIT} -c safe.directory=* -C ${SOURCE})
  execute_process(COMMAND ${git} rev-parse --show-prefix HEAD OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND found MATCHES "^\n([0-9a-f]+)\n$")
    set(COMMIT ${CMAKE_MATCH_1})
    execute_process(COMMAND ${git} --no-optional-locks status --porcelain -- ${parts} OUTPUT_VARIABLE changes
                    ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      if(changes STREQUAL "")
        set(DIRTY "false")
      else()
        set(DIRTY "true")
      endif()
    endif()
  endif()
endif()

# A flag with a path in it says where somebody's files are.
string(REGEX REPLACE "/[^ ]*" "PATH" FLAGS "${FLAGS}")
string(REGEX REPLACE " +" " " FLAGS "${FLAGS}")
string(STRIP "${FLAGS}" FLAGS)

configure_file(${SOURCE}/cmake/build_stamp.cpp.in ${STAMP} @ONLY)
