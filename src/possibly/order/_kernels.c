/* Kernels for slices: the compiled twin of the functions in `order/kernels.py`.
 *
 * Here belong loops over bitmaps and links and nothing else; what they mean stands in `order/bitmaps.py`,
 * `order/slice.py` and `trace/index.py`, and every function is tested against its Python twin.
 *
 * Layout. A bitmap is a bytes object of whole 64-bit words, bit s of the words for local state s, zero
 * beyond the last state. Links are three arrays: where each process begins, the 32-bit position of the near
 * end, the far end as process << shift | position in 32 or 64 bits. Everything that comes from a file is
 * checked before it is used as an index.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE (-1)
#define MOST_SOURCES 2

static inline uint64_t word_at(const char *bits, Py_ssize_t word) {
    uint64_t found;
    memcpy(&found, bits + word * 8, 8);
    return found;
}

/* ---- bitmaps --------------------------------------------------------------------------------------- */

static inline int64_t number_at(const char *numbers, int width, Py_ssize_t index) {
    if (width == 1) return ((const int8_t *)numbers)[index];
    if (width == 2) return ((const int16_t *)numbers)[index];
    return ((const int32_t *)numbers)[index];
}

typedef struct {
    uint8_t *truth; /* by value number: 0, 1, or 2 where it is not known yet */
    Py_ssize_t values;
    PyObject *unknown;
} Truths;

/* The truth of a value number; 2 becomes 0 and is noted as unknown; -1 is an error. */
static inline int truth_of(Truths *truths, int64_t number) {
    if (number < 0 || number >= truths->values) {
        PyErr_SetString(PyExc_IndexError, "a value number is out of range");
        return -1;
    }
    int truth = truths->truth[number];
    if (truth == 2) {
        PyObject *found = PyLong_FromLongLong(number);
        if (found == NULL || PyList_Append(truths->unknown, found) < 0) {
            Py_XDECREF(found);
            return -1;
        }
        Py_DECREF(found);
        truth = truths->truth[number] = 0;
    }
    return truth;
}

static void set_bits(char *bits, Py_ssize_t from, Py_ssize_t until) {
    for (Py_ssize_t i = from; i < until;) {
        if (!(i & 7) && i + 8 <= until) {
            Py_ssize_t whole = (until - i) >> 3;
            memset(bits + (i >> 3), 0xFF, (size_t)whole);
            i += whole << 3;
        } else {
            bits[i >> 3] |= (char)(1 << (i & 7));
            i++;
        }
    }
}

/* The one value number below `values` whose truth differs from that of all others; `values`, which no state
 * has, if all are alike; -1 if there is no such number, or some truth is not known. */
static int one_apart(const uint8_t *table, Py_ssize_t values) {
    Py_ssize_t counts[2] = {0, 0}, last[2] = {-1, -1};
    for (Py_ssize_t i = 0; i < values; i++) {
        if (table[i] > 1) return -1;
        counts[table[i]]++;
        last[table[i]] = i;
    }
    if (!counts[0] || !counts[1]) return (int)values;
    return counts[1] == 1 ? (int)last[1] : counts[0] == 1 ? (int)last[0] : -1;
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (uint64_t)(byte))

/* The states of numbers of one byte where one of them is set apart, as by == and !=: eight at a time, without
 * a look at the table. 0 if done, 1 if there is a number that is not below `values`. */
static int dense_apart(char *bits, const uint8_t *numbers, Py_ssize_t length, const uint8_t *table,
                       Py_ssize_t values, int apart, int first) {
    const uint64_t high = EACH_BYTE(0x80), low = EACH_BYTE(0x7F), wanted = EACH_BYTE(apart);
    const int is_true = apart < values ? table[apart] : !table[0];
    const uint64_t beyond = EACH_BYTE(0x80 - values), flip = is_true ? 0 : ~UINT64_C(0);
    uint64_t bad = 0, carry = (uint64_t)first;
    Py_ssize_t words = length >> 6;
    for (Py_ssize_t at = 0; at < words; at++) {
        uint64_t word = 0;
        for (int part = 0; part < 8; part++) {
            uint64_t eight, other;
            memcpy(&eight, numbers + at * 64 + part * 8, 8);
            bad |= eight | (eight + beyond); /* a high bit: the number is none of the values */
            other = eight ^ wanted;
            other = ~(((other & low) + low) | other) & high; /* a high bit: it is the number set apart */
            word |= (((other >> 7) * UINT64_C(0x0102040810204080)) >> 56) << (part * 8);
        }
        word ^= flip;
        uint64_t shifted = word << 1 | carry; /* state 0 is the one before the first event */
        carry = word >> 63;
        memcpy(bits + at * 8, &shifted, 8);
    }
    uint64_t rest = carry;
    for (Py_ssize_t i = words << 6; i < length; i++) {
        uint8_t truth = table[numbers[i]];
        if (numbers[i] >= values) bad |= high;
        rest |= (uint64_t)(truth & 1) << ((i & 63) + 1);
    }
    memcpy(bits + words * 8, &rest, 8);
    return (bad & high) != 0;
}

/* The same for numbers of one byte, 64 states at a time: 0 if done, 1 if some truth is not known. */
static int dense_bytes(char *bits, const uint8_t *numbers, Py_ssize_t length, const Truths *truths, int first) {
    uint8_t table[256];
    for (int i = 0; i < 256; i++) table[i] = i < truths->values ? truths->truth[i] : 2;
    for (int i = 128; i < 256; i++) table[i] = 2;
    table[(uint8_t)NONE] = (uint8_t)first;
    Py_ssize_t values = truths->values < 127 ? truths->values : 0;
    int apart = values > 1 && PY_LITTLE_ENDIAN ? one_apart(table, values) : -1;
    if (apart >= 0 && !dense_apart(bits, numbers, length, table, values, apart, first)) return 0;
    uint8_t seen = 0;
    uint64_t word = (uint64_t)first;
    for (Py_ssize_t state = 1; state <= length;) {
        Py_ssize_t until = (state | 63) < length ? (state | 63) : length;
        for (Py_ssize_t i = state; i <= until; i++) {
            uint8_t truth = table[numbers[i - 1]];
            seen |= truth;
            word |= (uint64_t)truth << (i & 63);
        }
        memcpy(bits + (state >> 6) * 8, &word, 8);
        word = 0;
        state = until + 1;
    }
    if (!length) memcpy(bits, &word, 8);
    return seen > 1;
}

static int dense(char *bits, const char *numbers, int width, Py_ssize_t length, Truths *truths, int first) {
    if (width == 1 && !dense_bytes(bits, (const uint8_t *)numbers, length, truths, first)) return 0;
    uint64_t word = (uint64_t)first;
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        int64_t number = number_at(numbers, width, i);
        int truth = first;
        if (number != NONE) {
            if ((uint64_t)number < (uint64_t)truths->values && truths->truth[number] < 2)
                truth = truths->truth[number];
            else if ((truth = truth_of(truths, number)) < 0) return -1;
        }
        Py_ssize_t state = i + 1;
        if (!(state & 63)) {
            memcpy(bits + at, &word, 8);
            at += 8;
            word = 0;
        }
        word |= (uint64_t)truth << (state & 63);
    }
    memcpy(bits + at, &word, 8);
    return 0;
}

static int sparse(char *bits, const int32_t *position, const char *numbers, int width, Py_ssize_t count,
                  Py_ssize_t length, Truths *truths, int first) {
    int truth = first;
    Py_ssize_t from = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int now = truth_of(truths, number_at(numbers, width, i));
        if (now < 0) return -1;
        if (position[i] < from || position[i] > length) {
            PyErr_SetString(PyExc_IndexError, "a position is out of range");
            return -1;
        }
        if (now == truth) continue;
        if (truth) set_bits(bits, from, position[i]);
        truth = now;
        from = position[i];
    }
    if (truth) set_bits(bits, from, length + 1);
    return 0;
}

