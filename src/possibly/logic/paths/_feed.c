/* Feeding events to a predecessor automaton: the compiled twin of the loop in `run.plain_feed`.
 *
 * Here belongs one loop. An event is a triple (number, symbols, predecessors). The predecessors are looked for
 * among the events that the slots of the state stand for, which gives a set of slots, and the move of the
 * machine on symbols and slots says what the next state is and which slots it keeps. Moves are asked of the
 * machine once and remembered by the identity of state and symbols, which the memory keeps alive.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SLOTS 62
#define ENTRIES 4096 /* a power of two */

enum { ALL, SOME, ONLY_NEW };

typedef struct {
    PyObject *state, *symbols, *move; /* owned; state NULL: free */
    uint64_t before;                  /* a bit for each slot */
    PyObject *following;              /* borrowed from the move; NULL: the event does not fit */
    int keeps, count;
    uint8_t kept[MOST_SLOTS + 2];
} Entry;

typedef struct {
    Entry *entries;
    Py_ssize_t used;
    PyObject *symbols; /* a dict: equal symbols -> the object that stands for them */
} Memory;

static void forget(Memory *memory) {
    for (Py_ssize_t i = 0; i < ENTRIES; i++)
        if (memory->entries[i].state) {
            Py_CLEAR(memory->entries[i].state);
            Py_CLEAR(memory->entries[i].symbols);
            Py_CLEAR(memory->entries[i].move);
        }
    memory->used = 0;
}

static Entry *entry_of(Memory *memory, PyObject *state, PyObject *symbols, uint64_t before) {
    uint64_t hash = ((uint64_t)(uintptr_t)state >> 4) * 0x9E3779B97F4A7C15ull;
    hash ^= ((uint64_t)(uintptr_t)symbols >> 4) * 0xBF58476D1CE4E5B9ull;
    hash = (hash ^ before) * 0x94D049BB133111EBull;
    for (uint64_t at = hash >> 40;; at++) {
        Entry *entry = &memory->entries[at & (ENTRIES - 1)];
        if (!entry->state) return entry;
        if (entry->state == state && entry->symbols == symbols && entry->before == before) return entry;
    }
}

static PyObject *as_tuple(uint64_t bits) {
    int count = 0;
    for (uint64_t rest = bits; rest; rest &= rest - 1) count++;
    PyObject *found = PyTuple_New(count);
    for (int i = 0, slot = 0; found && i < count; slot++)
        if (bits >> slot & 1) {
            PyObject *number = PyLong_FromLong(slot);
            if (!number) Py_CLEAR(found);
            else PyTuple_SET_ITEM(found, i++, number);
        }
    return found;
}

/* Asks the machine and remembers: 0, 1 if the move has too many slots, -1 on an error. */
static int ask(Memory *memory, PyObject *machine_move, PyObject *state, PyObject *symbols, uint64_t before,
               Entry **found) {
    if (2 * memory->used > ENTRIES) forget(memory);
    PyObject *slots = as_tuple(before);
    if (!slots) return -1;
    PyObject *move = PyObject_CallFunctionObjArgs(machine_move, state, symbols, slots, NULL);
    Py_DECREF(slots);
    if (!move) return -1;
    PyObject *kept = PyTuple_GetItem(move, 1);
    PyObject *keeps = kept ? PyTuple_GetItem(move, 4) : NULL;
    if (!keeps) {
        Py_DECREF(move);
        return -1;
    }
    if (PyTuple_GET_SIZE(kept) > MOST_SLOTS) {
        Py_DECREF(move);
        return 1;
    }
    Entry *entry = entry_of(memory, state, symbols, before);
    entry->following = PyTuple_GET_ITEM(move, 0) == Py_None ? NULL : PyTuple_GET_ITEM(move, 0);
    entry->keeps = (int)PyLong_AsLong(keeps);
    entry->count = (int)PyTuple_GET_SIZE(kept);
    for (int i = 0; i < entry->count; i++)
        entry->kept[i] = (uint8_t)PyLong_AsLong(PyTuple_GET_ITEM(kept, i));
    entry->before = before;
    entry->move = move;
    entry->state = Py_NewRef(state);
    entry->symbols = Py_NewRef(symbols);
    memory->used++;
    *found = entry;
    return PyErr_Occurred() ? -1 : 0;
}

