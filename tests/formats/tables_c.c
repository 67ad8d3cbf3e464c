#include "tables_c.h"

#include <string.h>

#include "formats/blocks.h"

const int8_t* c_iq4_values(void) { return kIq4Values; }
const int8_t* c_e2m1_doubled(void) { return kE2m1Doubled; }

size_t c_block_size(const char* name) {
  static const struct {
    const char* name;
    size_t size;
  } blocks[] = {
      {"q4_0", sizeof(BlockQ4_0)},   {"q4_1", sizeof(BlockQ4_1)},     {"q5_0", sizeof(BlockQ5_0)},
      {"q5_1", sizeof(BlockQ5_1)},   {"q8_0", sizeof(BlockQ8_0)},     {"q2_k", sizeof(BlockQ2_K)},
      {"q3_k", sizeof(BlockQ3_K)},   {"q4_k", sizeof(BlockQ4_K)},     {"q5_k", sizeof(BlockQ5_K)},
      {"q6_k", sizeof(BlockQ6_K)},   {"iq4_nl", sizeof(BlockIQ4_NL)}, {"iq4_xs", sizeof(BlockIQ4_XS)},
      {"mxfp4", sizeof(BlockMXFP4)}, {"tq1_0", sizeof(BlockTQ1_0)},   {"tq2_0", sizeof(BlockTQ2_0)},
  };
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i)
    if (strcmp(blocks[i].name, name) == 0) return blocks[i].size;
  return 0;
}