/* pack(positions or None, numbers, length, truth, first): the bitmap of a predicate along a course, and the
 * value numbers whose truth was not known (taken as 0, and so marked in `truth`). */
static PyObject *pack(PyObject *self, PyObject *args) {
    PyObject *position_object, *found = NULL, *bitmap = NULL;
    Py_buffer numbers, truth, position = {0};
    Py_ssize_t length;
    int first, has_position = 0;
    Truths truths = {0};
    if (!PyArg_ParseTuple(args, "Oy*nw*p", &position_object, &numbers, &length, &truth, &first)) return NULL;
    /* `y*` gives a view without its item size; the count of items tells it. */
    PyObject *view = NULL;
    int width = 0;
    Py_ssize_t count = 0;
    view = PyMemoryView_FromObject(numbers.obj);
    if (view == NULL) goto done;
    width = (int)PyMemoryView_GET_BUFFER(view)->itemsize;
    count = numbers.len / width;
    if (width != 1 && width != 2 && width != 4) {
        PyErr_SetString(PyExc_ValueError, "value numbers have an unknown size");
        goto done;
    }
    if (position_object != Py_None) {
        if (PyObject_GetBuffer(position_object, &position, PyBUF_SIMPLE) < 0) goto done;
        has_position = 1;
    }
    if (length < 0 || (has_position ? position.len / 4 != count : count != length)) {
        PyErr_SetString(PyExc_IndexError, "a course has the wrong length");
        goto done;
    }
    truths.truth = truth.buf;
    truths.values = truth.len;
    truths.unknown = PyList_New(0);
    Py_ssize_t size = (length / 64 + 1) * 8;
    bitmap = PyBytes_FromStringAndSize(NULL, size);
    if (truths.unknown == NULL || bitmap == NULL) goto done;
    char *bits = PyBytes_AS_STRING(bitmap);
    memset(bits, 0, (size_t)size);
    int failed = has_position ? sparse(bits, position.buf, numbers.buf, width, count, length, &truths, first)
                              : dense(bits, numbers.buf, width, length, &truths, first);
    if (!failed) found = PyTuple_Pack(2, bitmap, truths.unknown);
done:
    Py_XDECREF(view);
    Py_XDECREF(bitmap);
    Py_XDECREF(truths.unknown);
    if (has_position) PyBuffer_Release(&position);
    PyBuffer_Release(&numbers);
    PyBuffer_Release(&truth);
    return found;
}

/* ---- least and greatest cuts ------------------------------------------------------------------------ */

typedef struct {
    Py_buffer start, position, end, read;
    int opened;
    int shift, width;
} Source;

typedef struct {
    Py_ssize_t processes;
    Py_buffer cut, bound;
    int opened;
    PyObject *states; /* a list: None or a bitmap */
    Source sources[MOST_SOURCES];
    int count;
    int32_t *queue; /* a ring of the processes to look at, a power of two and larger than their number */
    char *waiting;
    Py_ssize_t front, back, ring; /* counted on; `ring` is the mask that makes them places */
} Search;

static int source_open(PyObject *tuple, Source *source, Py_ssize_t processes) {
    PyObject *start, *position, *end, *read;
    if (!PyArg_ParseTuple(tuple, "OOOiO", &start, &position, &end, &source->shift, &read)) return -1;
    if (PyObject_GetBuffer(start, &source->start, PyBUF_SIMPLE) < 0) return -1;
    source->opened = 1;
    if (PyObject_GetBuffer(position, &source->position, PyBUF_SIMPLE) < 0) return -1;
    source->opened = 2;
    if (PyObject_GetBuffer(end, &source->end, PyBUF_ND) < 0) return -1;
    source->opened = 3;
    source->width = (int)source->end.itemsize;
    if (PyObject_GetBuffer(read, &source->read, PyBUF_WRITABLE) < 0) return -1;
    source->opened = 4;
    Py_ssize_t links = source->position.len / 4;
    const int32_t *starts = source->start.buf, *reads = source->read.buf;
    if (source->start.len / 4 != processes + 1 || source->read.len / 4 != processes ||
        (source->width != 4 && source->width != 8) || source->end.len / source->width != links ||
        source->shift < 0 || source->shift > 31) {
        PyErr_SetString(PyExc_IndexError, "links are malformed");
        return -1;
    }
    for (Py_ssize_t p = 0; p < processes; p++) {
        if (starts[p] < 0 || starts[p] > starts[p + 1] || starts[p + 1] > links || reads[p] < starts[p] ||
            reads[p] > starts[p + 1]) {
            PyErr_SetString(PyExc_IndexError, "links are malformed");
            return -1;
        }
    }
    return 0;
}

static void source_close(Source *source) {
    if (source->opened > 0) PyBuffer_Release(&source->start);
    if (source->opened > 1) PyBuffer_Release(&source->position);
    if (source->opened > 2) PyBuffer_Release(&source->end);
    if (source->opened > 3) PyBuffer_Release(&source->read);
}

static int search_open(PyObject *args, Search *search) {
    PyObject *cut, *bound, *sources, *todo;
    memset(search, 0, sizeof *search);
    if (!PyArg_ParseTuple(args, "OOO!O!O!", &cut, &bound, &PyList_Type, &search->states, &PyTuple_Type,
                          &sources, &PyList_Type, &todo))
        return -1;
    if (PyObject_GetBuffer(cut, &search->cut, PyBUF_WRITABLE) < 0) return -1;
    search->opened = 1;
    if (PyObject_GetBuffer(bound, &search->bound, PyBUF_SIMPLE) < 0) return -1;
    search->opened = 2;
    search->processes = search->cut.len / 4;
    search->count = (int)PyTuple_GET_SIZE(sources);
    if (search->bound.len != search->cut.len || PyList_GET_SIZE(search->states) != search->processes ||
        search->count > MOST_SOURCES) {
        search->count = 0;
        PyErr_SetString(PyExc_IndexError, "a cut has the wrong length");
        return -1;
    }
    for (int i = 0; i < search->count; i++)
        if (source_open(PyTuple_GET_ITEM(sources, i), &search->sources[i], search->processes) < 0) return -1;
    for (search->ring = 1; search->ring <= search->processes;) search->ring = search->ring << 1 | 1;
    search->queue = malloc(((size_t)search->ring + 1) * 4);
    search->waiting = calloc((size_t)search->processes + 1, 1);
    if (search->queue == NULL || search->waiting == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(todo); i++) {
        Py_ssize_t process = PyLong_AsSsize_t(PyList_GET_ITEM(todo, i));
        if (process == -1 && PyErr_Occurred()) return -1;
        if (process < 0 || process >= search->processes || search->waiting[process]) {
            PyErr_SetString(PyExc_IndexError, "no such process, or twice");
            return -1;
        }
        search->waiting[process] = 1;
        search->queue[search->back++] = (int32_t)process;
    }
    return 0;
}

static void search_close(Search *search) {
    for (int i = 0; i < search->count; i++) source_close(&search->sources[i]);
    if (search->opened > 0) PyBuffer_Release(&search->cut);
    if (search->opened > 1) PyBuffer_Release(&search->bound);
    free(search->queue);
    free(search->waiting);
}

static int bad_link(void) {
    PyErr_SetString(PyExc_IndexError, "a link leads out of the trace");
    return -1;
}

/* The first state from `count` on whose bit is set, -1 if there is none. */
static inline int64_t next_set(const char *bits, Py_ssize_t size, int64_t count) {
    Py_ssize_t word = (Py_ssize_t)(count >> 6), words = size / 8;
    if (word >= words) return -1;
    uint64_t here = word_at(bits, word) >> (count & 63) << (count & 63);
    while (!here) {
        if (++word >= words) return -1;
        here = word_at(bits, word);
    }
    return (int64_t)word * 64 + __builtin_ctzll(here);
}

