/* Kernels for the explicit lattice in rows of bits: the compiled twin of `rowsets.PlainRows`.
 *
 * Here belong loops over all rows of a lattice and nothing else; what they mean stands in `order/rows.py`
 * and `detection/explicit/sweep.py`, and every function is tested against its Python twin.
 *
 * Layout. Of the processes the longest is the last one, along which a row runs, and the one before it the
 * inner one; the others are the outer ones. With the counts of the outer processes fixed, the counts of the
 * inner one that occur are an interval: a *plane*, whose rows stand one after another. A plane has a key (the
 * outer counts, the first process in the highest bits, each field wide enough for one more than its length, so
 * that keys ascend in lexical order and key + unit is the successor along a process or does not exist; the
 * lowest field is that of the inner process and zero), the first inner count, the number of its first row and
 * the offset of its bits. A row has a low and a high count of the last process, of 16 bits if that suffices.
 * Bit b of a row is the cut with count high - b. A set of cuts is one bit a cut, rows end to end, with a spare
 * word at the end so that 64 bits can be loaded anywhere.
 *
 * A successor row has a greater key or inner count, and its low and high counts are never lower: the same
 * counts stand at bit b + (its high - our high). Keys are sorted, so the successor plane along each outer
 * process is found by a pointer that only moves down as the planes are swept from last to first; within a
 * plane the successor rows follow one another as our own rows do, and so do their offsets.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLACES 64
#define VISIT_EVERY (1 << 16)
#define COLUMNS 6

typedef struct {
    Py_ssize_t planes, rows;
    const uint64_t *key, *offset; /* offset has planes + 1 entries */
    const int32_t *first;
    const uint32_t *row; /* planes + 1 entries */
    const void *low, *high;
    int wide; /* low and high have 32 bits */
} Rows;

typedef struct {
    Py_buffer column[COLUMNS];
    int opened;
} RowBuffers;

static void rows_release(RowBuffers *buffers) {
    while (buffers->opened) PyBuffer_Release(&buffers->column[--buffers->opened]);
}

/* From (key, first, row, offset, low, high). */
static int rows_from(PyObject *tuple, Rows *rows, RowBuffers *buffers) {
    buffers->opened = 0;
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != COLUMNS) {
        PyErr_SetString(PyExc_TypeError, "rows are six columns");
        return -1;
    }
    for (int i = 0; i < COLUMNS; i++) {
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(tuple, i), &buffers->column[i], PyBUF_SIMPLE) < 0) {
            rows_release(buffers);
            return -1;
        }
        buffers->opened++;
    }
    const Py_buffer *column = buffers->column;
    rows->planes = column[0].len / 8;
    rows->key = column[0].buf;
    rows->first = column[1].buf;
    rows->row = column[2].buf;
    rows->offset = column[3].buf;
    rows->low = column[4].buf;
    rows->high = column[5].buf;
    rows->rows = (Py_ssize_t)rows->row[rows->planes];
    rows->wide = column[4].len == rows->rows * 4 && rows->rows;
    return 0;
}

static inline int64_t count_at(const void *numbers, int wide, int64_t row) {
    return wide ? ((const int32_t *)numbers)[row] : ((const uint16_t *)numbers)[row];
}

#define LOW(rows, r) count_at((rows)->low, (rows)->wide, r)
#define HIGH(rows, r) count_at((rows)->high, (rows)->wide, r)

static inline int64_t top_of(const Rows *rows, Py_ssize_t plane) {
    return rows->first[plane] + (int64_t)(rows->row[plane + 1] - rows->row[plane]) - 1;
}

/* Goes through all rows in their order: plane and inner count, row, bounds, offset. */
typedef struct {
    Py_ssize_t plane, row;
    int64_t inner, low, high, length;
    uint64_t offset;
} Walk;

static inline void walk_begin(Walk *walk) {
    memset(walk, 0, sizeof *walk);
    walk->plane = -1;
    walk->row = -1;
}

