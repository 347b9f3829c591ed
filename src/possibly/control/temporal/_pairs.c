/* Breadth-first search in the product of a model and an automaton: the compiled twin of `search.BreadthFirst`.
 *
 * A pair is one key of 64 bits, or of 128 (`_pairs_wide.c` includes this file): the packed state of the
 * model, and above it the number of the automaton state. Keys lie in an array in the order of discovery, with the number of the pair each was reached from beside it; a hash
 * table of numbers finds them again. So a pair costs 8 + 4 bytes (16 + 4) and its share of the table. What depends on a
 * few bits of a state only (the outcomes of an edge, the truth of the atoms) and what depends on the automaton
 * is kept by those bits; what is not known yet is asked of Python, once.
 *
 * Law: pairs are discovered in the order in which the plain twin discovers them. An error of a callback leaves
 * everything as it was before the pair at hand was expanded, except that some of its successors may be there
 * already, so that expanding it again goes on.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY UINT32_MAX

#ifdef WIDE
typedef unsigned __int128 Key;
#define KEY_BITS 128
#define MODULE "_pairs_wide"
#define INITIALISE PyInit__pairs_wide
#else
typedef uint64_t Key;
#define KEY_BITS 64
#define MODULE "_pairs"
#define INITIALISE PyInit__pairs
#endif

typedef struct { Key key; uint32_t start, count; } Entry;      /* count EMPTY: nothing here */
typedef struct { Entry *entries; size_t capacity, used; } Table;    /* from some bits to a slice of an array */
typedef struct { Key mask; Table known; } Edge;
typedef struct { int shift; uint64_t mask; Edge *edges; size_t size; } Process;
typedef struct { Key keep, put; } Effect;

typedef struct {
    PyObject_HEAD
    PyObject *ask;                 /* answers what is not known yet */
    int bits, goes_on;
    Key state_mask, atoms_mask;
    uint64_t most_readers;
    Process *processes; size_t process_count;
    Effect *effects; size_t effect_count, effect_room;
    uint32_t *readers; size_t reader_count, reader_room;
    Table atoms, steps;
    signed char *accepting; size_t accepting_room;    /* -1: not asked yet */
    Key *keys; uint32_t *parents; size_t count, room;
    uint32_t *table; size_t table_size;               /* numbers of pairs, EMPTY where none */
    size_t number, level_end; uint64_t size, bound;   /* bound 0: none */
    int was_cut, reported;
} Pairs;

static uint64_t mixed_word(uint64_t word)
{
    word ^= word >> 32; word *= 0xd6e8feb86659fd93ull;
    word ^= word >> 32; word *= 0xd6e8feb86659fd93ull;
    return word ^ word >> 32;
}

static uint64_t mixed(Key key)
{
#ifdef WIDE
    return mixed_word((uint64_t)key ^ mixed_word((uint64_t)(key >> 64)));
#else
    return mixed_word(key);
#endif
}

/* ---- numbers of Python ------------------------------------------------------------------------ */

static PyObject *number_of(Key key)
{
#ifdef WIDE
    PyObject *low = PyLong_FromUnsignedLongLong((uint64_t)key);
    PyObject *high = PyLong_FromUnsignedLongLong((uint64_t)(key >> 64)), *shift = PyLong_FromLong(64);
    PyObject *moved = low && high && shift ? PyNumber_Lshift(high, shift) : NULL;
    PyObject *found = moved ? PyNumber_Or(moved, low) : NULL;
    Py_XDECREF(low); Py_XDECREF(high); Py_XDECREF(shift); Py_XDECREF(moved);
    return found;
#else
    return PyLong_FromUnsignedLongLong(key);
#endif
}

static int as_key(PyObject *number, Key *key)
{
#ifdef WIDE
    PyObject *shift = PyLong_FromLong(64), *moved = shift ? PyNumber_Rshift(number, shift) : NULL;
    Py_XDECREF(shift);
    if (!moved) return -1;
    uint64_t high = PyLong_AsUnsignedLongLong(moved), low = PyLong_AsUnsignedLongLongMask(number);
    Py_DECREF(moved);
    *key = (Key)high << 64 | low;
#else
    *key = PyLong_AsUnsignedLongLong(number);
#endif
    return PyErr_Occurred() ? -1 : 0;
}