/* The last state up to `count` whose bit is set, -1 if there is none. */
static inline int64_t last_set(const char *bits, Py_ssize_t size, int64_t count) {
    Py_ssize_t word = (Py_ssize_t)(count >> 6), words = size / 8;
    if (count < 0) return -1;
    uint64_t here;
    if (word >= words) {
        word = words - 1;
        if (word < 0) return -1;
        here = word_at(bits, word);
    } else {
        here = word_at(bits, word) << (63 - (count & 63)) >> (63 - (count & 63));
    }
    while (!here) {
        if (--word < 0) return -1;
        here = word_at(bits, word);
    }
    return (int64_t)word * 64 + 63 - __builtin_clzll(here);
}

static inline uint64_t end_at(const Source *source, Py_ssize_t link) {
    return source->width == 4 ? ((const uint32_t *)source->end.buf)[link]
                              : ((const uint64_t *)source->end.buf)[link];
}

/* Follows the links of a process from one on, upwards while they lie inside `count` or downwards while they
 * lie outside; what they move is queued. Whether a link moves its far end cannot be foretold, so there is no
 * branch for it. Yields the first link that was not followed, NONE if one leads out of the trace. */
static inline Py_ssize_t followed(Search *search, const Source *source, Py_ssize_t link, Py_ssize_t until,
                                  int64_t count, int is_up) {
    int32_t *cut = search->cut.buf, *queue = search->queue;
    char *waiting = search->waiting;
    const int32_t *position = source->position.buf;
    const char *ends = source->end.buf;
    const int is_wide = source->width == 8, shift = source->shift;
    const uint64_t processes = (uint64_t)search->processes, mask = ((uint64_t)1 << shift) - 1;
    const Py_ssize_t ring = search->ring;
    Py_ssize_t back = search->back;
    while (link != until) {
        Py_ssize_t here = is_up ? link : link - 1;
        if (is_up ? position[here] > count : position[here] <= count) break;
        uint64_t end = is_wide ? ((const uint64_t *)ends)[here] : ((const uint32_t *)ends)[here];
        uint64_t other = end >> shift;
        if (other >= processes) return NONE;
        int32_t wanted = (int32_t)(end & mask) - !is_up, now = cut[other];
        int is_moved = is_up ? now < wanted : now > wanted;
        cut[other] = is_moved ? wanted : now;
        queue[back & ring] = (int32_t)other; /* a free place: it counts only if `back` goes on */
        back += is_moved & !waiting[other];
        waiting[other] |= (char)is_moved;
        link += is_up ? 1 : -1;
    }
    search->back = back;
    return link;
}

/* Raise one process to an allowed state and follow what its events need: 1, 0 if there is no such cut. */
static int raise_one(Search *search, Py_ssize_t process) {
    int32_t *cut = search->cut.buf;
    const int32_t *high = search->bound.buf;
    int64_t count = cut[process];
    PyObject *states = PyList_GET_ITEM(search->states, process);
    if (count > high[process]) return 0;
    if (PyBytes_Check(states)) count = next_set(PyBytes_AS_STRING(states), PyBytes_GET_SIZE(states), count);
    if (count < 0 || count > high[process]) return 0;
    cut[process] = (int32_t)count;
    for (int i = 0; i < search->count; i++) {
        Source *source = &search->sources[i];
        int32_t *read = source->read.buf;
        const int32_t *start = source->start.buf;
        Py_ssize_t link = followed(search, source, read[process], start[process + 1], count, 1);
        if (link == NONE) return bad_link();
        read[process] = (int32_t)link;
    }
    return 1;
}

/* Lower one process to an allowed state and leave out what needs its events: 1, 0 if there is no such cut. */
static int lower_one(Search *search, Py_ssize_t process) {
    int32_t *cut = search->cut.buf;
    const int32_t *low = search->bound.buf;
    int64_t count = cut[process];
    PyObject *states = PyList_GET_ITEM(search->states, process);
    if (PyBytes_Check(states)) count = last_set(PyBytes_AS_STRING(states), PyBytes_GET_SIZE(states), count);
    if (count < 0 || count < low[process]) return 0;
    cut[process] = (int32_t)count;
    for (int i = 0; i < search->count; i++) {
        Source *source = &search->sources[i];
        int32_t *read = source->read.buf;
        const int32_t *start = source->start.buf;
        Py_ssize_t link = followed(search, source, read[process], start[process], count, 0);
        if (link == NONE) return bad_link();
        read[process] = (int32_t)link;
    }
    return 1;
}

#define AHEAD 4  /* processes */
#define NEARBY 8 /* links */

/* Calls for what lies at an index, and some items further, of an array that will be asked for soon. A macro:
 * some compilers drop the call of a function that does nothing else. */
#define CALL_FOR(array, index, width, nearby)                                             \
    do {                                                                                  \
        uintptr_t place = (uintptr_t)(array) + (uintptr_t)((index) * (width));            \
        __builtin_prefetch((const void *)place);                                          \
        __builtin_prefetch((const void *)(place + (uintptr_t)((nearby) * (width))));      \
    } while (0)

/* Looks at processes in the order in which they were moved: until its turn comes, each is moved as often as it
 * may be and then looked at once, which is about half as many looks as if the last were the first. With thousands of
 * processes the links of each are somewhere else and seldom in the cache, so they are called for ahead. */
static PyObject *searched(PyObject *args, int (*settle)(Search *, Py_ssize_t), Py_ssize_t nearby) {
    Search search;
    int found = 1;
    if (search_open(args, &search) < 0) {
        search_close(&search);
        return NULL;
    }
    while (search.front != search.back && found > 0) {
        int32_t process = search.queue[search.front++ & search.ring];
        if (search.back - search.front > AHEAD) {
            int32_t next = search.queue[(search.front + AHEAD) & search.ring];
            for (int i = 0; i < search.count; i++) {
                const Source *source = &search.sources[i];
                Py_ssize_t link = ((const int32_t *)source->read.buf)[next];
                CALL_FOR(source->position.buf, link, 4, nearby);
                CALL_FOR(source->end.buf, link, source->width, nearby);
            }
        }
        search.waiting[process] = 0;
        found = settle(&search, process);
    }
    search_close(&search);
    return found < 0 ? NULL : PyBool_FromLong(found);
}

/* rise(cut, high, states, sources, todo): raises `cut` to the least one of the slice that contains it. */
static PyObject *rise(PyObject *self, PyObject *args) { return searched(args, raise_one, NEARBY); }

/* fall(cut, low, states, sources, todo): lowers `cut` to the greatest one of the slice inside it. */
static PyObject *fall(PyObject *self, PyObject *args) { return searched(args, lower_one, -NEARBY); }

/* ---- components ------------------------------------------------------------------------------------ */

/* Events of a process that a forbidden state binds together are a block. A component has of each process a
 * range of blocks, the lowest of which needs another process, so the search goes over those blocks alone that
 * have a link, the nodes; a link to a block without one counts as a link to the node below it. What lies
 * between the nodes is numbered in passing, without being searched. */
typedef struct {
    int32_t node, process, cursor[MOST_SOURCES]; /* the next link of each source */
} Frame;

typedef struct {
    int32_t first, last; /* the positions of its block */
    int32_t index, low;  /* Tarjan's numbers; low becomes the component, negative and from -1 down */
} Node;

typedef struct {
    int32_t first, last, process, component; /* positions */
} Range;

