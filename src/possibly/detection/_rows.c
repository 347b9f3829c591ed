/* Kernels for the explicit lattice in rows of bits: the compiled twin of `rows.PlainRows`.
 *
 * Here belong loops over all rows of a lattice and nothing else; what they mean stands in `order/rows.py`
 * and `detection/sweep.py`, and every function is tested against its Python twin.
 *
 * Layout. Row r has a key (the counts of its prefix, the first process in the highest bits, each field wide
 * enough for one more than its length, so that keys ascend in lexical order and key + unit is the successor
 * along a process or does not exist), a low and a high count of the last process, and the offset of its
 * bits in a set of cuts. Bit b of a row is the cut with count high - b. A set of cuts is one bit a cut,
 * rows end to end, with a spare word at the end so that 64 bits can be loaded anywhere.
 *
 * A successor row has a higher key, and its high count is never lower: the same counts stand at bit
 * b + (its high - our high). Keys are sorted, so the successor along each process is found by a pointer
 * that only moves down as the rows are swept from last to first.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLACES 64
#define VISIT_EVERY (1 << 16)

typedef struct {
    Py_ssize_t rows;
    const uint64_t *key;
    const int32_t *low, *high;
    const uint64_t *offset; /* rows + 1 entries */
} Rows;

typedef struct {
    Py_buffer key, low, high, offset;
} RowBuffers;

static int rows_from(PyObject *tuple, Rows *rows, RowBuffers *buffers) {
    PyObject *key, *low, *high, *offset;
    if (!PyArg_ParseTuple(tuple, "OOOO", &key, &low, &high, &offset)) return -1;
    memset(buffers, 0, sizeof *buffers);
    if (PyObject_GetBuffer(key, &buffers->key, PyBUF_SIMPLE) < 0) return -1;
    if (PyObject_GetBuffer(low, &buffers->low, PyBUF_SIMPLE) < 0) goto low_failed;
    if (PyObject_GetBuffer(high, &buffers->high, PyBUF_SIMPLE) < 0) goto high_failed;
    if (PyObject_GetBuffer(offset, &buffers->offset, PyBUF_SIMPLE) < 0) goto offset_failed;
    rows->rows = buffers->key.len / (Py_ssize_t)sizeof(uint64_t);
    rows->key = buffers->key.buf;
    rows->low = buffers->low.buf;
    rows->high = buffers->high.buf;
    rows->offset = buffers->offset.buf;
    return 0;
offset_failed:
    PyBuffer_Release(&buffers->high);
high_failed:
    PyBuffer_Release(&buffers->low);
low_failed:
    PyBuffer_Release(&buffers->key);
    return -1;
}

static void rows_release(RowBuffers *buffers) {
    PyBuffer_Release(&buffers->key);
    PyBuffer_Release(&buffers->low);
    PyBuffer_Release(&buffers->high);
    PyBuffer_Release(&buffers->offset);
}

/* ---- bits ------------------------------------------------------------------------------------- */

static inline uint64_t load(const uint64_t *bits, uint64_t at) {
    uint64_t word = at >> 6, shift = at & 63;
    return shift ? bits[word] >> shift | bits[word + 1] << (64 - shift) : bits[word];
}

/* Into zeroed bits only. */
static inline void store(uint64_t *bits, uint64_t at, uint64_t value) {
    uint64_t word = at >> 6, shift = at & 63;
    bits[word] |= value << shift;
    if (shift) bits[word + 1] |= value >> (64 - shift);
}

static inline uint64_t ones(int64_t count) {
    if (count <= 0) return 0;
    return count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1;
}

/* A zeroed set of cuts. */
static PyObject *empty_set(const Rows *rows) {
    Py_ssize_t words = (Py_ssize_t)((rows->offset[rows->rows] + 63) / 64) + 1;
    PyObject *found = PyByteArray_FromStringAndSize(NULL, words * 8);
    if (found) memset(PyByteArray_AS_STRING(found), 0, (size_t)words * 8);
    return found;
}

static inline uint64_t *words_of(PyObject *set) { return (uint64_t *)PyByteArray_AS_STRING(set); }

/* ---- enumeration ------------------------------------------------------------------------------ */

typedef struct {
    Py_ssize_t count, room;
    uint64_t *key, *offset;
    int32_t *low, *high;
} Growing;

