# Object files with instruction-set flags must not give the linker a function that others may use: of the copies of an
# inline function it keeps one, and if that is the AVX-512 one, every older processor faults at its first call.
# cmake -D NM=<nm> -D "OBJECTS=a.o|b.o" -P isa_symbols.cmake
#
# For an object KIND_NAME.cpp.o (KIND: target, readers, peaks) are allowed:
#   - one plain global function, by which its table is asked for: NAME_kernels(), readers_NAME(), NAME_peaks();
#   - symbols that may be merged (weak, unique), if they mention a type of its own, VectorNAME.
# Nor may it run anything before main().
string(REPLACE "|" ";" objects "${OBJECTS}")
if(NOT objects)
  message(FATAL_ERROR "no object files to look at")
endif()
set(faults "")
foreach(object IN LISTS objects)
  get_filename_component(file ${object} NAME_WE)
  string(REGEX REPLACE "^(target|readers|peaks)_" "" name ${file})
  string(REPLACE "_" "" type_name ${name})
  execute_process(COMMAND ${NM} --demangle ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
  set(tables 0)
  foreach(symbol IN LISTS symbols)
    if(symbol MATCHES "_GLOBAL__sub_I|GLOBAL__I_")
      list(APPEND faults "${file}: runs before main: ${symbol}")
    elseif(symbol MATCHES " [TBDRGS] (.*)")
      set(text "${CMAKE_MATCH_1}")
      if(symbol MATCHES " T soffit::[a-z]+::(${name}_kernels|readers_${name}|${name}_peaks)\\(\\)$")
        math(EXPR tables "${tables} + 1")
      else()
        list(APPEND faults "${file}: global: ${text}")
      endif()
    elseif(symbol MATCHES " [VWu] (.*)")
      set(text "${CMAKE_MATCH_1}")
      string(TOLOWER "${text}" lower)
      # Undefined weak symbols have no address, so the letter comes after blanks alone.
      if(NOT lower MATCHES "vector${type_name}[^a-z0-9]" AND symbol MATCHES "^[0-9a-f]+ ")
        list(APPEND faults "${file}: may be merged with another's: ${text}")
      endif()
    endif()
  endforeach()
  if(NOT tables EQUAL 1)
    list(APPEND faults "${file}: ${tables} functions that give its table, not 1")
  endif()
endforeach()
list(LENGTH objects count)
if(faults)
  list(JOIN faults "\n  " faults)
  message(FATAL_ERROR "${count} object files:\n  ${faults}")
endif()
message(STATUS "${count} object files with instruction-set flags: no shared function among their symbols")