typedef struct {
    Py_ssize_t processes, nodes;
    const int32_t *length;
    PyObject *states;
    Source sources[MOST_SOURCES];
    int count;
    int32_t *base;                 /* by process: its first node, and after the last one */
    Node *node;
    int32_t *link[MOST_SOURCES];   /* by node: its first link, and after the last one */
    int32_t *hint;                 /* by process: a node near the one asked for last */
    int32_t *stack;
    char *several;                 /* by node: it is in a component of several blocks */
    Py_ssize_t several_count;
    Frame *frames;
    Py_ssize_t height, depth, room, next;
    int32_t components;
    Range *ranges;                 /* what is in components of several blocks, by process and position */
    Py_ssize_t range_count;
} Graph;

/* The last position of the block of a position. */
static inline int32_t block_last(const Graph *graph, Py_ssize_t process, int32_t position) {
    PyObject *states = PyList_GET_ITEM(graph->states, process);
    if (!PyBytes_Check(states)) return position;
    int64_t found = next_set(PyBytes_AS_STRING(states), PyBytes_GET_SIZE(states), position);
    return found < 0 || found > graph->length[process] ? graph->length[process] : (int32_t)found;
}

static inline int32_t block_first(const Graph *graph, Py_ssize_t process, int32_t position) {
    PyObject *states = PyList_GET_ITEM(graph->states, process);
    if (!PyBytes_Check(states)) return position;
    int64_t found = last_set(PyBytes_AS_STRING(states), PyBytes_GET_SIZE(states), position - 1);
    return found < 0 ? 1 : (int32_t)found + 1;
}

/* The nodes of all processes, from the links of both sources in the order of their positions. */
static int graph_nodes(Graph *graph) {
    Py_ssize_t at[MOST_SOURCES] = {0}, node = 0;
    for (Py_ssize_t p = 0; p < graph->processes; p++) {
        graph->base[p] = (int32_t)node;
        int32_t last = 0;
        for (;;) {
            int64_t position = INT64_MAX;
            for (int i = 0; i < graph->count; i++) {
                const Source *source = &graph->sources[i];
                if (at[i] >= ((const int32_t *)source->start.buf)[p + 1]) continue;
                int32_t here = ((const int32_t *)source->position.buf)[at[i]];
                position = here < position ? here : position;
            }
            if (position == INT64_MAX) break;
            if (position < 1 || position > graph->length[p] || position < last) return bad_link();
            last = block_last(graph, p, (int32_t)position);
            graph->node[node] = (Node){block_first(graph, p, (int32_t)position), last, 0, 0};
            for (int i = 0; i < graph->count; i++) {
                const Source *source = &graph->sources[i];
                const int32_t *near = source->position.buf;
                Py_ssize_t end = ((const int32_t *)source->start.buf)[p + 1];
                graph->link[i][node] = (int32_t)at[i];
                while (at[i] < end && near[at[i]] <= last) {
                    if (near[at[i]] < position) return bad_link();
                    at[i]++;
                }
            }
            node++;
        }
    }
    graph->base[graph->processes] = (int32_t)node;
    for (int i = 0; i < graph->count; i++) graph->link[i][node] = (int32_t)at[i];
    graph->nodes = node;
    return 0;
}

/* The node of a position, or the one below it: NONE if there is no such. */
static inline int32_t node_below(Graph *graph, uint64_t process, int32_t position) {
    int32_t node = graph->hint[process], base = graph->base[process], end = graph->base[process + 1];
    while (node >= base && graph->node[node].first > position) node--;
    while (node + 1 < end && graph->node[node + 1].first <= position) node++;
    graph->hint[process] = node < base ? base : node;
    return node < base || base == end ? NONE : node;
}

/* Where a link leads: the process and the position; -1 on an error. */
static inline int far_end(const Graph *graph, int which, Py_ssize_t link, uint64_t *process, int32_t *position) {
    const Source *source = &graph->sources[which];
    uint64_t end = end_at(source, link), far = end & (((uint64_t)1 << source->shift) - 1);
    *process = end >> source->shift;
    if (*process >= (uint64_t)graph->processes || far < 1 || far > (uint64_t)graph->length[*process]) return bad_link();
    *position = (int32_t)far;
    return 0;
}

