/* `until` and `before` of any sets of slices: the compiled twin of `tasks.minimal`.
 *
 * Here belongs one loop over all slices of a lattice in rows, from the last to the first. Let X be a set of
 * marked slices, some of them goals. For each slice the minimal elements of X strictly above it are found
 * from its successors: those that are marked, and the minimal elements above the others. The slice is in the
 * result iff one of them is a goal.
 *
 * Layout of rows as in `_rows.c`. A step leads from a row to another one (or along its own), which is looked up
 * once for a row; that a slice with the step executed is a slice at all shows that the step is enabled, so
 * joint events need no more than a greater delta. Minimal elements are numbered as they are met, later ones
 * first, and a set of them is a list in descending order of these numbers; equal lists are stored once, so a
 * slice costs one number. Elements are compared field by field in words with a spare bit a field.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLACES 64
#define MAX_WORDS 16
#define VISIT_EVERY (1 << 16)
#define EMPTY (-1)
#define FEW 32

typedef struct {
    const uint64_t *key, *offset;
    const int32_t *low, *high;
    Py_ssize_t rows;
    int places;                     /* processes of the prefix */
    const int64_t *fields;          /* shift and mask of each */
    const uint64_t *delta[MAX_PLACES + 1]; /* for each count of a process: what its next step adds to the key */
    const int8_t *along[MAX_PLACES + 1];   /* ... and to the count of the last process; -1: no step of its own */
    int word[MAX_PLACES + 1], bit[MAX_PLACES + 1];
    int words;
    uint64_t guards[MAX_WORDS];
    const uint8_t *goal, *marked;
} Lattice;

typedef struct {
    int32_t *slice;  /* for each slice: the list above it, or -2 - element if it is marked and was met */
    uint64_t *packs; /* words of each element */
    uint8_t *is_goal;
    Py_ssize_t elements, element_room;
    int32_t *pool;
    Py_ssize_t used, room;
    Py_ssize_t *start; /* of each list in the pool, and the end of the last */
    uint8_t *has_goal;
    Py_ssize_t lists, list_room;
    int32_t *table;
    Py_ssize_t mask;
    int32_t *scratch;
    Py_ssize_t scratch_room;
} Store;

static int bit_of(const uint8_t *set, uint64_t at) { return set[at >> 3] >> (at & 7) & 1; }