static int grow(Growing *g) {
    if (g->count + 1 < g->room) return 0;
    Py_ssize_t room = g->room ? g->room * 2 : 1024;
    void *key = realloc(g->key, (size_t)room * 8);
    if (key) g->key = key;
    void *offset = realloc(g->offset, (size_t)(room + 1) * 8);
    if (offset) g->offset = offset;
    void *low = realloc(g->low, (size_t)room * 4);
    if (low) g->low = low;
    void *high = realloc(g->high, (size_t)room * 4);
    if (high) g->high = high;
    if (!key || !offset || !low || !high) {
        PyErr_NoMemory();
        return -1;
    }
    g->room = room;
    return 0;
}

static int told(PyObject *visit, uint64_t cuts) {
    PyObject *answer = PyObject_CallFunction(visit, "K", (unsigned long long)cuts);
    if (!answer) return -1;
    Py_DECREF(answer);
    return PyErr_CheckSignals();
}

/* enumerate(lengths, shifts, needs, allows, visit): rows of the lattice.
 * lengths: int32 a place; shifts: int32 a place of the prefix; needs and allows: for each place a buffer of
 * int32, a line of one number a place for each count. Returns (key, low, high, offset). */
static PyObject *enumerate_rows(PyObject *self, PyObject *args) {
    PyObject *lengths_o, *shifts_o, *needs_o, *allows_o, *visit, *result = NULL;
    if (!PyArg_ParseTuple(args, "OOO!O!O", &lengths_o, &shifts_o, &PyList_Type, &needs_o, &PyList_Type,
                          &allows_o, &visit))
        return NULL;
    int32_t lows[MAX_PLACES][MAX_PLACES], highs[MAX_PLACES][MAX_PLACES], count[MAX_PLACES];
    const int32_t *needs[MAX_PLACES], *allows[MAX_PLACES];
    Py_buffer lengths_b, shifts_b, tables[2 * MAX_PLACES];
    int opened = 0;
    Growing g = {0, 0, NULL, NULL, NULL, NULL};
    if (PyObject_GetBuffer(lengths_o, &lengths_b, PyBUF_SIMPLE) < 0) return NULL;
    if (PyObject_GetBuffer(shifts_o, &shifts_b, PyBUF_SIMPLE) < 0) {
        PyBuffer_Release(&lengths_b);
        return NULL;
    }
    const int32_t *lengths = lengths_b.buf, *shifts = shifts_b.buf;
    int places = (int)(lengths_b.len / 4), depth = places - 1;
    if (places < 2 || places > MAX_PLACES || shifts_b.len / 4 != depth || PyList_GET_SIZE(needs_o) != places ||
        PyList_GET_SIZE(allows_o) != places) {
        PyErr_SetString(PyExc_ValueError, "between 2 and 64 processes, a table each");
        goto done;
    }
    for (int place = 0; place < places; place++) {
        for (int which = 0; which < 2; which++) {
            PyObject *list = which ? allows_o : needs_o;
            Py_buffer *table = &tables[opened];
            if (PyObject_GetBuffer(PyList_GET_ITEM(list, place), table, PyBUF_SIMPLE) < 0) goto done;
            opened++;
            if (table->len != (Py_ssize_t)4 * places * (lengths[place] + 1)) {
                PyErr_SetString(PyExc_ValueError, "a table has the wrong size");
                goto done;
            }
            if (which) allows[place] = table->buf;
            else needs[place] = table->buf;
        }
    }
    for (int place = 0; place < places; place++) {
        lows[0][place] = 0;
        highs[0][place] = lengths[place];
    }
    uint64_t cuts = 0, untold = 0;
    int place = 0;
    count[0] = -1;
    while (place >= 0) {
        if (++count[place] > highs[place][place]) {
            place--;
            continue;
        }
        const int32_t *need = needs[place] + (size_t)count[place] * places;
        const int32_t *allow = allows[place] + (size_t)count[place] * places;
        if (place < depth - 1) {
            for (int other = place + 1; other < places; other++) {
                int32_t low = lows[place][other], high = highs[place][other];
                lows[place + 1][other] = need[other] > low ? need[other] : low;
                highs[place + 1][other] = allow[other] < high ? allow[other] : high;
            }
            place++;
            count[place] = lows[place][place] - 1;
            continue;
        }
        int32_t low = need[depth] > lows[place][depth] ? need[depth] : lows[place][depth];
        int32_t high = allow[depth] < highs[place][depth] ? allow[depth] : highs[place][depth];
        if (grow(&g) < 0) goto done;
        uint64_t key = 0;
        for (int other = 0; other < depth; other++) key |= (uint64_t)count[other] << shifts[other];
        g.key[g.count] = key;
        g.low[g.count] = low;
        g.high[g.count] = high;
        g.offset[g.count] = cuts;
        g.count++;
        cuts += (uint64_t)(high - low + 1);
        untold += (uint64_t)(high - low + 1);
        if (untold >= VISIT_EVERY) {
            if (told(visit, untold) < 0) goto done;
            untold = 0;
        }
    }
    if (told(visit, untold) < 0 || grow(&g) < 0) goto done;
    g.offset[g.count] = cuts;
    result = Py_BuildValue("(y#y#y#y#)", (char *)g.key, g.count * 8, (char *)g.low, g.count * 4, (char *)g.high,
                           g.count * 4, (char *)g.offset, (g.count + 1) * 8);
done:
    free(g.key);
    free(g.offset);
    free(g.low);
    free(g.high);
    while (opened) PyBuffer_Release(&tables[--opened]);
    PyBuffer_Release(&shifts_b);
    PyBuffer_Release(&lengths_b);
    return result;
}