static int visit(Graph *graph, int32_t process, int32_t node) {
    if (graph->depth == graph->room) {
        Py_ssize_t room = graph->room ? graph->room * 2 : 1024;
        Frame *grown = realloc(graph->frames, (size_t)room * sizeof *grown);
        if (grown == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        graph->frames = grown;
        graph->room = room;
    }
    Frame *frame = &graph->frames[graph->depth++];
    frame->node = node;
    frame->process = process;
    for (int i = 0; i < graph->count; i++) frame->cursor[i] = graph->link[i][node];
    graph->node[node].index = graph->node[node].low = (int32_t)graph->next++;
    graph->stack[graph->height++] = node;
    return 0;
}

static inline void mark_several(Graph *graph, int32_t node) {
    graph->several_count += !graph->several[node];
    graph->several[node] = 1;
}

/* The next node that this frame's node needs, and its process: NONE if there is none left, -2 on an error. */
static inline int32_t next_need(Graph *graph, Frame *frame, uint64_t *whose) {
    int32_t node = frame->node, position;
    for (int i = 0; i < graph->count; i++) {
        while (frame->cursor[i] < graph->link[i][node + 1]) {
            if (far_end(graph, i, frame->cursor[i]++, whose, &position) < 0) return -2;
            int32_t found = node_below(graph, *whose, position);
            if (found == node && position > graph->node[node].last) mark_several(graph, node);
            if (found != NONE && found != node) return found;
        }
    }
    return NONE;
}

/* Most nodes need what is in finished components alone: they are components of their own, at once. */
static inline int is_settled(Graph *graph, int32_t process, int32_t node) {
    Node *here = &graph->node[node];
    if (node > graph->base[process] && here[-1].low >= 0) return 0;
    for (int i = 0; i < graph->count; i++)
        for (Py_ssize_t link = graph->link[i][node]; link < graph->link[i][node + 1]; link++) {
            const Source *source = &graph->sources[i];
            uint64_t end = end_at(source, link), far = end & (((uint64_t)1 << source->shift) - 1);
            uint64_t whose = end >> source->shift;
            if (whose >= (uint64_t)graph->processes || far < 1 || far > (uint64_t)graph->length[whose]) return 0;
            int32_t found = node_below(graph, whose, (int32_t)far);
            if (found != NONE && graph->node[found].low >= 0) return 0;
        }
    here->index = (int32_t)graph->next++;
    here->low = -1 - graph->components++;
    return 1;
}

/* The component of a node from which the search did not come back to an earlier one. */
static inline void close_component(Graph *graph, int32_t node) {
    int32_t component = -1 - graph->components++, is_several = graph->stack[graph->height - 1] != node, member;
    do {
        member = graph->stack[--graph->height];
        graph->node[member].low = component;
        if (is_several) mark_several(graph, member);
    } while (member != node);
}

/* Tarjan's search from a node, the nodes below it first. */
static int grow_tree(Graph *graph, int32_t process, int32_t root) {
    if (visit(graph, process, root) < 0) return -1;
    while (graph->depth) {
        Frame *frame = &graph->frames[graph->depth - 1];
        int32_t node = frame->node, below = node - 1, need;
        uint64_t whose = (uint64_t)frame->process;
        Node *here = &graph->node[node];
        int has_below = below >= graph->base[whose];
        if (has_below && !here[-1].index) need = below;
        else need = next_need(graph, frame, &whose);
        if (need == -2) return -1;
        if (need != NONE) {
            const Node *there = &graph->node[need];
            if (!there->index) {
                if (visit(graph, (int32_t)whose, need) < 0) return -1;
            } else if (there->low >= 0 && there->index < here->low) {
                here->low = there->index;
            }
            continue;
        }
        /* The node below is a need as well; it was visited first, and may be open. */
        if (has_below && here[-1].low >= 0 && here[-1].index < here->low) here->low = here[-1].index;
        graph->depth--;
        int32_t low = here->low;
        if (low == here->index) close_component(graph, node);
        if (graph->depth) {
            Node *before = &graph->node[graph->frames[graph->depth - 1].node];
            if (low < before->low) before->low = low;
        }
    }
    return 0;
}

/* A few nodes of each process in turn: then most of what they need is done, and trees stay small. */
static int graph_search(Graph *graph) {
    int32_t longest = 0;
    for (Py_ssize_t p = 0; p < graph->processes; p++) {
        int32_t count = graph->base[p + 1] - graph->base[p];
        longest = count > longest ? count : longest;
    }
    for (int64_t from = 0; from < longest; from += 8) {
        if (PyErr_CheckSignals() < 0) return -1;
        for (int32_t p = 0; p < graph->processes; p++) {
            int64_t until = graph->base[p] + from + 8;
            until = until < graph->base[p + 1] ? until : graph->base[p + 1];
            for (int32_t node = graph->base[p] + (int32_t)from; node < until; node++)
                if (!graph->node[node].index && !is_settled(graph, p, node) && grow_tree(graph, p, node) < 0) return -1;
        }
    }
    return 0;
}

/* How far up the blocks above a node are in its component: the last position, from links that lead there. */
static int graph_reach(Graph *graph, int32_t *reach) {
    int32_t p = 0;
    for (int32_t node = 0; node < graph->nodes; node++) {
        while (node >= graph->base[p + 1]) p++;
        if (!graph->several[node]) continue;
        for (int i = 0; i < graph->count; i++)
            for (Py_ssize_t link = graph->link[i][node]; link < graph->link[i][node + 1]; link++) {
                uint64_t whose;
                int32_t position;
                if (far_end(graph, i, link, &whose, &position) < 0) return -1;
                int32_t found = node_below(graph, whose, position);
                if (found == NONE || graph->node[found].low != graph->node[node].low) continue;
                if (position > reach[found]) reach[found] = block_last(graph, (Py_ssize_t)whose, position);
            }
    }
    return 0;
}

/* The ranges of positions that are in components of several blocks. */
static int graph_ranges(Graph *graph) {
    if (!graph->several_count) return 0;
    int32_t *reach = malloc(((size_t)graph->nodes + 1) * 4);
    graph->ranges = malloc(((size_t)graph->several_count + 1) * sizeof *graph->ranges);
    int failed = reach == NULL || graph->ranges == NULL;
    if (failed) PyErr_NoMemory();
    else {
        for (Py_ssize_t node = 0; node < graph->nodes; node++) reach[node] = graph->node[node].last;
        failed = graph_reach(graph, reach) < 0;
    }
    for (Py_ssize_t p = 0; !failed && p < graph->processes; p++) {
        Range *range = NULL;
        for (int32_t node = graph->base[p]; node < graph->base[p + 1]; node++) {
            const Node *here = &graph->node[node];
            if (!graph->several[node]) range = NULL;
            else if (range != NULL && range->component == here->low) range->last = reach[node];
            else {
                range = &graph->ranges[graph->range_count++];
                *range = (Range){here->first, reach[node], (int32_t)p, here->low};
            }
        }
    }
    free(reach);
    return failed ? -1 : 0;
}

/* Numbers the blocks from one position to another, in order; yields the next free number. */
static int32_t number_blocks(int32_t *number, PyObject *states, int32_t from, int32_t until, int32_t length, int32_t next) {
    if (!PyBytes_Check(states)) {
        for (int32_t x = from; x <= until; x++) number[x - 1] = next++;
        return next;
    }
    const char *bits = PyBytes_AS_STRING(states);
    Py_ssize_t words = PyBytes_GET_SIZE(states) / 8;
    for (int32_t x = from; x <= until;) {
        int32_t end = (x | 63) < until ? (x | 63) : until;
        uint64_t word = (x >> 6) < words ? word_at(bits, x >> 6) >> (x & 63) : 0;
        for (; x <= end; x++, word >>= 1) {
            number[x - 1] = next;
            next += (int32_t)(word & 1);
        }
    }
    int is_closed = (until >> 6) < words && word_at(bits, until >> 6) >> (until & 63) & 1;
    return until >= from && !is_closed && until == length ? next + 1 : next;
}

/* By event the number of its component; for each process the last position in a component of several events. */
static int32_t graph_numbers(Graph *graph, int32_t *number, int32_t *last, int32_t *given) {
    int32_t next = 0;
    Py_ssize_t range = 0;
    for (Py_ssize_t p = 0; p < graph->processes; p++) {
        PyObject *states = PyList_GET_ITEM(graph->states, p);
        int32_t x = 1, length = graph->length[p];
        last[p] = 0;
        for (; range < graph->range_count && graph->ranges[range].process == p; range++) {
            const Range *here = &graph->ranges[range];
            next = number_blocks(number, states, x, here->first - 1, length, next);
            int32_t *found = &given[-1 - here->component];
            if (!*found) *found = ++next;
            for (x = here->first; x <= here->last; x++) number[x - 1] = *found - 1;
            last[p] = here->last;
        }
        next = number_blocks(number, states, x, length, length, next);
        if (PyBytes_Check(states)) {
            /* The last forbidden state before the end binds two events. */
            int32_t state = length - 1;
            while (state > 0 && state < PyBytes_GET_SIZE(states) * 8 &&
                   PyBytes_AS_STRING(states)[state >> 3] >> (state & 7) & 1)
                state--;
            if (state > 0 && state + 1 > last[p]) last[p] = state + 1;
        }
        number += length;
    }
    return next;
}

static int graph_open(Graph *graph) {
    size_t processes = (size_t)graph->processes, most = 1;
    int64_t events = 0;
    for (size_t p = 0; p < processes; p++) {
        if (graph->length[p] < 0 || (events += graph->length[p]) >= INT32_MAX) return -1;
    }
    for (int i = 0; i < graph->count; i++) most += (size_t)graph->sources[i].position.len / 4;
    graph->base = malloc((processes + 1) * 4);
    graph->hint = malloc((processes + 1) * 4);
    graph->node = malloc(most * sizeof *graph->node);
    graph->stack = malloc(most * 4);
    graph->several = calloc(most, 1);
    for (int i = 0; i < graph->count; i++)
        if ((graph->link[i] = malloc((most + 1) * 4)) == NULL) return -1;
    graph->next = 1;
    return graph->base && graph->hint && graph->node && graph->stack && graph->several ? 0 : -1;
}

static void graph_close(Graph *graph) {
    for (int i = 0; i < graph->count; i++) {
        source_close(&graph->sources[i]);
        free(graph->link[i]);
    }
    free(graph->base);
    free(graph->hint);
    free(graph->node);
    free(graph->stack);
    free(graph->several);
    free(graph->frames);
    free(graph->ranges);
}

/* components(lengths, states, sources): the strongly connected components of what events need: by event, the
 * processes one after the other, the number of its component; how many there are; and for each process the
 * last position that is in a component of several events. */
static PyObject *components(PyObject *self, PyObject *args) {
    PyObject *sources, *numbers = NULL, *last = NULL, *found = NULL;
    Py_buffer lengths;
    Graph graph;
    int32_t *given = NULL;
    memset(&graph, 0, sizeof graph);
    if (!PyArg_ParseTuple(args, "y*O!O!", &lengths, &PyList_Type, &graph.states, &PyTuple_Type, &sources)) return NULL;
    graph.length = lengths.buf;
    graph.processes = lengths.len / 4;
    if (PyList_GET_SIZE(graph.states) != graph.processes || PyTuple_GET_SIZE(sources) > MOST_SOURCES) {
        PyErr_SetString(PyExc_IndexError, "a slice is malformed");
        goto done;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sources); i++) {
        graph.count = (int)i + 1;
        if (source_open(PyTuple_GET_ITEM(sources, i), &graph.sources[i], graph.processes) < 0) goto done;
    }
    if (graph_open(&graph) < 0) {
        PyErr_NoMemory();
        goto done;
    }
    if (graph_nodes(&graph) < 0) goto done;
    memcpy(graph.hint, graph.base, (size_t)graph.processes * 4);
    if (graph_search(&graph) < 0 || graph_ranges(&graph) < 0) goto done;
    Py_ssize_t events = 0;
    for (Py_ssize_t p = 0; p < graph.processes; p++) events += graph.length[p];
    numbers = PyBytes_FromStringAndSize(NULL, events * 4);
    last = PyBytes_FromStringAndSize(NULL, graph.processes * 4);
    given = calloc((size_t)graph.components + 1, 4);
    if (numbers == NULL || last == NULL || given == NULL) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        goto done;
    }
    int32_t total = graph_numbers(&graph, (int32_t *)PyBytes_AS_STRING(numbers), (int32_t *)PyBytes_AS_STRING(last), given);
    found = Py_BuildValue("OiO", numbers, total, last);