static Py_ssize_t row_of(const Lattice *lattice, uint64_t key, Py_ssize_t low) {
    Py_ssize_t high = lattice->rows;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (lattice->key[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low < lattice->rows && lattice->key[low] == key ? low : -1;
}

static int grown(void **items, Py_ssize_t *room, Py_ssize_t wanted, size_t size) {
    if (wanted <= *room) return 0;
    Py_ssize_t more = *room ? 2 * *room : 1024;
    if (more < wanted) more = wanted;
    void *found = realloc(*items, (size_t)more * size);
    if (!found) return -1;
    *items = found;
    *room = more;
    return 0;
}

/* ---- elements -------------------------------------------------------------------------------- */

static int is_below(const Lattice *lattice, const Store *store, int32_t one, int32_t two) {
    const uint64_t *a = store->packs + (Py_ssize_t)one * lattice->words;
    const uint64_t *b = store->packs + (Py_ssize_t)two * lattice->words;
    for (int i = 0; i < lattice->words; i++)
        if ((((b[i] | lattice->guards[i]) - a[i]) & lattice->guards[i]) != lattice->guards[i]) return 0;
    return 1;
}

static int32_t element(const Lattice *lattice, Store *store, Py_ssize_t row, int32_t count, uint64_t at) {
    if (store->slice[at] != EMPTY) return -2 - store->slice[at];
    Py_ssize_t room = store->element_room, goals = store->element_room;
    if (grown((void **)&store->packs, &room, store->elements + 1, sizeof(uint64_t) * (size_t)lattice->words) < 0)
        return -1;
    if (grown((void **)&store->is_goal, &goals, store->elements + 1, 1) < 0) return -1;
    store->element_room = room < goals ? room : goals;
    uint64_t *pack = store->packs + store->elements * lattice->words;
    memset(pack, 0, sizeof(uint64_t) * (size_t)lattice->words);
    for (int i = 0; i < lattice->places; i++) {
        uint64_t own = lattice->key[row] >> lattice->fields[2 * i] & (uint64_t)lattice->fields[2 * i + 1];
        pack[lattice->word[i]] |= own << lattice->bit[i];
    }
    pack[lattice->word[lattice->places]] |= (uint64_t)count << lattice->bit[lattice->places];
    store->is_goal[store->elements] = (uint8_t)bit_of(lattice->goal, at);
    store->slice[at] = -2 - (int32_t)store->elements;
    return (int32_t)store->elements++;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static uint64_t hashed(const int32_t *items, Py_ssize_t count) {
    uint64_t found = (uint64_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        found = (found ^ (uint32_t)items[i]) * 0x9E3779B97F4A7C15ull;
        found ^= found >> 29;
    }
    return found;
}

static int rehashed(Store *store) {
    Py_ssize_t size = 2 * (store->mask + 1);
    int32_t *table = malloc((size_t)size * sizeof *table);
    if (!table) return -1;
    memset(table, 0xFF, (size_t)size * sizeof *table);
    for (Py_ssize_t list = 0; list < store->lists; list++) {
        Py_ssize_t first = store->start[list], count = store->start[list + 1] - first;
        Py_ssize_t at = (Py_ssize_t)(hashed(store->pool + first, count) & (uint64_t)(size - 1));
        while (table[at] != EMPTY) at = (at + 1) & (size - 1);
        table[at] = (int32_t)list;
    }
    free(store->table);
    store->table = table;
    store->mask = size - 1;
    return 0;
}

/* The number of a list, stored if it is new. */
static int32_t interned(Store *store, const int32_t *items, Py_ssize_t count) {
    Py_ssize_t at = (Py_ssize_t)(hashed(items, count) & (uint64_t)store->mask);
    for (; store->table[at] != EMPTY; at = (at + 1) & store->mask) {
        Py_ssize_t first = store->start[store->table[at]];
        if (store->start[store->table[at] + 1] - first == count
            && !memcmp(store->pool + first, items, (size_t)count * sizeof *items))
            return store->table[at];
    }
    if (store->lists >= INT32_MAX - 1) return -1;
    if (grown((void **)&store->pool, &store->room, store->used + count, sizeof *store->pool) < 0) return -1;
    Py_ssize_t starts = store->list_room, goals = store->list_room;
    if (grown((void **)&store->start, &starts, store->lists + 2, sizeof *store->start) < 0) return -1;
    if (grown((void **)&store->has_goal, &goals, store->lists + 2, 1) < 0) return -1;
    store->list_room = starts < goals ? starts : goals;
    memcpy(store->pool + store->used, items, (size_t)count * sizeof *items);
    store->start[store->lists] = store->used;
    store->used += count;
    store->start[store->lists + 1] = store->used;
    store->has_goal[store->lists] = 0;
    for (Py_ssize_t i = 0; i < count; i++) store->has_goal[store->lists] |= store->is_goal[items[i]];
    store->table[at] = (int32_t)store->lists++;
    if (2 * store->lists > store->mask && rehashed(store) < 0) return -1;
    return (int32_t)store->lists - 1;
}

static int descending(const void *one, const void *two) {
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)two;
    return (a < b) - (a > b);
}

static void sorted(int32_t *items, Py_ssize_t count) {
    if (count > FEW) {
        qsort(items, (size_t)count, sizeof *items, descending);
        return;
    }
    for (Py_ssize_t i = 1; i < count; i++) {
        int32_t item = items[i];
        Py_ssize_t j = i;
        for (; j && items[j - 1] < item; j--) items[j] = items[j - 1];
        items[j] = item;
    }
}

/* The minimal ones among elements: in descending order of numbers nothing is below what stands before it. */
static Py_ssize_t minimal(const Lattice *lattice, const Store *store, int32_t *items, Py_ssize_t count) {
    sorted(items, count);
    Py_ssize_t kept = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int is_above = 0;
        for (Py_ssize_t j = 0; j < kept && !is_above; j++)
            is_above = items[j] == items[i] || is_below(lattice, store, items[j], items[i]);
        if (!is_above) items[kept++] = items[i];
    }
    return kept;
}

/* ---- the loop -------------------------------------------------------------------------------- */

typedef struct {
    Py_ssize_t row;
    int along;
} Target;

/* What lies above one slice, from its successors: 0, or -1 if there is no room. */
static int above(const Lattice *lattice, Store *store, const Target *targets, int count_of_targets,
                 Py_ssize_t row, int32_t count, int32_t *found) {
    Py_ssize_t gathered = 0;
    int32_t only = EMPTY;
    int is_plain = 1;
    for (int i = 0; i <= count_of_targets; i++) {
        Py_ssize_t there = row;
        int32_t then = count + 1;
        if (i < count_of_targets) {
            there = targets[i].row;
            then = count + targets[i].along;
        } else {
            const int last = lattice->places;
            if (lattice->along[last][count] < 0) continue;
            if (lattice->delta[last][count]) {
                there = row_of(lattice, lattice->key[row] + lattice->delta[last][count], row);
                if (there < 0) continue;
            }
        }
        if (then < lattice->low[there] || then > lattice->high[there]) continue;
        uint64_t at = lattice->offset[there] + (uint64_t)(lattice->high[there] - then);
        const int32_t *items;
        Py_ssize_t more;
        int32_t single;
        if (bit_of(lattice->marked, at)) {
            single = element(lattice, store, there, then, at);
            if (single < 0) return -1;
            items = &single;
            more = 1;
            is_plain = 0;
        } else {
            int32_t list = store->slice[at];
            if (list == only) continue;
            if (only != EMPTY) is_plain = 0;
            only = list;
            items = store->pool + store->start[list];
            more = store->start[list + 1] - store->start[list];
        }
        if (grown((void **)&store->scratch, &store->scratch_room, gathered + more, sizeof *store->scratch) < 0)
            return -1;
        memcpy(store->scratch + gathered, items, (size_t)more * sizeof *items);
        gathered += more;
    }
    if (is_plain && only != EMPTY) {
        *found = only;
        return 0;
    }
    gathered = minimal(lattice, store, store->scratch, gathered);
    *found = interned(store, store->scratch, gathered);
    return *found < 0 ? -1 : 0;
}

static int one_row(const Lattice *lattice, Store *store, Py_ssize_t row, uint8_t *result) {
    Target targets[MAX_PLACES];
    int count_of_targets = 0;
    for (int i = 0; i < lattice->places; i++) {
        uint64_t own = lattice->key[row] >> lattice->fields[2 * i] & (uint64_t)lattice->fields[2 * i + 1];
        if (lattice->along[i][own] < 0) continue;
        Py_ssize_t there = row_of(lattice, lattice->key[row] + lattice->delta[i][own], row);
        if (there >= 0) targets[count_of_targets++] = (Target){there, lattice->along[i][own]};
    }
    for (int32_t count = lattice->high[row]; count >= lattice->low[row]; count--) {
        int32_t list;
        if (above(lattice, store, targets, count_of_targets, row, count, &list) < 0) return -1;
        uint64_t at = lattice->offset[row] + (uint64_t)(lattice->high[row] - count);
        if (store->has_goal[list]) result[at >> 3] |= (uint8_t)(1 << (at & 7));
        if (!bit_of(lattice->marked, at)) store->slice[at] = list;
    }
    return 0;
}

static int all_rows(const Lattice *lattice, Store *store, uint8_t *result, PyObject *visit) {
    uint64_t since = 0;
    for (Py_ssize_t row = lattice->rows - 1; row >= 0; row--) {
        if (one_row(lattice, store, row, result) < 0) {
            PyErr_NoMemory();
            return -1;
        }
        since += lattice->offset[row + 1] - lattice->offset[row];
        if (since >= VISIT_EVERY || row == 0) {
            PyObject *told = PyObject_CallFunction(visit, "K", (unsigned long long)since);
            if (!told) return -1;
            Py_DECREF(told);
            if (PyErr_CheckSignals() < 0) return -1;
            since = 0;
        }
    }
    return 0;
}

/* ---- calling --------------------------------------------------------------------------------- */

static int prepared(Store *store, uint64_t slices) {
    store->mask = 1023;
    store->slice = malloc((size_t)(slices + 1) * sizeof *store->slice);
    store->table = malloc(1024 * sizeof *store->table);
    if (!store->slice || !store->table) return -1;
    memset(store->slice, 0xFF, (size_t)(slices + 1) * sizeof *store->slice);
    memset(store->table, 0xFF, 1024 * sizeof *store->table);
    return 0;
}

static void released(Store *store) {
    free(store->slice);
    free(store->packs);
    free(store->is_goal);
    free(store->pool);
    free(store->start);
    free(store->has_goal);
    free(store->table);
    free(store->scratch);
}

/* Where each count stands in the words of an element; -1 if there are too many. */
static int laid_out(Lattice *lattice, const int32_t *lengths) {
    int word = 0, used = 0;
    for (int i = 0; i <= lattice->places; i++) {
        int width = 1;
        while (lengths[i] >> width) width++;
        if (used + width + 1 > 64) {
            word++;
            used = 0;
        }
        if (word >= MAX_WORDS) return -1;
        lattice->word[i] = word;
        lattice->bit[i] = used;
        lattice->guards[word] |= (uint64_t)1 << (used + width);
        used += width + 1;
    }
    lattice->words = word + 1;
    return 0;
}

/* undisturbed(rows, fields, lengths, deltas, alongs, goal, marked, visit): the slices with an undisturbed goal.
 *
 * rows: keys, low, high, offset; the last of lengths, deltas and alongs are those of the last process. */
static PyObject *undisturbed(PyObject *self, PyObject *arguments) {
    (void)self;
    Py_buffer key, low, high, offset, fields, lengths, goal, marked, delta[MAX_PLACES + 1], along[MAX_PLACES + 1];
    PyObject *deltas, *alongs, *visit, *result = NULL;
    if (!PyArg_ParseTuple(arguments, "(y*y*y*y*)y*y*O!O!y*y*O", &key, &low, &high, &offset, &fields, &lengths,
                          &PyTuple_Type, &deltas, &PyTuple_Type, &alongs, &goal, &marked, &visit))
        return NULL;
    Lattice lattice = {0};
    Store store = {0};
    int taken = 0;
    lattice.key = key.buf, lattice.low = low.buf, lattice.high = high.buf, lattice.offset = offset.buf;
    lattice.rows = key.len / 8;
    lattice.places = (int)(fields.len / 16);
    lattice.fields = fields.buf;
    lattice.goal = goal.buf, lattice.marked = marked.buf;
    Py_ssize_t processes = lattice.places + 1;
    if (lattice.places > MAX_PLACES || PyTuple_GET_SIZE(deltas) != processes
        || PyTuple_GET_SIZE(alongs) != processes || lengths.len != processes * 4
        || offset.len < (lattice.rows + 1) * 8 || laid_out(&lattice, lengths.buf) < 0) {
        PyErr_SetString(PyExc_ValueError, "the lattice does not fit");
        goto done;
    }
    for (; taken < processes; taken++) {
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(deltas, taken), &delta[taken], PyBUF_SIMPLE) < 0) goto done;
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(alongs, taken), &along[taken], PyBUF_SIMPLE) < 0) {
            PyBuffer_Release(&delta[taken]);
            goto done;
        }
        lattice.delta[taken] = delta[taken].buf;
        lattice.along[taken] = along[taken].buf;
    }
    uint64_t slices = lattice.offset[lattice.rows];
    if ((uint64_t)goal.len * 8 < slices || (uint64_t)marked.len * 8 < slices) {
        PyErr_SetString(PyExc_ValueError, "a set is too short");
        goto done;
    }
    result = PyByteArray_FromStringAndSize(NULL, goal.len);
    if (!result) goto done;
    memset(PyByteArray_AS_STRING(result), 0, (size_t)goal.len);
    if (prepared(&store, slices) < 0) {
        PyErr_NoMemory();
        Py_CLEAR(result);
    } else if (all_rows(&lattice, &store, (uint8_t *)PyByteArray_AS_STRING(result), visit) < 0) {
        Py_CLEAR(result);
    }
done:
    released(&store);
    for (int i = 0; i < taken; i++) {
        PyBuffer_Release(&delta[i]);
        PyBuffer_Release(&along[i]);
    }
    PyBuffer_Release(&key);
    PyBuffer_Release(&low);
    PyBuffer_Release(&high);
    PyBuffer_Release(&offset);
    PyBuffer_Release(&fields);
    PyBuffer_Release(&lengths);
    PyBuffer_Release(&goal);
    PyBuffer_Release(&marked);
    return result;
}

static PyMethodDef methods[] = {
    {"undisturbed", undisturbed, METH_VARARGS, "The slices with a goal above them and nothing marked between."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_between", NULL, -1, methods, NULL, NULL,
                                    NULL, NULL};

PyMODINIT_FUNC PyInit__between(void) { return PyModule_Create(&module); }