/* ---- predicates ------------------------------------------------------------------------------- */

/* by_prefix(rows, shift, mask, table): the cuts of the rows whose count there has its byte set. */
static PyObject *by_prefix(PyObject *self, PyObject *args) {
    PyObject *tuple;
    int shift;
    unsigned long long mask;
    Py_buffer table;
    Rows rows;
    RowBuffers buffers;
    if (!PyArg_ParseTuple(args, "OiKy*", &tuple, &shift, &mask, &table)) return NULL;
    PyObject *found = NULL;
    if (rows_from(tuple, &rows, &buffers) == 0) {
        found = empty_set(&rows);
        const char *truth = table.buf;
        for (Py_ssize_t r = 0; found && r < rows.rows; r++) {
            if (!truth[rows.key[r] >> shift & mask]) continue;
            int64_t length = rows.high[r] - rows.low[r] + 1;
            for (int64_t b = 0; b < length; b += 64)
                store(words_of(found), rows.offset[r] + (uint64_t)b, ones(length - b));
        }
        rows_release(&buffers);
    }
    PyBuffer_Release(&table);
    return found;
}

/* by_last(rows, bits, length): bit length - count of `bits` is the truth at that count of the last process. */
static PyObject *by_last(PyObject *self, PyObject *args) {
    PyObject *tuple;
    long long last;
    Py_buffer table;
    Rows rows;
    RowBuffers buffers;
    if (!PyArg_ParseTuple(args, "Oy*L", &tuple, &table, &last)) return NULL;
    PyObject *found = NULL;
    if (rows_from(tuple, &rows, &buffers) == 0) {
        found = empty_set(&rows);
        for (Py_ssize_t r = 0; found && r < rows.rows; r++) {
            int64_t length = rows.high[r] - rows.low[r] + 1;
            uint64_t from = (uint64_t)(last - rows.high[r]);
            for (int64_t b = 0; b < length; b += 64)
                store(words_of(found), rows.offset[r] + (uint64_t)b,
                      load(table.buf, from + (uint64_t)b) & ones(length - b));
        }
        rows_release(&buffers);
    }
    PyBuffer_Release(&table);
    return found;
}

/* The place of a row's first combination in a map over the counts of several processes. */
static inline uint64_t combination(const Rows *rows, Py_ssize_t r, const int64_t *fields, Py_ssize_t count) {
    uint64_t at = 0;
    for (Py_ssize_t f = 0; f < count; f++)
        at += (rows->key[r] >> fields[3 * f] & (uint64_t)fields[3 * f + 1]) * (uint64_t)fields[3 * f + 2];
    return at;
}

/* mark(rows, fields, stride, map): set to 1 each byte of the map whose combination of counts occurs.
 * fields: int64 triples (shift, mask, stride); stride of the last process, 0 if it does not matter. */