done:
    graph_close(&graph);
    free(given);
    Py_XDECREF(numbers);
    Py_XDECREF(last);
    PyBuffer_Release(&lengths);
    return found;
}

/* ---- the recorded order -------------------------------------------------------------------------------- */

static inline int is_allowed(PyObject *states, int64_t count) {
    if (!PyBytes_Check(states)) return 1;
    if (count >= PyBytes_GET_SIZE(states) * 8) return 0;
    return PyBytes_AS_STRING(states)[count >> 3] >> (count & 7) & 1;
}

/* along(process, width, processes, states): for each cut of the recorded order whether all states are
 * allowed; bit 0 is the final cut. */
static PyObject *along(PyObject *self, PyObject *args) {
    PyObject *states, *found = NULL;
    Py_buffer process;
    int width;
    Py_ssize_t processes;
    int32_t *count = NULL;
    if (!PyArg_ParseTuple(args, "y*inO!", &process, &width, &processes, &PyList_Type, &states)) return NULL;
    if (PyList_GET_SIZE(states) != processes || (width != 1 && width != 2 && width != 4)) {
        PyErr_SetString(PyExc_IndexError, "a cut has the wrong length");
        goto done;
    }
    Py_ssize_t events = process.len / width, size = (events / 64 + 1) * 8;
    count = calloc((size_t)processes + 1, 4);
    found = PyBytes_FromStringAndSize(NULL, size);
    if (count == NULL || found == NULL) {
        Py_CLEAR(found);
        PyErr_NoMemory();
        goto done;
    }
    char *bits = PyBytes_AS_STRING(found);
    memset(bits, 0, (size_t)size);
    Py_ssize_t forbidden = 0;
    for (Py_ssize_t p = 0; p < processes; p++) forbidden += !is_allowed(PyList_GET_ITEM(states, p), 0);
    Py_ssize_t bit = events;
    if (!forbidden) bits[bit >> 3] |= (char)(1 << (bit & 7));
    for (Py_ssize_t event = 0; event < events; event++) {
        int64_t p = number_at(process.buf, width, event);
        if (p < 0 || p >= processes) {
            Py_CLEAR(found);
            PyErr_SetString(PyExc_IndexError, "a process is out of range");
            goto done;
        }
        PyObject *here = PyList_GET_ITEM(states, p);
        forbidden += is_allowed(here, count[p]) - is_allowed(here, count[p] + 1);
        count[p]++;
        bit--;
        if (!forbidden) bits[bit >> 3] |= (char)(1 << (bit & 7));
    }
done:
    free(count);
    PyBuffer_Release(&process);
    return found;
}

/* ---- pairs of intervals --------------------------------------------------------------------------------
 *
 * Along the recorded order, when an interval begins, those of other processes that began before it can be met by
 * the same cut unless they are over before: what the beginning knows of the other process tells. The last one of
 * a process that has begun is over last, so it alone is asked; and the first pair that is found so of two
 * processes, with the earliest interval that is not over, is the earliest at all, since any earlier pair would
 * have begun before. So no clock is kept: of what a process knows of another one it matters only how many
 * intervals there are over. These numbers, a row, change seldom, and processes and messages that know the same
 * share one row, which is copied when one of them learns more. */

typedef struct {
    Py_ssize_t processes, members; /* members: the processes with states, numbered in their order */
    int32_t *member;               /* by process: its number among the members, or NONE */
    int32_t *whose;                /* by member: its process */
    Py_ssize_t *first;             /* by member: its first interval, and after the last one */
    int32_t *lo, *hi;              /* by interval: the state it begins with, the first state after it */
    unsigned char *met;            /* a bit for each pair of members: found already */
    int32_t *count;                /* by process: events executed */
    int32_t *done;                 /* by member: intervals begun */
    int32_t *knows;                /* by process: the row with the intervals of each member that are over */
    int32_t *slot, *left;          /* by first outgoing link of an event: the row, and how many links still want it */
    int32_t *uses, *pool, *idle;   /* by row: who has it; the rows; those not in use */
    Py_ssize_t slots, idle_count;
    const char *sides; /* of each process; only pairs across are wanted. NULL: all */
} Overlaps;

static int32_t transitions(PyObject *states, Py_ssize_t length, int32_t *lo, int32_t *hi) {
    const char *bits = PyBytes_AS_STRING(states);
    Py_ssize_t size = PyBytes_GET_SIZE(states);
    int32_t found = 0;
    int64_t at = 0;
    while (at <= length) {
        int64_t from = next_set(bits, size, at), until;
        if (from < 0 || from > length) break;
        for (until = from + 1; until <= length;) {
            uint64_t zeros = ~word_at(bits, until >> 6) >> (until & 63);
            if (zeros) {
                until += __builtin_ctzll(zeros);
                break;
            }
            until = (until | 63) + 1;
        }
        if (until > length) until = INT32_MAX; /* it never ends */
        if (lo != NULL) {
            lo[found] = (int32_t)from;
            hi[found] = (int32_t)until;
        }
        found++;
        if (until == INT32_MAX) break;
        at = until;
    }
    return found;
}

static void overlaps_close(Overlaps *all) {
    free(all->member);
    free(all->whose);
    free(all->first);
    free(all->lo);
    free(all->hi);
    free(all->met);
    free(all->count);
    free(all->done);
    free(all->knows);
    free(all->slot);
    free(all->left);
    free(all->uses);
    free(all->pool);
    free(all->idle);
}

static int more_rows(Overlaps *all) {
    Py_ssize_t slots = all->slots ? all->slots + all->slots / 2 : 64;
    int32_t *pool = realloc(all->pool, (size_t)slots * (size_t)all->members * 4 + 4);
    if (pool != NULL) all->pool = pool;
    int32_t *uses_of = realloc(all->uses, (size_t)slots * 4);
    if (uses_of != NULL) all->uses = uses_of;
    int32_t *idle = realloc(all->idle, (size_t)slots * 4);
    if (idle != NULL) all->idle = idle;
    if (pool == NULL || uses_of == NULL || idle == NULL) return -1;
    for (Py_ssize_t i = slots - 1; i >= all->slots; i--) all->idle[all->idle_count++] = (int32_t)i;
    all->slots = slots;
    return 0;
}

static void leave_row(Overlaps *all, int32_t row) {
    if (!--all->uses[row]) all->idle[all->idle_count++] = row;
}