static uint64_t reader_of(Key key, int bits) { return bits < KEY_BITS ? (uint64_t)(key >> bits) : 0; }
static Key key_of(Key state, uint64_t reader, int bits)
{
    return bits < KEY_BITS ? (Key)reader << bits | state : state;
}

/* ---- tables ----------------------------------------------------------------------------------- */

static Entry *table_find(Table *table, Key key)
{
    if (!table->capacity) return NULL;
    size_t at = mixed(key) & (table->capacity - 1);
    while (table->entries[at].count != EMPTY) {
        if (table->entries[at].key == key) return &table->entries[at];
        at = (at + 1) & (table->capacity - 1);
    }
    return NULL;
}

static void table_put(Entry *entries, size_t capacity, Entry entry)
{
    size_t at = mixed(entry.key) & (capacity - 1);
    while (entries[at].count != EMPTY) at = (at + 1) & (capacity - 1);
    entries[at] = entry;
}

static int table_add(Table *table, Key key, size_t start, size_t count)
{
    if (start + count >= EMPTY) { PyErr_NoMemory(); return -1; }
    if (2 * (table->used + 1) > table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 8;
        Entry *entries = malloc(capacity * sizeof(Entry));
        if (!entries) { PyErr_NoMemory(); return -1; }
        for (size_t i = 0; i < capacity; i++) entries[i].count = EMPTY;
        for (size_t i = 0; i < table->capacity; i++)
            if (table->entries[i].count != EMPTY) table_put(entries, capacity, table->entries[i]);
        free(table->entries);
        table->entries = entries; table->capacity = capacity;
    }
    table_put(table->entries, table->capacity, (Entry){key, (uint32_t)start, (uint32_t)count});
    table->used++;
    return 0;
}

static int grow(void **array, size_t *room, size_t needed, size_t each)
{
    if (needed <= *room) return 0;
    size_t wanted = *room ? *room : 64;
    while (wanted < needed) wanted += wanted / 2;
    void *larger = realloc(*array, wanted * each);
    if (!larger) { PyErr_NoMemory(); return -1; }
    *array = larger; *room = wanted;
    return 0;
}

/* ---- asking Python ---------------------------------------------------------------------------- */

static Entry *ask_effects(Pairs *self, size_t process, size_t edge, Key state)
{
    Edge *found = &self->processes[process].edges[edge];
    PyObject *answer = PyObject_CallMethod(self->ask, "effects", "nnN", (Py_ssize_t)process, (Py_ssize_t)edge,
                                           number_of(state));
    if (!answer) return NULL;
    Py_ssize_t count = PyList_Check(answer) ? PyList_GET_SIZE(answer) : -1;
    if (count < 0) { Py_DECREF(answer); PyErr_SetString(PyExc_TypeError, "effects are a list"); return NULL; }
    size_t start = self->effect_count;
    if (grow((void **)&self->effects, &self->effect_room, start + (size_t)count, sizeof(Effect)) < 0) goto fail;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *keep, *put;
        Effect *effect = &self->effects[start + (size_t)i];
        if (!PyArg_ParseTuple(PyList_GET_ITEM(answer, i), "OO", &keep, &put)) goto fail;
        if (as_key(keep, &effect->keep) < 0 || as_key(put, &effect->put) < 0) goto fail;
    }
    Py_DECREF(answer);
    self->effect_count = start + (size_t)count;
    if (table_add(&found->known, state & found->mask, start, (size_t)count) < 0) return NULL;
    return table_find(&found->known, state & found->mask);
fail:
    Py_DECREF(answer);
    return NULL;
}