static inline int walk_next(const Rows *rows, Walk *walk) {
    if (++walk->row >= rows->rows) return 0;
    walk->offset += (uint64_t)walk->length;
    if (walk->plane < 0 || walk->row >= (Py_ssize_t)rows->row[walk->plane + 1]) {
        walk->plane++;
        walk->inner = rows->first[walk->plane];
    } else walk->inner++;
    walk->low = LOW(rows, walk->row);
    walk->high = HIGH(rows, walk->row);
    walk->length = walk->high - walk->low + 1;
    return 1;
}

/* ---- bits ------------------------------------------------------------------------------------- */

static inline uint64_t load(const uint64_t *bits, uint64_t at) {
    uint64_t word = at >> 6, shift = at & 63;
    return bits[word] >> shift | bits[word + 1] << 1 << (63 - shift);
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

static void store_ones(uint64_t *bits, uint64_t at, uint64_t end) {
    for (; at < end && at & 63; at++) bits[at >> 6] |= (uint64_t)1 << (at & 63);
    for (; at + 64 <= end; at += 64) bits[at >> 6] = ~(uint64_t)0;
    if (at < end) bits[at >> 6] |= ones((int64_t)(end - at));
}

/* A zeroed set of cuts. */
static PyObject *empty_set(const Rows *rows) {
    Py_ssize_t words = (Py_ssize_t)((rows->offset[rows->planes] + 63) / 64) + 1;
    PyObject *found = PyByteArray_FromStringAndSize(NULL, words * 8);
    if (found) memset(PyByteArray_AS_STRING(found), 0, (size_t)words * 8);
    return found;
}

static inline uint64_t *words_of(PyObject *set) { return (uint64_t *)PyByteArray_AS_STRING(set); }

/* ---- enumeration ------------------------------------------------------------------------------ */

/* A byte array that grows; what is not written yet takes no memory. */
typedef struct {
    PyObject *bytes;
    char *at;
    Py_ssize_t room;
} Column;

static int reserve(Column *column, Py_ssize_t size) {
    if (column->bytes != NULL && size <= column->room) return 0;
    Py_ssize_t room = column->bytes == NULL ? 1024 : column->room;
    while (room < size) room *= 2;
    if (column->bytes == NULL) column->bytes = PyByteArray_FromStringAndSize(NULL, room);
    else if (PyByteArray_Resize(column->bytes, room) < 0) return -1;
    if (column->bytes == NULL) return -1;
    column->at = PyByteArray_AS_STRING(column->bytes);
    column->room = room;
    return 0;
}

typedef struct {
    Column key, first, row, offset, low, high;
    Py_ssize_t planes;
    uint64_t rows, cuts, untold;
    int wide;
} Growing;

static int told(PyObject *visit, uint64_t cuts) {
    PyObject *answer = PyObject_CallFunction(visit, "K", (unsigned long long)cuts);
    if (!answer) return -1;
    Py_DECREF(answer);
    return PyErr_CheckSignals();
}

/* One plane: its inner counts from..to; the last process between low and high and what each count says. */
static int add_plane(Growing *g, uint64_t key, int32_t from, int32_t to, int32_t low, int32_t high,
                     const int32_t *need, const int32_t *allow, PyObject *visit) {
    Py_ssize_t count = (Py_ssize_t)to - from + 1, width = g->wide ? 4 : 2;
    Py_ssize_t end = (Py_ssize_t)g->rows + count;
    if (count <= 0) return 0;
    if (end >= (Py_ssize_t)UINT32_MAX) {
        PyErr_NoMemory();
        return -1;
    }
    if (reserve(&g->key, (g->planes + 1) * 8) < 0 || reserve(&g->first, (g->planes + 1) * 4) < 0 ||
        reserve(&g->row, (g->planes + 2) * 4) < 0 || reserve(&g->offset, (g->planes + 2) * 8) < 0 ||
        reserve(&g->low, end * width) < 0 || reserve(&g->high, end * width) < 0)
        return -1;
    ((uint64_t *)g->key.at)[g->planes] = key;
    ((int32_t *)g->first.at)[g->planes] = from;
    ((uint32_t *)g->row.at)[g->planes] = (uint32_t)g->rows;
    ((uint64_t *)g->offset.at)[g->planes] = g->cuts;
    uint64_t cuts = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int32_t lowest = need[from + i] > low ? need[from + i] : low;
        int32_t highest = allow[from + i] < high ? allow[from + i] : high;
        if (g->wide) {
            ((int32_t *)g->low.at)[g->rows + (uint64_t)i] = lowest;
            ((int32_t *)g->high.at)[g->rows + (uint64_t)i] = highest;
        } else {
            ((uint16_t *)g->low.at)[g->rows + (uint64_t)i] = (uint16_t)lowest;
            ((uint16_t *)g->high.at)[g->rows + (uint64_t)i] = (uint16_t)highest;
        }
        cuts += (uint64_t)(highest - lowest + 1);
    }
    g->planes++;
    g->rows += (uint64_t)count;
    g->cuts += cuts;
    g->untold += cuts;
    if (g->untold >= VISIT_EVERY) {
        if (told(visit, g->untold) < 0) return -1;
        g->untold = 0;
    }
    return 0;
}

