/* The kernel of `_pairs.c` with keys of 128 bits, for models whose states have more than 58. A compiler without
 * such numbers cannot build it; then these models are searched by the plain twin. */
#define WIDE
#include "_pairs.c"