static PyObject *mark(PyObject *self, PyObject *args) {
    PyObject *tuple;
    long long stride;
    Py_buffer fields, map;
    Rows rows;
    RowBuffers buffers;
    if (!PyArg_ParseTuple(args, "Oy*Lw*", &tuple, &fields, &stride, &map)) return NULL;
    int failed = rows_from(tuple, &rows, &buffers);
    if (!failed) {
        char *marks = map.buf;
        for (Py_ssize_t r = 0; r < rows.rows; r++) {
            uint64_t at = combination(&rows, r, fields.buf, fields.len / 24);
            if (!stride) marks[at] = 1;
            else
                for (int32_t c = rows.low[r]; c <= rows.high[r]; c++) marks[at + (uint64_t)(c * stride)] = 1;
        }
        rows_release(&buffers);
    }
    PyBuffer_Release(&fields);
    PyBuffer_Release(&map);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* by_map(rows, fields, stride, map): the cuts whose combination has the byte 2. */
static PyObject *by_map(PyObject *self, PyObject *args) {
    PyObject *tuple;
    long long stride;
    Py_buffer fields, map;
    Rows rows;
    RowBuffers buffers;
    if (!PyArg_ParseTuple(args, "Oy*Ly*", &tuple, &fields, &stride, &map)) return NULL;
    PyObject *found = NULL;
    if (rows_from(tuple, &rows, &buffers) == 0) {
        found = empty_set(&rows);
        const char *truth = map.buf;
        for (Py_ssize_t r = 0; found && r < rows.rows; r++) {
            uint64_t at = combination(&rows, r, fields.buf, fields.len / 24);
            int64_t length = rows.high[r] - rows.low[r] + 1;
            for (int64_t b = 0; b < length; b += 64) {
                uint64_t chunk = 0;
                int64_t end = length - b < 64 ? length - b : 64;
                for (int64_t i = 0; i < end; i++) {
                    uint64_t here = at + (uint64_t)((rows.high[r] - b - i) * stride);
                    chunk |= (uint64_t)(truth[here] == 2) << i;
                }
                store(words_of(found), rows.offset[r] + (uint64_t)b, chunk);
            }
        }
        rows_release(&buffers);
    }
    PyBuffer_Release(&fields);
    PyBuffer_Release(&map);
    return found;
}

/* ---- connectives ------------------------------------------------------------------------------ */

/* combine(operator, first, second): `&`, `|`, `^` or `-` (first without second), word by word. */
static PyObject *combine(PyObject *self, PyObject *args) {
    int operator;
    Py_buffer a, b;
    if (!PyArg_ParseTuple(args, "Cy*y*", &operator, &a, &b)) return NULL;
    PyObject *found = NULL;
    if (a.len != b.len) PyErr_SetString(PyExc_ValueError, "sets of different lattices");
    else if ((found = PyByteArray_FromStringAndSize(NULL, a.len))) {
        const uint64_t *x = a.buf, *y = b.buf;
        uint64_t *z = words_of(found);
        for (Py_ssize_t i = 0; i < a.len / 8; i++)
            z[i] = operator == '&' ? x[i] & y[i] : operator == '|' ? x[i] | y[i] : operator == '^' ? x[i] ^ y[i]
                                                                                                   : x[i] & ~y[i];
    }
    PyBuffer_Release(&a);
    PyBuffer_Release(&b);
    return found;
}

/* everything(rows): the set of all cuts. */
static PyObject *everything(PyObject *self, PyObject *args) {
    PyObject *tuple;
    Rows rows;
    RowBuffers buffers;
    if (!PyArg_ParseTuple(args, "O", &tuple) || rows_from(tuple, &rows, &buffers) < 0) return NULL;
    PyObject *found = empty_set(&rows);
    uint64_t total = rows.offset[rows.rows];
    for (uint64_t at = 0; found && at < total; at += 64) words_of(found)[at / 64] = ones((int64_t)(total - at));
    rows_release(&buffers);
    return found;
}

/* ---- operators -------------------------------------------------------------------------------- */

/* Pointers to the successor rows along each process of the prefix. */
typedef struct {
    Py_ssize_t count;
    uint64_t unit[MAX_PLACES];
    Py_ssize_t at[MAX_PLACES];
} Cursors;

static int cursors_from(PyObject *units, const Rows *rows, Cursors *c) {
    Py_buffer buffer;
    if (PyObject_GetBuffer(units, &buffer, PyBUF_SIMPLE) < 0) return -1;
    c->count = buffer.len / 8;
    if (c->count > MAX_PLACES) {
        PyErr_SetString(PyExc_ValueError, "too many processes");
        PyBuffer_Release(&buffer);
        return -1;
    }
    for (Py_ssize_t i = 0; i < c->count; i++) {
        c->unit[i] = ((uint64_t *)buffer.buf)[i];
        c->at[i] = rows->rows - 1;
    }
    PyBuffer_Release(&buffer);
    return 0;
}

/* The successor rows of r; rows must be asked for from last to first. */
static inline int successors(const Rows *rows, Cursors *c, Py_ssize_t r, Py_ssize_t *found) {
    int count = 0;
    for (Py_ssize_t i = 0; i < c->count; i++) {
        uint64_t key = rows->key[r] + c->unit[i];
        Py_ssize_t at = c->at[i];
        while (at > r && rows->key[at] > key) at--;
        c->at[i] = at;
        if (at > r && rows->key[at] == key) found[count++] = at;
    }
    return count;
}

/* path(rows, units, every, at_end, now, while): value = now | while & (some or every successor's value). */
static PyObject *path(PyObject *self, PyObject *args) {
    PyObject *tuple, *units;
    int every, at_end;
    Py_buffer now_b, while_b;
    Rows rows;
    RowBuffers buffers;
    Cursors cursors;
    if (!PyArg_ParseTuple(args, "OOppy*y*", &tuple, &units, &every, &at_end, &now_b, &while_b)) return NULL;
    PyObject *found = NULL;
    if (rows_from(tuple, &rows, &buffers) < 0) goto no_rows;
    if (cursors_from(units, &rows, &cursors) < 0 || !(found = empty_set(&rows))) goto done;
    const uint64_t *now = now_b.buf, *meanwhile = while_b.buf;
    uint64_t *value = words_of(found);
    Py_ssize_t targets[MAX_PLACES];
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = rows.rows - 1; r >= 0; r--) {
        int64_t length = rows.high[r] - rows.low[r] + 1;
        int count = successors(&rows, &cursors, r, targets);
        uint64_t carry = 0, final = at_end && r == rows.rows - 1;
        for (int64_t b = 0; b < length; b += 64) {
            uint64_t at = rows.offset[r] + (uint64_t)b, mask = ones(length - b);
            uint64_t has = 0, exists = 0, lacks = 0;
            for (int i = 0; i < count; i++) {
                Py_ssize_t t = targets[i];
                int64_t ahead = rows.high[t] - rows.high[r];
                uint64_t there = ones(rows.high[t] - rows.low[t] + 1 - ahead - b) & mask;
                if (!there) continue;
                uint64_t bits = load(value, rows.offset[t] + (uint64_t)(ahead + b)) & there;
                has |= bits;
                exists |= there;
                lacks |= there & ~bits;
            }
            uint64_t through = load(meanwhile, at) & mask, seeds = load(now, at) & mask;
            uint64_t first = b ? 0 : 1;
            if (every) {
                through &= ~lacks;
                seeds |= through & first & (exists | final);
            } else
                seeds |= through & (has | (first & final));
            uint64_t start = (seeds << 1 | carry) & through;
            uint64_t result = (seeds | start | (((through + start) ^ through) & through)) & mask;
            store(value, at, result);
            carry = result >> 63;
        }
    }
    Py_END_ALLOW_THREADS
done:
    rows_release(&buffers);
no_rows:
    PyBuffer_Release(&now_b);
    PyBuffer_Release(&while_b);
    return found;
}