static PyObject *grown(Growing *g) {
    if (reserve(&g->key, 8) < 0 || reserve(&g->first, 4) < 0 || reserve(&g->row, 4) < 0 || reserve(&g->offset, 8) < 0 ||
        reserve(&g->low, 4) < 0 || reserve(&g->high, 4) < 0)
        return NULL;
    ((uint32_t *)g->row.at)[g->planes] = (uint32_t)g->rows;
    ((uint64_t *)g->offset.at)[g->planes] = g->cuts;
    Py_ssize_t width = g->wide ? 4 : 2, rows = (Py_ssize_t)g->rows;
    if (PyByteArray_Resize(g->key.bytes, g->planes * 8) < 0 || PyByteArray_Resize(g->first.bytes, g->planes * 4) < 0 ||
        PyByteArray_Resize(g->row.bytes, (g->planes + 1) * 4) < 0 ||
        PyByteArray_Resize(g->offset.bytes, (g->planes + 1) * 8) < 0 ||
        PyByteArray_Resize(g->low.bytes, rows * width) < 0 || PyByteArray_Resize(g->high.bytes, rows * width) < 0)
        return NULL;
    return PyTuple_Pack(COLUMNS, g->key.bytes, g->first.bytes, g->row.bytes, g->offset.bytes, g->low.bytes,
                        g->high.bytes);
}

typedef struct {
    int places, opened;
    Py_buffer lengths, shifts, tables[2 * MAX_PLACES];
    const int32_t *needs[MAX_PLACES], *allows[MAX_PLACES];
    int32_t *need, *allow; /* of the inner process, what each count says of the last one */
} Bounds;

static int bounds_open(Bounds *b, PyObject *lengths, PyObject *shifts, PyObject *needs, PyObject *allows) {
    memset(b, 0, sizeof *b);
    if (PyObject_GetBuffer(lengths, &b->lengths, PyBUF_SIMPLE) < 0) return -1;
    if (PyObject_GetBuffer(shifts, &b->shifts, PyBUF_SIMPLE) < 0) return -1;
    b->places = (int)(b->lengths.len / 4);
    const int32_t *length = b->lengths.buf;
    if (b->places < 2 || b->places > MAX_PLACES || b->shifts.len / 4 != b->places - 1 ||
        PyList_GET_SIZE(needs) != b->places || PyList_GET_SIZE(allows) != b->places) {
        PyErr_SetString(PyExc_ValueError, "between 2 and 64 processes, a table each");
        return -1;
    }
    for (int place = 0; place < b->places; place++) {
        for (int which = 0; which < 2; which++) {
            Py_buffer *table = &b->tables[b->opened];
            if (PyObject_GetBuffer(PyList_GET_ITEM(which ? allows : needs, place), table, PyBUF_SIMPLE) < 0) return -1;
            b->opened++;
            if (length[place] < 0 || table->len != (Py_ssize_t)4 * b->places * ((Py_ssize_t)length[place] + 1)) {
                PyErr_SetString(PyExc_ValueError, "a table has the wrong size");
                return -1;
            }
            if (which) b->allows[place] = table->buf;
            else b->needs[place] = table->buf;
        }
    }
    int inner = b->places - 2, last = b->places - 1;
    b->need = malloc(((size_t)length[inner] + 1) * 4);
    b->allow = malloc(((size_t)length[inner] + 1) * 4);
    if (b->need == NULL || b->allow == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int32_t count = 0; count <= length[inner]; count++) {
        b->need[count] = b->needs[inner][(size_t)count * (size_t)b->places + (size_t)last];
        b->allow[count] = b->allows[inner][(size_t)count * (size_t)b->places + (size_t)last];
    }
    return 0;
}