/* The row of a process, for it alone, so that it can be changed; NULL: there is no room. */
static int32_t *own_row(Overlaps *all, Py_ssize_t process) {
    size_t m = (size_t)all->members;
    int32_t row = all->knows[process];
    if (all->uses[row] > 1) {
        if (!all->idle_count && more_rows(all) < 0) return NULL;
        int32_t fresh = all->idle[--all->idle_count];
        memcpy(all->pool + (size_t)fresh * m, all->pool + (size_t)row * m, m * 4);
        leave_row(all, row);
        all->uses[fresh] = 1;
        all->knows[process] = row = fresh;
    }
    return all->pool + (size_t)row * m;
}

/* A process learns what is known in another row. */
static int learn(Overlaps *all, Py_ssize_t process, int32_t other) {
    size_t m = (size_t)all->members;
    int32_t known = all->knows[process];
    if (known == other) return 0;
    const int32_t *mine = all->pool + (size_t)known * m, *theirs = all->pool + (size_t)other * m;
    int is_more = 0, is_less = 0;
    for (size_t i = 0; i < m; i++) {
        is_more |= theirs[i] > mine[i];
        is_less |= theirs[i] < mine[i];
    }
    if (!is_more) return 0;
    if (!is_less) { /* it knows all that is known here */
        leave_row(all, known);
        all->uses[other]++;
        all->knows[process] = other;
        return 0;
    }
    int32_t *row = own_row(all, process);
    if (row == NULL) return -1;
    theirs = all->pool + (size_t)other * m; /* it may have been moved */
    for (size_t i = 0; i < m; i++) row[i] = theirs[i] > row[i] ? theirs[i] : row[i];
    return 0;
}

static int overlaps_open(Overlaps *all, PyObject *states, const int32_t *length, Py_ssize_t links) {
    size_t n = (size_t)all->processes;
    all->member = malloc((n + 1) * 4);
    all->whose = malloc((n + 1) * 4);
    all->first = calloc(n + 2, sizeof *all->first);
    all->count = calloc(n + 1, 4);
    all->done = calloc(n + 1, 4);
    all->knows = calloc(n + 1, 4);
    all->slot = malloc(((size_t)links + 1) * 4);
    all->left = malloc(((size_t)links + 1) * 4);
    if (!all->member || !all->whose || !all->first || !all->count || !all->done || !all->knows || !all->slot ||
        !all->left)
        return -1;
    for (size_t p = 0; p < n; p++) {
        PyObject *here = PyList_GET_ITEM(states, (Py_ssize_t)p);
        all->member[p] = NONE;
        if (!PyBytes_Check(here) || PyBytes_GET_SIZE(here) * 8 <= length[p]) continue;
        all->member[p] = (int32_t)all->members;
        all->whose[all->members] = (int32_t)p;
        all->first[all->members + 1] = all->first[all->members] + transitions(here, length[p], NULL, NULL);
        all->members++;
    }
    size_t total = (size_t)all->first[all->members], m = (size_t)all->members;
    all->lo = malloc((total + 1) * 4);
    all->hi = malloc((total + 1) * 4);
    all->met = calloc(m * m / 8 + 1, 1);
    if (!all->lo || !all->hi || !all->met || more_rows(all) < 0) return -1;
    all->idle_count--; /* the row of all who know nothing, the first to be taken */
    all->uses[0] = (int32_t)n;
    memset(all->pool, 0, m * 4);
    for (size_t i = 0; i < m; i++) {
        Py_ssize_t p = all->whose[i], first = all->first[i];
        transitions(PyList_GET_ITEM(states, p), length[p], all->lo + first, all->hi + first);
    }
    return 0;
}

static int add_meeting(Overlaps *all, size_t one, size_t two, int32_t lo_one, int32_t lo_two, PyObject *found) {
    if (one > two) return add_meeting(all, two, one, lo_two, lo_one, found);
    size_t pair_bit = one * (size_t)all->members + two;
    if (all->met[pair_bit >> 3] >> (pair_bit & 7) & 1) return 0;
    if (all->sides != NULL && all->sides[all->whose[one]] == all->sides[all->whose[two]]) return 0;
    all->met[pair_bit >> 3] |= (unsigned char)(1 << (pair_bit & 7));
    PyObject *pair = Py_BuildValue("iiii", all->whose[one], all->whose[two], lo_one, lo_two);
    int failed = pair == NULL || PyList_Append(found, pair) < 0;
    Py_XDECREF(pair);
    return failed ? -1 : 0;
}

/* The next interval of a member begins, and those in the row are known to be over: adds whom it can meet. */
static int begin_interval(Overlaps *all, size_t member, const int32_t *row, PyObject *found) {
    size_t m = (size_t)all->members;
    Py_ssize_t interval = all->first[member] + all->done[member];
    for (size_t i = 0; i < m; i++)
        if (row[i] < all->done[i] && i != member &&
            add_meeting(all, i, member, all->lo[all->first[i] + row[i]], all->lo[interval], found) < 0)
            return -1;
    all->done[member]++;
    return 0;
}

