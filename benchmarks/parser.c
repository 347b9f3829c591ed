/* A tight parser of JSON lines, as a limit to compare with: every byte is looked at once, every string and
 * number is taken for a token and hashed, nothing is kept. */
#include <stddef.h>
#include <stdint.h>

uint64_t parsed(const unsigned char *text, size_t length) {
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = text[i];
        if (c == '"') {
            uint64_t hash = 14695981039346656037u;
            for (i++; i < length && text[i] != '"'; i++) {
                hash = (hash ^ text[i]) * 1099511628211u;
                if (text[i] == '\\') i++;
            }
            sum += hash;
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            uint64_t value = 0;
            for (; i < length && text[i] >= '-' && text[i] <= '9'; i++) value = value * 10 + (text[i] & 15);
            sum += value;
            i--;
        } else if (c == '\n') {
            sum ^= sum << 7;
        }
    }
    return sum;
}