static void bounds_close(Bounds *b) {
    while (b->opened) PyBuffer_Release(&b->tables[--b->opened]);
    if (b->shifts.obj) PyBuffer_Release(&b->shifts);
    if (b->lengths.obj) PyBuffer_Release(&b->lengths);
    free(b->need);
    free(b->allow);
}

/* Nested ranges over the outer processes: each count raises what the others need and lowers what they may. */
static int all_planes(const Bounds *b, Growing *g, PyObject *visit) {
    int32_t lows[MAX_PLACES][MAX_PLACES], highs[MAX_PLACES][MAX_PLACES], count[MAX_PLACES];
    int inner = b->places - 2, last = b->places - 1, place = 0;
    const int32_t *lengths = b->lengths.buf, *shifts = b->shifts.buf;
    for (int other = 0; other < b->places; other++) {
        lows[0][other] = 0;
        highs[0][other] = lengths[other];
    }
    if (!inner) return add_plane(g, 0, 0, lengths[inner], 0, lengths[last], b->need, b->allow, visit);
    count[0] = -1;
    while (place >= 0) {
        if (++count[place] > highs[place][place]) {
            place--;
            continue;
        }
        const int32_t *need = b->needs[place] + (size_t)count[place] * (size_t)b->places;
        const int32_t *allow = b->allows[place] + (size_t)count[place] * (size_t)b->places;
        for (int other = place + 1; other < b->places; other++) {
            int32_t low = lows[place][other], high = highs[place][other];
            lows[place + 1][other] = need[other] > low ? need[other] : low;
            highs[place + 1][other] = allow[other] < high ? allow[other] : high;
        }
        if (place < inner - 1) {
            place++;
            count[place] = lows[place][place] - 1;
            continue;
        }
        uint64_t key = 0;
        for (int other = 0; other < inner; other++) key |= (uint64_t)count[other] << shifts[other];
        const int32_t *low = lows[inner], *high = highs[inner];
        if (add_plane(g, key, low[inner], high[inner], low[last], high[last], b->need, b->allow, visit) < 0) return -1;
    }
    return 0;
}

/* enumerate(lengths, shifts, needs, allows, visit): rows of the lattice.
 * lengths: int32 a place; shifts: int32 a place but the last; needs and allows: for each place a buffer of
 * int32, a line of one number a place for each count. Returns (key, first, row, offset, low, high). */
static PyObject *enumerate_rows(PyObject *self, PyObject *args) {
    PyObject *lengths, *shifts, *needs, *allows, *visit, *result = NULL;
    if (!PyArg_ParseTuple(args, "OOO!O!O", &lengths, &shifts, &PyList_Type, &needs, &PyList_Type, &allows, &visit))
        return NULL;
    Bounds bounds;
    Growing g;
    memset(&g, 0, sizeof g);
    if (bounds_open(&bounds, lengths, shifts, needs, allows) == 0) {
        g.wide = ((const int32_t *)bounds.lengths.buf)[bounds.places - 1] > UINT16_MAX;
        if (all_planes(&bounds, &g, visit) == 0 && told(visit, g.untold) == 0) result = grown(&g);
    }
    bounds_close(&bounds);
    Column *columns[] = {&g.key, &g.first, &g.row, &g.offset, &g.low, &g.high};
    for (int i = 0; i < COLUMNS; i++) Py_XDECREF(columns[i]->bytes);
    return result;
}