/* The predecessors as slots: 1 if all are known, 0 if one is not, -1 on an error. */
static int looked_up(PyObject *predecessors, const int64_t *slots, int count, uint64_t *found) {
    *found = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(predecessors); i++) {
        int64_t wanted = PyLong_AsLongLong(PyTuple_GET_ITEM(predecessors, i));
        if (wanted == -1 && PyErr_Occurred()) return -1;
        int slot = count - 1;
        while (slot >= 0 && slots[slot] != wanted) slot--;
        if (slot < 0) return 0;
        *found |= (uint64_t)1 << slot;
    }
    return 1;
}

static int followed(const Entry *entry, int64_t *slots, int count, int64_t event) {
    if (entry->keeps == ONLY_NEW) {
        slots[0] = event;
        return 1;
    }
    slots[count++] = event;
    if (entry->keeps == SOME) {
        count = entry->count;
        for (int i = 0; i < count; i++) slots[i] = slots[entry->kept[i]];
    }
    return count;
}

static PyObject *slots_as_tuple(const int64_t *slots, int count) {
    PyObject *found = PyTuple_New(count);
    for (int i = 0; found && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(slots[i]);
        if (!number) Py_CLEAR(found);
        else PyTuple_SET_ITEM(found, i, number);
    }
    return found;
}

/* feed(events, state, slots, move) -> how many fitted, the state (None: one did not fit), the slots, and a
 * triple that was taken from the events and not fed because it needs more slots than there is room for. */
static PyObject *feed(PyObject *self, PyObject *arguments) {
    (void)self;
    PyObject *events, *state, *given, *machine_move;
    if (!PyArg_ParseTuple(arguments, "OOO!O", &events, &state, &PyTuple_Type, &given, &machine_move)) return NULL;
    int64_t slots[MOST_SLOTS + 2];
    int count = (int)PyTuple_GET_SIZE(given);
    Py_ssize_t fitted = 0;
    PyObject *item = NULL, *result = NULL;
    Memory memory = {calloc(ENTRIES, sizeof(Entry)), 0, PyDict_New()};
    if (!memory.entries || !memory.symbols) {
        free(memory.entries);
        Py_XDECREF(memory.symbols);
        return PyErr_NoMemory();
    }
    if (count > MOST_SLOTS) {
        PyErr_SetString(PyExc_ValueError, "too many slots");
        goto done;
    }
    for (int i = 0; i < count; i++) slots[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(given, i));
    if (PyErr_Occurred()) goto done;
    Py_INCREF(state);
    while ((item = PyIter_Next(events))) {
        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 3 || !PyTuple_Check(PyTuple_GET_ITEM(item, 2))) {
            PyErr_SetString(PyExc_TypeError, "an event is (number, symbols, predecessors)");
            goto failed;
        }
        PyObject *symbols = PyTuple_GET_ITEM(item, 1);
        int64_t event = PyLong_AsLongLong(PyTuple_GET_ITEM(item, 0));
        if (event == -1 && PyErr_Occurred()) goto failed;
        uint64_t before;
        int known = looked_up(PyTuple_GET_ITEM(item, 2), slots, count, &before);
        if (known < 0) goto failed;
        Entry *entry = NULL;
        if (known) {
            entry = entry_of(&memory, state, symbols, before);
            if (!entry->state) {
                /* Equal symbols may be another object. */
                symbols = PyDict_SetDefault(memory.symbols, symbols, symbols);
                if (!symbols) goto failed;
                entry = entry_of(&memory, state, symbols, before);
            }
            if (!entry->state) {
                int asked = count == MOST_SLOTS ? 1 : ask(&memory, machine_move, state, symbols, before, &entry);
                if (asked < 0) goto failed;
                if (asked) break;
            }
        }
        Py_CLEAR(item);
        if (!entry || !entry->following) {
            Py_SETREF(state, Py_NewRef(Py_None));
            break;
        }
        count = followed(entry, slots, count, event);
        Py_SETREF(state, Py_NewRef(entry->following));
        fitted++;
    }
    if (!PyErr_Occurred()) {
        PyObject *left = slots_as_tuple(slots, count);
        if (left) result = Py_BuildValue("nONO", fitted, state, left, item ? item : Py_None);
    }
failed:
    Py_XDECREF(item);
    Py_DECREF(state);
done:
    forget(&memory);
    free(memory.entries);
    Py_DECREF(memory.symbols);
    return result;
}

static PyMethodDef methods[] = {
    {"feed", feed, METH_VARARGS, "How many events fit, and where that leads."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_feed", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__feed(void) { return PyModule_Create(&module); }
