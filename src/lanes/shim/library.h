// What a compiled .metal file says of itself to the runner.
#pragma once

#include "lane.h"

namespace soffit::lanes {

// What a kernel's parameter is, by its attribute.
enum class Parameter : uint8_t {
  buffer,
  threadgroup,
  thread_position_in_grid,
  threads_per_grid,
  threadgroup_position_in_grid,
  threadgroups_per_grid,
  thread_position_in_threadgroup,
  threads_per_threadgroup,
  thread_index_in_threadgroup,
  thread_index_in_simdgroup,
  threads_per_simdgroup,
  simdgroup_index_in_threadgroup,
  simdgroups_per_threadgroup,
};

struct Position {
  uint32_t x, y, z;
};

// The arguments of a launch, as one lane sees them.
struct Arguments {
  void* const* buffers;      // by index; null where none is bound
  void* const* threadgroup;  // likewise
  Position position[13];     // by Parameter
};

struct KernelParameter {
  Parameter kind;
  uint32_t index;  // of a buffer or of threadgroup memory
  bool constant;   // in the constant address space
  bool writable;   // a pointer to device memory that is not const
  const char* name;
};

struct Kernel {
  const char* name;
  const KernelParameter* parameters;
  uint32_t parameter_count;
  uint32_t max_threads;  // of a threadgroup; 0 when it does not say
  uint32_t line;
  uint32_t scope;  // index of Library::scopes
  void (*run)(const Arguments&);
};

enum class ConstantType : uint8_t {
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  half,
  float32,
  bfloat
};
struct FunctionConstant {
  const char* name;
  uint32_t index;
  ConstantType type;
  void* address;
  bool* defined;
  bool optional;  // the kernel asks whether it is defined
};

struct Table {  // an array in the constant address space at namespace scope
  const void* address;
  uint64_t bytes;
  const char* name;
};

// An operator's place.
struct Site {
  uint32_t file, line, column;
  const char* text;  // the operator, or what kind of thing it is
};
// A function or a loop: what it contains are the sites [first, last).
struct Scope {
  uint32_t first, last;
  bool loop;
  const char* name;
};

struct Library {
  uint32_t interface;  // kInterface
  bool checked;
  const char* source;  // its name
  const Kernel* kernels;
  uint32_t kernel_count;
  const FunctionConstant* constants;
  uint32_t constant_count;
  const Table* tables;
  uint32_t table_count;
  const Site* sites;
  uint32_t site_count;
  const Scope* scopes;
  uint32_t scope_count;
  const char* const* files;
  uint32_t file_count;
  void (*set_derived_constants)();  // those computed from function constants; null when there are none
};

// For the parameters of a kernel: becomes whatever the parameter wants.
struct BufferArgument {
  void* at;
  template <class T>
  constexpr operator T*() const {
    return static_cast<T*>(at);
  }
  template <class T>
  constexpr operator T&() const {
    return *static_cast<T*>(at);
  }
};
struct PositionArgument {
  Position at;
  template <class T>
  constexpr operator T() const;
};

template <class T>
constexpr ConstantType constant_type() {
  if constexpr (std::is_same_v<T, bool>) return ConstantType::boolean;
  if constexpr (std::is_same_v<T, int8_t>) return ConstantType::int8;
  if constexpr (std::is_same_v<T, uint8_t>) return ConstantType::uint8;
  if constexpr (std::is_same_v<T, int16_t>) return ConstantType::int16;
  if constexpr (std::is_same_v<T, uint16_t>) return ConstantType::uint16;
  if constexpr (std::is_same_v<T, int32_t>) return ConstantType::int32;
  if constexpr (std::is_same_v<T, uint32_t>) return ConstantType::uint32;
  if constexpr (std::is_same_v<T, int64_t>) return ConstantType::int64;
  if constexpr (std::is_same_v<T, uint64_t>) return ConstantType::uint64;
  if constexpr (sizeof(T) == 4) return ConstantType::float32;
  return ConstantType::half;
}

}  // namespace soffit::lanes