static Py_ssize_t link_from(const Source *source, Py_ssize_t process, int64_t position) {
    const int32_t *start = source->start.buf, *near = source->position.buf;
    Py_ssize_t low = start[process], high = start[process + 1];
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (near[middle] < position) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* An interval of a process that has come to a state may be over. */
static int end_interval(Overlaps *all, Py_ssize_t process) {
    size_t m = (size_t)all->members;
    int32_t member = all->member[process];
    if (member == NONE) return 0;
    int32_t over = all->pool[(size_t)all->knows[process] * m + (size_t)member];
    if (over >= all->done[member] || all->hi[all->first[member] + over] != all->count[process]) return 0;
    int32_t *row = own_row(all, process);
    if (row == NULL) return -1;
    row[member]++;
    return 0;
}

/* Another one may begin there. */
static int come_to_state(Overlaps *all, Py_ssize_t process, PyObject *found) {
    int32_t member = all->member[process];
    if (member == NONE) return 0;
    Py_ssize_t next = all->first[member] + all->done[member];
    if (next >= all->first[member + 1] || all->lo[next] != all->count[process]) return 0;
    return begin_interval(all, (size_t)member, all->pool + (size_t)all->knows[process] * (size_t)all->members, found);
}

typedef struct {
    Source *needed, *enabling;
    const int32_t *length;
    const char *process;
    int width;
    Py_ssize_t events;
} Along;

static Py_ssize_t process_at(const Along *along, Py_ssize_t event) {
    return (Py_ssize_t)number_at(along->process, along->width, event);
}

/* Whether a link leads to a line of the joint event itself, which are executed already, and are its last ones. */
static int is_joint(const Overlaps *all, const Along *along, Py_ssize_t event, Py_ssize_t size, uint64_t other,
                    int64_t far) {
    if (size == 1 || far != all->count[other]) return 0;
    for (Py_ssize_t line = event; line < event + size; line++)
        if ((uint64_t)process_at(along, line) == other) return 1;
    return 0;
}

/* What comes before a line is learnt. */
static int follow(Overlaps *all, const Along *along, Py_ssize_t event, Py_ssize_t size, Py_ssize_t process) {
    Source *needed = along->needed, *enabling = along->enabling;
    int32_t *read = needed->read.buf, position = all->count[process];
    Py_ssize_t link = read[process], last = ((const int32_t *)needed->start.buf)[process + 1];
    for (; link < last && ((const int32_t *)needed->position.buf)[link] <= position; link++) {
        uint64_t end = end_at(needed, link), other = end >> needed->shift;
        int64_t far = (int64_t)(end & (((uint64_t)1 << needed->shift) - 1));
        if (other >= (uint64_t)all->processes || far < 1 || far > all->count[other]) return bad_link();
        if (is_joint(all, along, event, size, other, far)) continue;
        Py_ssize_t from = link_from(enabling, (Py_ssize_t)other, far);
        if (from >= ((const int32_t *)enabling->start.buf)[other + 1] ||
            ((const int32_t *)enabling->position.buf)[from] != far || all->slot[from] < 0)
            return bad_link();
        if (learn(all, process, all->slot[from]) < 0) {
            PyErr_NoMemory();
            return -1;
        }
        leave_row(all, all->slot[from]);
        if (!--all->left[from]) all->slot[from] = NONE;
    }
    read[process] = (int32_t)link;
    return 0;
}

/* What a process knows goes along with its outgoing links. */
static void send_on(Overlaps *all, const Along *along, Py_ssize_t process) {
    int32_t *read = along->enabling->read.buf, position = all->count[process];
    const int32_t *near = along->enabling->position.buf;
    Py_ssize_t out = read[process], first = out, ends = ((const int32_t *)along->enabling->start.buf)[process + 1];
    while (out < ends && near[out] <= position) out++;
    read[process] = (int32_t)out;
    if (out == first) return;
    all->slot[first] = all->knows[process];
    all->left[first] = (int32_t)(out - first);
    all->uses[all->knows[process]] += (int32_t)(out - first);
}

/* The lines of a joint event know the same, its ends included. */
static int know_together(Overlaps *all, const Along *along, Py_ssize_t event, Py_ssize_t size) {
    Py_ssize_t first = process_at(along, event);
    for (Py_ssize_t line = event + 1; line < event + size; line++)
        if (learn(all, first, all->knows[process_at(along, line)]) < 0) return -1;
    for (Py_ssize_t line = event + 1; line < event + size; line++)
        if (learn(all, process_at(along, line), all->knows[first]) < 0) return -1;
    return 0;
}

/* One event, or a joint one of several lines. */
static int execute(Overlaps *all, const Along *along, Py_ssize_t event, Py_ssize_t size, PyObject *found) {
    Py_ssize_t line, process, until = event + size;
    for (line = event; line < until; line++) {
        process = process_at(along, line);
        if (process < 0 || process >= all->processes || ++all->count[process] > along->length[process]) return bad_link();
    }
    for (line = event; line < until; line++)
        if (follow(all, along, event, size, process_at(along, line)) < 0) return -1;
    for (line = event; line < until; line++)
        if (end_interval(all, process_at(along, line)) < 0) goto no_room;
    if (size > 1 && know_together(all, along, event, size) < 0) goto no_room;
    for (line = event; line < until; line++)
        if (come_to_state(all, process_at(along, line), found) < 0) return -1;
    for (line = event; line < until; line++) send_on(all, along, process_at(along, line));
    return 0;
no_room:
    PyErr_NoMemory();
    return -1;
}

/* All events in the recorded order, after the intervals that begin before them; `joint`: pairs of the first line of
 * a joint event and how many lines it has, ascending. */
static int overlaps_along(Overlaps *all, const Along *along, const int32_t *joint, Py_ssize_t joints, PyObject *found) {
    for (size_t i = 0; i < (size_t)all->members; i++) {
        Py_ssize_t first = all->first[i];
        if (all->first[i + 1] > first && all->lo[first] == 0 && begin_interval(all, i, all->pool, found) < 0) return -1;
    }
    for (Py_ssize_t event = 0, size; event < along->events; event += size) {
        size = 1;
        if (joints && joint[0] == event) {
            size = joint[1];
            joint += 2;
            joints--;
        }
        if (size < 1 || size > along->events - event) return bad_link();
        if (execute(all, along, event, size, found) < 0) return -1;
        if (!(event & 0xFFFF) && PyErr_CheckSignals() < 0) return -1;
    }
    return 0;
}

/* overlaps(process, width, lengths, states, needed, enabling, joint, sides): the pairs of processes that can be in
 * allowed states at the same cut, as (one, other, state of the one, state of the other), the earliest such
 * states; with sides, a byte for each process, only of processes on different ones. */
static PyObject *overlaps(PyObject *self, PyObject *args) {
    PyObject *states, *sources[2], *found = NULL;
    Py_buffer process, lengths, joint;
    int width, opened = 0;
    Overlaps all;
    Source source[2];
    const char *sides = NULL;
    Py_ssize_t sided = 0;
    memset(&all, 0, sizeof all);
    memset(source, 0, sizeof source);
    if (!PyArg_ParseTuple(args, "y*iy*O!O!O!y*z#", &process, &width, &lengths, &PyList_Type, &states, &PyTuple_Type,
                          &sources[0], &PyTuple_Type, &sources[1], &joint, &sides, &sided))
        return NULL;
    all.sides = sides;
    const int32_t *length = lengths.buf;
    all.processes = lengths.len / 4;
    if (PyList_GET_SIZE(states) != all.processes || (sides != NULL && sided != all.processes) || (width != 1 && width != 2 && width != 4)) {
        PyErr_SetString(PyExc_IndexError, "a cut has the wrong length");
        goto done;
    }
    for (opened = 0; opened < 2;)
        if (source_open(sources[opened], &source[opened], all.processes) < 0) {
            opened++;
            goto done;
        } else {
            opened++;
        }
    if (overlaps_open(&all, states, length, source[1].position.len / 4) < 0) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < source[1].position.len / 4; i++) all.slot[i] = NONE;
    Along along = {&source[0], &source[1], length, process.buf, width, process.len / width};
    found = PyList_New(0);
    if (found == NULL || overlaps_along(&all, &along, joint.buf, joint.len / 8, found) < 0 || PyList_Sort(found) < 0)
        Py_CLEAR(found);
done:
    overlaps_close(&all);
    for (int i = 0; i < opened; i++) source_close(&source[i]);
    PyBuffer_Release(&process);
    PyBuffer_Release(&joint);
    PyBuffer_Release(&lengths);
    return found;
}

/* raise_row(row, other): each entry of the row becomes the greater one of both; entries have 2 or 4 bytes. */
static PyObject *raise_row(PyObject *self, PyObject *args) {
    Py_buffer row, other;
    int width;
    if (!PyArg_ParseTuple(args, "w*y*i", &row, &other, &width)) return NULL;
    int fits = row.len == other.len && (width == 2 || width == 4);
    if (fits && width == 2) {
        uint16_t *mine = row.buf;
        const uint16_t *its = other.buf;
        for (Py_ssize_t i = 0; i < row.len / 2; i++)
            if (mine[i] < its[i]) mine[i] = its[i];
    } else if (fits) {
        int32_t *mine = row.buf;
        const int32_t *its = other.buf;
        for (Py_ssize_t i = 0; i < row.len / 4; i++)
            if (mine[i] < its[i]) mine[i] = its[i];
    }
    PyBuffer_Release(&row);
    PyBuffer_Release(&other);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "rows of different lengths, or of an unknown width");
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"pack", pack, METH_VARARGS, "The bitmap of a predicate along a course."},
    {"rise", rise, METH_VARARGS, "The least cut that contains a cut."},
    {"fall", fall, METH_VARARGS, "The greatest cut inside a cut."},
    {"components", components, METH_VARARGS, "The strongly connected components of a slice."},
    {"overlaps", overlaps, METH_VARARGS, "The pairs of processes that can be in allowed states together."},
    {"raise_row", raise_row, METH_VARARGS, "The greater one of each two entries."},
    {"along", along, METH_VARARGS, "A conjunction along the recorded order."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernels", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void) {
    const uint16_t probe = 1;
    if (!*(const uint8_t *)&probe) { /* bitmaps are laid out for little-endian words; the plain twin does it */
        PyErr_SetString(PyExc_ImportError, "the kernels are for little-endian machines");
        return NULL;
    }
    return PyModule_Create(&module);
}