static Entry *ask_atoms(Pairs *self, Key state)
{
    PyObject *answer = PyObject_CallMethod(self->ask, "valuation", "N", number_of(state));
    if (!answer) return NULL;
    unsigned long number = PyLong_AsUnsignedLong(answer);
    Py_DECREF(answer);
    if (number == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    if (table_add(&self->atoms, state & self->atoms_mask, number, 0) < 0) return NULL;
    return table_find(&self->atoms, state & self->atoms_mask);
}

static Entry *ask_steps(Pairs *self, uint64_t reader, uint32_t valuation)
{
    PyObject *answer = PyObject_CallMethod(self->ask, "advance", "Kk", (unsigned long long)reader,
                                           (unsigned long)valuation);
    if (!answer) return NULL;
    PyObject *items = PySequence_Fast(answer, "automaton states are a sequence");
    Py_DECREF(answer);
    if (!items) return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    size_t start = self->reader_count;
    if (grow((void **)&self->readers, &self->reader_room, start + (size_t)count, sizeof(uint32_t)) < 0) goto fail;
    for (Py_ssize_t i = 0; i < count; i++) {
        unsigned long number = PyLong_AsUnsignedLong(PySequence_Fast_GET_ITEM(items, i));
        if (number == (unsigned long)-1 && PyErr_Occurred()) goto fail;
        if (number >= self->most_readers) {
            PyErr_SetString(PyExc_OverflowError, "too many automaton states for a key");
            goto fail;
        }
        self->readers[start + (size_t)i] = (uint32_t)number;
    }
    Py_DECREF(items);
    self->reader_count = start + (size_t)count;
    Key key = reader << 32 | valuation;
    if (table_add(&self->steps, key, start, (size_t)count) < 0) return NULL;
    return table_find(&self->steps, key);
fail:
    Py_DECREF(items);
    return NULL;
}

static int is_accepting(Pairs *self, uint64_t reader)
{
    if (reader >= self->accepting_room) {
        size_t before = self->accepting_room;
        if (grow((void **)&self->accepting, &self->accepting_room, reader + 1, 1) < 0) return -1;
        memset(self->accepting + before, -1, self->accepting_room - before);
    }
    if (self->accepting[reader] < 0) {
        PyObject *answer = PyObject_CallMethod(self->ask, "is_accepting", "K", (unsigned long long)reader);
        if (!answer) return -1;
        self->accepting[reader] = (signed char)PyObject_IsTrue(answer);
        Py_DECREF(answer);
    }
    return self->accepting[reader];
}

/* ---- pairs ------------------------------------------------------------------------------------ */

static int enlarge(Pairs *self)
{
    size_t size = self->table_size ? 2 * self->table_size : 1024;
    uint32_t *table = malloc(size * sizeof(uint32_t));
    if (!table) { PyErr_NoMemory(); return -1; }
    memset(table, 0xff, size * sizeof(uint32_t));
    for (size_t i = 0; i < self->count; i++) {
        size_t at = mixed(self->keys[i]) & (size - 1);
        while (table[at] != EMPTY) at = (at + 1) & (size - 1);
        table[at] = (uint32_t)i;
    }
    free(self->table);
    self->table = table; self->table_size = size;
    return 0;
}

static int add(Pairs *self, Key key, uint32_t parent)
{
    if (4 * (self->count + 1) > 3 * self->table_size && enlarge(self) < 0) return -1;
    size_t at = mixed(key) & (self->table_size - 1);
    while (self->table[at] != EMPTY) {
        if (self->keys[self->table[at]] == key) return 0;
        at = (at + 1) & (self->table_size - 1);
    }
    if (self->count + 1 >= EMPTY) { PyErr_NoMemory(); return -1; }
    if (self->count == self->room) {
        size_t room = self->room;
        if (grow((void **)&self->keys, &room, self->count + 1, sizeof(Key)) < 0) return -1;
        if (grow((void **)&self->parents, &self->room, self->count + 1, sizeof(uint32_t)) < 0) return -1;
    }
    self->keys[self->count] = key;
    self->parents[self->count] = parent;
    self->table[at] = (uint32_t)self->count++;
    return 0;
}

/* Successors are gathered and then added together, so that what they need of the large arrays is fetched
 * meanwhile; the order stays. */
#define GATHERED 64

#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)(address))
#endif

static int add_gathered(Pairs *self, const Key *keys, size_t count, uint32_t parent)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t number = self->table[mixed(keys[i]) & (self->table_size - 1)];
        if (number != EMPTY) FETCH(&self->keys[number]);
    }
    for (size_t i = 0; i < count; i++)
        if (add(self, keys[i], parent) < 0) return -1;
    return 0;
}

