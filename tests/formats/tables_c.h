/* blocks.h as a C99 compiler sees it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

const int8_t* c_iq4_values(void);
const int8_t* c_e2m1_doubled(void);
size_t c_block_size(const char* name); /* 0: no such block */

#ifdef __cplusplus
}
#endif