/* expanded(rows): each row by itself: (key, low, high, offset) in 64, 32, 32 and 64 bits. */
static PyObject *expanded(PyObject *self, PyObject *args) {
    PyObject *tuple, *found = NULL;
    Rows rows;
    RowBuffers buffers;
    if (!PyArg_ParseTuple(args, "O", &tuple) || rows_from(tuple, &rows, &buffers) < 0) return NULL;
    PyObject *key = PyBytes_FromStringAndSize(NULL, rows.rows * 8), *low = PyBytes_FromStringAndSize(NULL, rows.rows * 4);
    PyObject *high = PyBytes_FromStringAndSize(NULL, rows.rows * 4);
    PyObject *offset = PyBytes_FromStringAndSize(NULL, (rows.rows + 1) * 8);
    if (key && low && high && offset) {
        Walk walk;
        for (walk_begin(&walk); walk_next(&rows, &walk);) {
            ((uint64_t *)PyBytes_AS_STRING(key))[walk.row] = rows.key[walk.plane] + (uint64_t)walk.inner;
            ((int32_t *)PyBytes_AS_STRING(low))[walk.row] = (int32_t)walk.low;
            ((int32_t *)PyBytes_AS_STRING(high))[walk.row] = (int32_t)walk.high;
            ((uint64_t *)PyBytes_AS_STRING(offset))[walk.row] = walk.offset;
        }
        ((uint64_t *)PyBytes_AS_STRING(offset))[rows.rows] = rows.offset[rows.planes];
        found = PyTuple_Pack(4, key, low, high, offset);
    }
    Py_XDECREF(key);
    Py_XDECREF(low);
    Py_XDECREF(high);
    Py_XDECREF(offset);
    rows_release(&buffers);
    return found;
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
        Walk walk;
        if (found && shift)
            for (Py_ssize_t plane = 0; plane < rows.planes; plane++) {
                if (truth[rows.key[plane] >> shift & mask])
                    store_ones(words_of(found), rows.offset[plane], rows.offset[plane + 1]);
            }
        else if (found)
            for (walk_begin(&walk); walk_next(&rows, &walk);)
                if (truth[walk.inner]) {
                    if (walk.length <= 64) store(words_of(found), walk.offset, ones(walk.length));
                    else store_ones(words_of(found), walk.offset, walk.offset + (uint64_t)walk.length);
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
        Walk walk;
        walk_begin(&walk);
        while (found && walk_next(&rows, &walk)) {
            uint64_t from = (uint64_t)(last - walk.high);
            for (int64_t b = 0; b < walk.length; b += 64)
                store(words_of(found), walk.offset + (uint64_t)b,
                      load(table.buf, from + (uint64_t)b) & ones(walk.length - b));
        }
        rows_release(&buffers);
    }
    PyBuffer_Release(&table);
    return found;
}