static int expand(Pairs *self, size_t number)
{
    Key gathered[GATHERED];
    size_t waiting = 0;
    Key key = self->keys[number], state = key & self->state_mask;
    uint64_t reader = reader_of(key, self->bits);
    for (size_t p = 0; p < self->process_count; p++) {
        Process *process = &self->processes[p];
        size_t at = (size_t)(state >> process->shift) & process->mask;
        Edge *edge = &process->edges[at];
        Entry *known = table_find(&edge->known, state & edge->mask);
        if (!known && !(known = ask_effects(self, p, at, state))) return -1;
        uint32_t first = known->start, last = known->start + known->count;
        for (uint32_t e = first; e < last; e++) {
            Key after = (state & self->effects[e].keep) | self->effects[e].put;
            Entry *atoms = table_find(&self->atoms, after & self->atoms_mask);
            if (!atoms && !(atoms = ask_atoms(self, after))) return -1;
            uint32_t valuation = atoms->start;
            Entry *step = table_find(&self->steps, reader << 32 | valuation);
            if (!step && !(step = ask_steps(self, reader, valuation))) return -1;
            for (uint32_t r = step->start; r < step->start + step->count; r++) {
                if (waiting == GATHERED) {
                    if (add_gathered(self, gathered, waiting, (uint32_t)number) < 0) return -1;
                    waiting = 0;
                }
                gathered[waiting] = key_of(after, self->readers[r], self->bits);
                FETCH(&self->table[mixed(gathered[waiting++]) & (self->table_size - 1)]);
            }
        }
    }
    return add_gathered(self, gathered, waiting, (uint32_t)number);
}

/* run(most): expands up to so many pairs. The number of an accepting pair, -1: pause, -2: all were seen. */
static PyObject *pairs_run(Pairs *self, PyObject *argument)
{
    long long most = PyLong_AsLongLong(argument);
    if (most == -1 && PyErr_Occurred()) return NULL;
    for (; most > 0; most--) {
        if (self->number == self->count) return PyLong_FromLong(-2);
        if (self->number == self->level_end) { self->level_end = self->count; self->size++; }
        uint64_t reader = reader_of(self->keys[self->number], self->bits);
        int accepting = is_accepting(self, reader);
        if (accepting < 0) return NULL;
        if (accepting && !self->reported) {
            self->reported = 1;
            return PyLong_FromSize_t(self->number);
        }
        if (!accepting || self->goes_on) {
            if (self->bound && self->size >= self->bound) self->was_cut = 1;
            else if (expand(self, self->number) < 0) return NULL;
        }
        self->reported = 0;
        self->number++;
    }
    return PyLong_FromLong(-1);
}

/* way(number): the states of the pairs from a root to this one. */
static PyObject *pairs_way(Pairs *self, PyObject *argument)
{
    size_t number = PyLong_AsSize_t(argument);
    if (number == (size_t)-1 && PyErr_Occurred()) return NULL;
    if (number >= self->count) { PyErr_SetString(PyExc_IndexError, "no such pair"); return NULL; }
    PyObject *found = PyList_New(0);
    while (found) {
        PyObject *state = number_of(self->keys[number] & self->state_mask);
        if (!state || PyList_Append(found, state) < 0) { Py_XDECREF(state); Py_DECREF(found); return NULL; }
        Py_DECREF(state);
        if (self->parents[number] == EMPTY) break;
        number = self->parents[number];
    }
    if (found && PyList_Reverse(found) < 0) { Py_DECREF(found); return NULL; }
    return found;
}

static PyObject *pairs_count(Pairs *self, void *closure) { return PyLong_FromSize_t(self->count); }
static PyObject *pairs_was_cut(Pairs *self, void *closure) { return PyBool_FromLong(self->was_cut); }

static PyObject *pairs_bytes(Pairs *self, void *closure)
{
    return PyLong_FromSize_t(self->room * (sizeof(Key) + sizeof(uint32_t))
                             + self->table_size * sizeof(uint32_t));
}

/* ---- making and freeing ----------------------------------------------------------------------- */

static int read_process(Process *process, PyObject *given)
{
    PyObject *masks;
    unsigned long long mask;
    if (!PyArg_ParseTuple(given, "iKO!", &process->shift, &mask, &PyList_Type, &masks)) return -1;
    process->mask = mask;
    size_t count = (size_t)PyList_GET_SIZE(masks);
    /* A field may hold numbers beyond the last edge; no state has them, but memory is made for all. */
    size_t room = (size_t)mask + 1 > count ? (size_t)mask + 1 : count;
    if (!(process->edges = calloc(room, sizeof(Edge)))) { PyErr_NoMemory(); return -1; }
    process->size = room;
    for (size_t i = 0; i < count; i++) {
        if (as_key(PyList_GET_ITEM(masks, (Py_ssize_t)i), &process->edges[i].mask) < 0) return -1;
    }
    return 0;
}

