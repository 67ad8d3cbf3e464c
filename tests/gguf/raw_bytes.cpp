#include "raw_bytes.hpp"

namespace soffit::gguf::test {

RawBytes sample_file() {
  using enum ValueType;
  RawBytes raw;
  raw.header(4, 25);
  raw.key("general.architecture", string).string("test");
  raw.key("u8", u8).put(uint8_t(200));
  raw.key("i8", i8).put(int8_t(-100));
  raw.key("u16", u16).put(uint16_t(60000));
  raw.key("i16", i16).put(int16_t(-30000));
  raw.key("u32", u32).put(uint32_t(4000000000));
  raw.key("i32", i32).put(int32_t(-2000000000));
  raw.key("u64", u64).put(uint64_t(1) << 63);
  raw.key("i64", i64).put(int64_t(-1) << 62);
  raw.key("f32", f32).put(1.5f);
  raw.key("f64", f64).put(0.1);
  raw.key("true", boolean).put(uint8_t(2));  // any byte but 0 is true
  raw.key("false", boolean).put(uint8_t(0));
  raw.array("u8s", u8, 3).put(uint8_t(1)).put(uint8_t(2)).put(uint8_t(255));
  raw.array("i8s", i8, 2).put(int8_t(-1)).put(int8_t(127));
  raw.array("u16s", u16, 1).put(uint16_t(65535));
  raw.array("i16s", i16, 3).put(int16_t(-1)).put(int16_t(0)).put(int16_t(1));
  raw.array("u32s", u32, 1).put(uint32_t(1) << 31);
  raw.array("i32s", i32, 2).put(int32_t(-5)).put(int32_t(5));
  raw.array("u64s", u64, 1).put(uint64_t(7));
  raw.array("i64s", i64, 1).put(int64_t(-7));
  raw.array("f32s", f32, 2).put(0.5f).put(-0.5f);
  raw.array("f64s", f64, 1).put(2.5);
  raw.array("booleans", boolean, 3).put(uint8_t(0)).put(uint8_t(1)).put(uint8_t(7));
  raw.array("strings", string, 3).string("a").string("").string("\xff\n");
  raw.tensor("matrix", {32, 3}, 8, 0);    // Q8_0: 102 bytes
  raw.tensor("vector", {5}, 0, 128);      // F32: 20 bytes
  raw.tensor("nothing", {0, 7}, 1, 160);  // F16, no elements
  raw.tensor("scalar", {}, 26, 160);      // I32 without dimensions: 4 bytes
  raw.pad().fill(102, 0x11).fill(26).fill(20, 0x22).fill(12).fill(4, 0x33).fill(28);
  return raw;
}

}  // namespace soffit::gguf::test