/* The place of a row's first combination in a map over the counts of several processes. */
static inline uint64_t combination(const Rows *rows, const Walk *walk, const int64_t *fields, Py_ssize_t count) {
    uint64_t at = 0, key = rows->key[walk->plane] + (uint64_t)walk->inner;
    for (Py_ssize_t f = 0; f < count; f++)
        at += (key >> fields[3 * f] & (uint64_t)fields[3 * f + 1]) * (uint64_t)fields[3 * f + 2];
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
        Walk walk;
        for (walk_begin(&walk); walk_next(&rows, &walk);) {
            uint64_t at = combination(&rows, &walk, fields.buf, fields.len / 24);
            if (!stride) marks[at] = 1;
            else
                for (int64_t c = walk.low; c <= walk.high; c++) marks[at + (uint64_t)(c * stride)] = 1;
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
        Walk walk;
        walk_begin(&walk);
        while (found && walk_next(&rows, &walk)) {
            uint64_t at = combination(&rows, &walk, fields.buf, fields.len / 24);
            for (int64_t b = 0; b < walk.length; b += 64) {
                uint64_t chunk = 0;
                int64_t end = walk.length - b < 64 ? walk.length - b : 64;
                for (int64_t i = 0; i < end; i++) {
                    uint64_t here = at + (uint64_t)((walk.high - b - i) * stride);
                    chunk |= (uint64_t)(truth[here] == 2) << i;
                }
                store(words_of(found), walk.offset + (uint64_t)b, chunk);
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
    if (found) store_ones(words_of(found), 0, rows.offset[rows.planes]);
    rows_release(&buffers);
    return found;
}

/* ---- operators -------------------------------------------------------------------------------- */

/* A successor plane, as its rows are passed from the greatest inner count to the least. */
typedef struct {
    int64_t first, top; /* inner counts */
    int64_t base;       /* base + inner count is the row */
    uint64_t offset;    /* of the row passed last */
} Target;

/* Pointers to the successor planes along each outer process. */
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
        c->at[i] = rows->planes - 1;
    }
    PyBuffer_Release(&buffer);
    return 0;
}

static inline int64_t row_length(const Rows *rows, int64_t row) { return HIGH(rows, row) - LOW(rows, row) + 1; }

/* The successor planes of a plane; planes must be asked for from last to first. */
static inline int successors(const Rows *rows, Cursors *c, Py_ssize_t plane, int64_t top, Target *found) {
    int count = 0;
    for (Py_ssize_t i = 0; i < c->count; i++) {
        uint64_t key = rows->key[plane] + c->unit[i];
        Py_ssize_t at = c->at[i];
        while (at > plane && rows->key[at] > key) at--;
        c->at[i] = at;
        if (at <= plane || rows->key[at] != key || rows->first[at] > top) continue;
        Target *target = &found[count++];
        *target = (Target){rows->first[at], top_of(rows, at), (int64_t)rows->row[at] - rows->first[at], rows->offset[at + 1]};
        for (; target->top > top; target->top--)
            target->offset -= (uint64_t)row_length(rows, target->base + target->top);
    }
    return count;
}

/* A set that is written from its end to its beginning, rows of up to 64 bits. */
typedef struct {
    uint64_t *bits, word, pending;
} Writer;

static inline void flush(Writer *writer) {
    writer->bits[writer->word] |= writer->pending;
    writer->pending = 0;
}

static inline void put(Writer *writer, uint64_t at, uint64_t value) {
    uint64_t word = at >> 6, shift = at & 63;
    if (word != writer->word) {
        writer->pending |= value >> 1 >> (63 - shift); /* what reaches into the word above */
        flush(writer);
        writer->word = word;
    }
    writer->pending |= value << shift;
}

typedef struct {
    uint64_t has, exists, lacks; /* some successor has it, there is one, one lacks it */
} Around;

static inline void look(Around *around, uint64_t there, uint64_t bits) {
    around->has |= bits & there;
    around->exists |= there;
    around->lacks |= there & ~bits;
}

typedef struct {
    int every, first; /* first: the lowest bits of a row, whose bit 0 has no successor in the row */
    uint64_t final;   /* 1 if bit 0 is the final cut and that counts */
} Law;

/* value = now | while & (some or every successor's value), along 64 bits of a row. */
static inline uint64_t resolved(Law law, Around around, uint64_t seeds, uint64_t through, uint64_t carry, uint64_t mask) {
    uint64_t lowest = law.first ? 1 : 0;
    if (law.every) {
        through &= ~around.lacks;
        seeds |= through & lowest & (around.exists | law.final);
    } else seeds |= through & (around.has | (lowest & law.final));
    uint64_t start = (seeds << 1 | carry) & through;
    return (seeds | start | (((through + start) ^ through) & through)) & mask;
}

typedef struct {
    const uint64_t *now, *meanwhile;
    uint64_t *value;
    int every, at_end;
} Path;

/* A row of more than 64 cuts; `above` is the offset of the row with the next inner count, if it has one. */
static void path_long(const Rows *rows, const Path *path, int64_t row, uint64_t offset, const Target *targets, int count,
                      int64_t inner, int has_above, uint64_t above) {
    int64_t high = HIGH(rows, row), length = row_length(rows, row);
    uint64_t carry = 0, final = path->at_end && row == rows->rows - 1;
    for (int64_t b = 0; b < length; b += 64) {
        uint64_t at = offset + (uint64_t)b, mask = ones(length - b);
        Around around = {0, 0, 0};
        for (int i = -1; i < count; i++) {
            if (i < 0 ? !has_above : inner < targets[i].first || inner > targets[i].top) continue;
            int64_t there = i < 0 ? row + 1 : targets[i].base + inner;
            uint64_t start = i < 0 ? above : targets[i].offset;
            uint64_t common = ones(high - LOW(rows, there) + 1 - b) & mask;
            if (common) look(&around, common, load(path->value, start + (uint64_t)(HIGH(rows, there) - high + b)));
        }
        Law law = {path->every, !b, final};
        uint64_t result = resolved(law, around, load(path->now, at) & mask, load(path->meanwhile, at) & mask, carry, mask);
        store(path->value, at, result);
        carry = result >> 63;
    }
}

static void path_planes(const Rows *rows, Cursors *cursors, const Path *path) {
    Target targets[MAX_PLACES];
    Writer writer = {path->value, rows->offset[rows->planes] >> 6, 0};
    for (Py_ssize_t plane = rows->planes - 1; plane >= 0; plane--) {
        int64_t first = rows->first[plane], top = top_of(rows, plane);
        int count = successors(rows, cursors, plane, top, targets);
        uint64_t offset = rows->offset[plane + 1], above = 0, above_offset = 0;
        int64_t above_low = 0, above_high = 0, base = (int64_t)rows->row[plane] - first;
        flush(&writer);
        for (int64_t inner = top; inner >= first; inner--) {
            int64_t row = base + inner, low = LOW(rows, row), high = HIGH(rows, row), length = high - low + 1;
            offset -= (uint64_t)length;
            for (int i = 0; i < count; i++)
                if (inner >= targets[i].first && inner <= targets[i].top)
                    targets[i].offset -= (uint64_t)row_length(rows, targets[i].base + inner);
            if (length > 64) {
                flush(&writer);
                path_long(rows, path, row, offset, targets, count, inner, inner < top, above_offset);
                writer.word = offset >> 6;
            } else {
                Around around = {0, 0, 0};
                uint64_t mask = ones(length);
                for (int i = 0; i < count; i++) {
                    if (inner < targets[i].first || inner > targets[i].top) continue;
                    int64_t there = targets[i].base + inner, common = high - LOW(rows, there) + 1;
                    if (common <= 0) continue;
                    look(&around, ones(common), load(path->value, targets[i].offset + (uint64_t)(HIGH(rows, there) - high)));
                }
                if (inner < top && high >= above_low) {
                    uint64_t bits = above_high - above_low < 64
                                        ? above >> (above_high - high)
                                        : load(path->value, above_offset + (uint64_t)(above_high - high));
                    look(&around, ones(high - above_low + 1), bits);
                }
                Law law = {path->every, 1, path->at_end && row == rows->rows - 1};
                above = resolved(law, around, load(path->now, offset) & mask, load(path->meanwhile, offset) & mask, 0, mask);
                put(&writer, offset, above);
            }
            above_low = low;
            above_high = high;
            above_offset = offset;
        }
    }
    flush(&writer);
}

/* path(rows, units, every, at_end, now, while): value = now | while & (some or every successor's value). */
static PyObject *path(PyObject *self, PyObject *args) {
    PyObject *tuple, *units, *found = NULL;
    int every, at_end;
    Py_buffer now, meanwhile;
    Rows rows;
    RowBuffers buffers;
    Cursors cursors;
    if (!PyArg_ParseTuple(args, "OOppy*y*", &tuple, &units, &every, &at_end, &now, &meanwhile)) return NULL;
    if (rows_from(tuple, &rows, &buffers) == 0) {
        if (cursors_from(units, &rows, &cursors) == 0 && (found = empty_set(&rows)) != NULL) {
            Path work = {now.buf, meanwhile.buf, words_of(found), every, at_end};
            Py_BEGIN_ALLOW_THREADS
            path_planes(&rows, &cursors, &work);
            Py_END_ALLOW_THREADS
        }
        rows_release(&buffers);
    }
    PyBuffer_Release(&now);
    PyBuffer_Release(&meanwhile);
    return found;
}

/* some_next(rows, units, inner, last, set): the cuts with a successor in the set, along the last process, along
 * the inner one (if asked for), or along an outer process whose unit is given. */
static PyObject *some_next(PyObject *self, PyObject *args) {
    PyObject *tuple, *units, *found = NULL;
    int along_inner, along_last;
    Py_buffer set_b;
    Rows rows;
    RowBuffers buffers;
    Cursors cursors;
    Target targets[MAX_PLACES];
    if (!PyArg_ParseTuple(args, "OOppy*", &tuple, &units, &along_inner, &along_last, &set_b)) return NULL;
    if (rows_from(tuple, &rows, &buffers) < 0) goto no_rows;
    if (cursors_from(units, &rows, &cursors) < 0 || !(found = empty_set(&rows))) goto done;
    const uint64_t *set = set_b.buf;
    for (Py_ssize_t plane = rows.planes - 1; plane >= 0; plane--) {
        int64_t first = rows.first[plane], top = top_of(&rows, plane);
        int count = successors(&rows, &cursors, plane, top, targets);
        uint64_t offset = rows.offset[plane + 1], above = 0;
        for (int64_t inner = top; inner >= first; inner--) {
            int64_t row = (int64_t)rows.row[plane] - first + inner, high = HIGH(&rows, row), length = row_length(&rows, row);
            uint64_t carry = 0;
            offset -= (uint64_t)length;
            for (int i = 0; i < count; i++)
                if (inner >= targets[i].first && inner <= targets[i].top)
                    targets[i].offset -= (uint64_t)row_length(&rows, targets[i].base + inner);
            for (int64_t b = 0; b < length; b += 64) {
                uint64_t own = load(set, offset + (uint64_t)b) & ones(length - b);
                uint64_t has = along_last ? own << 1 | carry : 0;
                carry = own >> 63;
                for (int i = -1; i < count; i++) {
                    if (i < 0 ? !along_inner || inner == top : inner < targets[i].first || inner > targets[i].top) continue;
                    int64_t there = i < 0 ? row + 1 : targets[i].base + inner;
                    uint64_t start = i < 0 ? above : targets[i].offset, common = ones(high - LOW(&rows, there) + 1 - b);
                    if (common) has |= load(set, start + (uint64_t)(HIGH(&rows, there) - high + b)) & common;
                }
                store(words_of(found), offset + (uint64_t)b, has & ones(length - b));
            }
            above = offset;
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
        Walk walk;
        walk_begin(&walk);
        found = PyList_New(0);
        while (found && walk_next(&rows, &walk)) {
            int64_t highest = -1;
            for (int64_t b = (walk.length - 1) / 64 * 64; b >= 0 && highest < 0; b -= 64) {
                uint64_t chunk = load(set, walk.offset + (uint64_t)b) & ones(walk.length - b);
                if (chunk) highest = b + 63 - __builtin_clzll(chunk);
            }
            if (highest < 0) continue;
            int64_t count = walk.high - highest, level = count;
            uint64_t key = rows.key[walk.plane] + (uint64_t)walk.inner;
            for (Py_ssize_t f = 0; f < fields_b.len / 16; f++)
                level += (int64_t)(key >> fields[2 * f] & (uint64_t)fields[2 * f + 1]);
            if (level > least) continue;
            if (level < least) {
                least = level;
                PyList_SetSlice(found, 0, PyList_GET_SIZE(found), NULL);
            }
            PyObject *pair = Py_BuildValue("(nL)", walk.row, (long long)count);
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
    {"enumerate", enumerate_rows, METH_VARARGS, "Rows of a lattice: (key, first, row, offset, low, high)."},
    {"expanded", expanded, METH_VARARGS, "Each row by itself: (key, low, high, offset)."},
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
    PyModuleDef_HEAD_INIT, "possibly.detection.explicit._rows", "Kernels for the explicit lattice.", -1, methods,
};

PyMODINIT_FUNC PyInit__rows(void) { return PyModule_Create(&module); }