static int pairs_init(Pairs *self, PyObject *arguments, PyObject *names)
{
    static char *keywords[] = {"ask", "bits", "processes", "atoms_mask", "roots", "bound", "goes_on", NULL};
    PyObject *ask, *processes, *roots, *atoms_mask;
    unsigned long long bound;
    int goes_on;
    if (self->ask) { PyErr_SetString(PyExc_TypeError, "made already"); return -1; }
    if (!PyArg_ParseTupleAndKeywords(arguments, names, "OiO!OO!Kp", keywords, &ask, &self->bits, &PyList_Type,
                                     &processes, &atoms_mask, &PyList_Type, &roots, &bound, &goes_on)) return -1;
    if (self->bits < 0 || self->bits > KEY_BITS) { PyErr_SetString(PyExc_ValueError, "too many bits"); return -1; }
    if (as_key(atoms_mask, &self->atoms_mask) < 0) return -1;
    Py_INCREF(ask);
    self->ask = ask;
    self->goes_on = goes_on;
    self->bound = bound;
    self->state_mask = self->bits < KEY_BITS ? ((Key)1 << self->bits) - 1 : ~(Key)0;
    self->most_readers = 1ull << (KEY_BITS - self->bits < 31 ? KEY_BITS - self->bits : 31);
    self->process_count = (size_t)PyList_GET_SIZE(processes);
    self->processes = calloc(self->process_count ? self->process_count : 1, sizeof(Process));
    if (!self->processes) { self->process_count = 0; PyErr_NoMemory(); return -1; }
    for (size_t p = 0; p < self->process_count; p++)
        if (read_process(&self->processes[p], PyList_GET_ITEM(processes, (Py_ssize_t)p)) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(roots); i++) {
        PyObject *given;
        Key state;
        unsigned long long reader;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(roots, i), "OK", &given, &reader)) return -1;
        if (as_key(given, &state) < 0) return -1;
        if (reader >= self->most_readers) {
            PyErr_SetString(PyExc_OverflowError, "too many automaton states for a key");
            return -1;
        }
        if (add(self, key_of(state, reader, self->bits), EMPTY) < 0) return -1;
    }
    self->level_end = self->count;
    self->size = 1;
    return 0;
}

static int pairs_traverse(Pairs *self, visitproc visit, void *arg)
{
    Py_VISIT(self->ask);
    return 0;
}

static int pairs_clear(Pairs *self)
{
    Py_CLEAR(self->ask);
    return 0;
}

static void pairs_dealloc(Pairs *self)
{
    PyObject_GC_UnTrack(self);
    pairs_clear(self);
    for (size_t p = 0; p < self->process_count; p++) {
        for (size_t e = 0; self->processes[p].edges && e < self->processes[p].size; e++)
            free(self->processes[p].edges[e].known.entries);
        free(self->processes[p].edges);
    }
    free(self->processes); free(self->effects); free(self->readers); free(self->accepting);
    free(self->atoms.entries); free(self->steps.entries);
    free(self->keys); free(self->parents); free(self->table);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef pairs_methods[] = {
    {"run", (PyCFunction)pairs_run, METH_O, "Expands up to so many pairs."},
    {"way", (PyCFunction)pairs_way, METH_O, "The states from a root to a pair."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef pairs_facts[] = {
    {"count", (getter)pairs_count, NULL, "Pairs discovered so far.", NULL},
    {"was_cut", (getter)pairs_was_cut, NULL, "Whether the bound cut a way off.", NULL},
    {"bytes", (getter)pairs_bytes, NULL, "Memory of the pairs.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject PairsType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "possibly.control.temporal." MODULE ".Pairs",
    .tp_basicsize = sizeof(Pairs),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A breadth-first search that can be left and taken up again.",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)pairs_init,
    .tp_traverse = (traverseproc)pairs_traverse,
    .tp_clear = (inquiry)pairs_clear,
    .tp_dealloc = (destructor)pairs_dealloc,
    .tp_methods = pairs_methods,
    .tp_getset = pairs_facts,
};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, MODULE, "Pairs of a model and an automaton.", -1,
                             NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC INITIALISE(void)
{
    if (PyType_Ready(&PairsType) < 0) return NULL;
    PyObject *made = PyModule_Create(&module);
    if (!made) return NULL;
    Py_INCREF(&PairsType);
    if (PyModule_AddObject(made, "Pairs", (PyObject *)&PairsType) < 0) {
        Py_DECREF(&PairsType); Py_DECREF(made);
        return NULL;
    }
    return made;
}