/* next(rows, units, last, set): the cuts with a successor in the set, along the last process (if asked for) or
 * along a process of the prefix whose unit is given. */
static PyObject *some_next(PyObject *self, PyObject *args) {
    PyObject *tuple, *units;
    int last;
    Py_buffer set_b;
    Rows rows;
    RowBuffers buffers;
    Cursors cursors;
    if (!PyArg_ParseTuple(args, "OOpy*", &tuple, &units, &last, &set_b)) return NULL;
    PyObject *found = NULL;
    if (rows_from(tuple, &rows, &buffers) < 0) goto no_rows;
    if (cursors_from(units, &rows, &cursors) < 0 || !(found = empty_set(&rows))) goto done;
    const uint64_t *set = set_b.buf;
    Py_ssize_t targets[MAX_PLACES];
    for (Py_ssize_t r = rows.rows - 1; r >= 0; r--) {
        int64_t length = rows.high[r] - rows.low[r] + 1;
        int count = successors(&rows, &cursors, r, targets);
        uint64_t carry = 0;
        for (int64_t b = 0; b < length; b += 64) {
            uint64_t at = rows.offset[r] + (uint64_t)b, mask = ones(length - b);
            uint64_t own = load(set, at) & mask;
            uint64_t has = last ? own << 1 | carry : 0;
            carry = own >> 63;
            for (int i = 0; i < count; i++) {
                Py_ssize_t t = targets[i];
                int64_t ahead = rows.high[t] - rows.high[r];
                uint64_t there = ones(rows.high[t] - rows.low[t] + 1 - ahead - b);
                if (there) has |= load(set, rows.offset[t] + (uint64_t)(ahead + b)) & there;
            }
            store(words_of(found), at, has & mask);
        }
    }
done:
    rows_release(&buffers);
no_rows:
    PyBuffer_Release(&set_b);
    return found;
}

/* nearest(rows, fields, set): (row, count) of the cuts of the set with the fewest events, as a list.
 * fields: int64 pairs (shift, mask) of the prefix. */
static PyObject *nearest(PyObject *self, PyObject *args) {
    PyObject *tuple;
    Py_buffer fields_b, set_b;
    Rows rows;
    RowBuffers buffers;
    if (!PyArg_ParseTuple(args, "Oy*y*", &tuple, &fields_b, &set_b)) return NULL;
    PyObject *found = NULL;
    if (rows_from(tuple, &rows, &buffers) == 0) {
        const int64_t *fields = fields_b.buf;
        const uint64_t *set = set_b.buf;
        int64_t least = INT64_MAX;
        found = PyList_New(0);
        for (Py_ssize_t r = 0; found && r < rows.rows; r++) {
            int64_t length = rows.high[r] - rows.low[r] + 1, highest = -1;
            for (int64_t b = (length - 1) / 64 * 64; b >= 0 && highest < 0; b -= 64) {
                uint64_t chunk = load(set, rows.offset[r] + (uint64_t)b) & ones(length - b);
                if (chunk) {
                    int top = 63;
                    while (!(chunk >> top & 1)) top--;
                    highest = b + top;
                }
            }
            if (highest < 0) continue;
            int64_t count = rows.high[r] - highest, level = count;
            for (Py_ssize_t f = 0; f < fields_b.len / 16; f++)
                level += (int64_t)(rows.key[r] >> fields[2 * f] & (uint64_t)fields[2 * f + 1]);
            if (level > least) continue;
            if (level < least) {
                least = level;
                PyList_SetSlice(found, 0, PyList_GET_SIZE(found), NULL);
            }
            PyObject *pair = Py_BuildValue("(nL)", r, (long long)count);
            if (!pair || PyList_Append(found, pair) < 0) Py_CLEAR(found);
            Py_XDECREF(pair);
        }
        rows_release(&buffers);
    }
    PyBuffer_Release(&fields_b);
    PyBuffer_Release(&set_b);
    return found;
}

static PyMethodDef methods[] = {
    {"enumerate", enumerate_rows, METH_VARARGS, "Rows of a lattice: (key, low, high, offset)."},
    {"everything", everything, METH_VARARGS, "The set of all cuts."},
    {"by_prefix", by_prefix, METH_VARARGS, "Cuts by the count of a process of the prefix."},
    {"by_last", by_last, METH_VARARGS, "Cuts by the count of the last process."},
    {"mark", mark, METH_VARARGS, "Mark the combinations of counts that occur."},
    {"by_map", by_map, METH_VARARGS, "Cuts by the combination of several counts."},
    {"combine", combine, METH_VARARGS, "Two sets joined by & | ^ or -."},
    {"path", path, METH_VARARGS, "An operator over paths."},
    {"some_next", some_next, METH_VARARGS, "Cuts with a successor in a set."},
    {"nearest", nearest, METH_VARARGS, "The cuts of a set with the fewest events."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "possibly.detection._rows", "Kernels for the explicit lattice.", -1, methods,
};

PyMODINIT_FUNC PyInit__rows(void) { return PyModule_Create(&module); }
