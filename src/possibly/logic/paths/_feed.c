/* Feeding events to a predecessor automaton: the compiled twins of `Run._plain_feed` (one run, `feed`) and of
 * `detection.paths.occurrences.Growth` (all sets of events that are the beginning of an occurrence, `Growth`).
 *
 * An event is a triple (number, symbols, predecessors). The predecessors are looked for among the events that
 * the slots of the state stand for, which gives a set of slots, and the move of the machine on symbols and
 * slots says what the next state is and which slots it keeps. Moves are asked of the machine once and
 * remembered by the identity of state and symbols, which the memory keeps alive.
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
    int keeps, count, ends;
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
    entry->ends = 0;
    if (entry->following) {
        PyObject *ends = PyObject_GetAttrString(entry->following, "ends");
        entry->ends = ends ? PyObject_IsTrue(ends) : 0;
        Py_XDECREF(ends);
    }
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

/* ---- all beginnings of occurrences ----------------------------------------------------------- */

#define MOST_PROCESSES 63

typedef struct {
    PyObject *state; /* owned */
    int64_t *since;  /* for each process that is barred, when that was; NULL: none is */
    int events, slots;
    int64_t numbers[]; /* the events of the set, then those that the slots stand for */
} Partial;

typedef struct {
    uint64_t barred; /* a bit for each process that cannot extend these sets */
    Partial **partials;
    Py_ssize_t count, room;
} Group;

typedef struct {
    PyObject_HEAD
    PyObject *move, *initial, *waiting; /* waiting: an event that was taken and not fed */
    Memory memory;
    Group **groups, **met;
    Py_ssize_t count, room, size, most;
    uint64_t able;
} Growth;

enum { GOES_ON, TOO_MANY, TOO_WIDE };

static Partial *partial_of(const Partial *old, const Entry *entry, int64_t event, const int64_t *slots, int count) {
    int events = old ? old->events : 0;
    Partial *found = malloc(sizeof(Partial) + (size_t)(events + 1 + count) * sizeof(int64_t));
    if (!found) return NULL;
    found->since = NULL;
    if (old && old->since) {
        found->since = malloc(MOST_PROCESSES * sizeof(int64_t));
        if (!found->since) {
            free(found);
            return NULL;
        }
        memcpy(found->since, old->since, MOST_PROCESSES * sizeof(int64_t));
    }
    if (events) memcpy(found->numbers, old->numbers, (size_t)events * sizeof(int64_t));
    found->numbers[events] = event;
    memcpy(found->numbers + events + 1, slots, (size_t)count * sizeof(int64_t));
    found->events = events + 1;
    found->slots = count;
    found->state = Py_NewRef(entry->following);
    return found;
}

static void free_partial(Partial *partial) {
    Py_DECREF(partial->state);
    free(partial->since);
    free(partial);
}

static int put(Group *group, Partial *partial) {
    if (group->count == group->room) {
        Py_ssize_t room = 2 * group->room + 4;
        Partial **longer = realloc(group->partials, (size_t)room * sizeof(Partial *));
        if (!longer) return -1;
        group->partials = longer;
        group->room = room;
    }
    group->partials[group->count++] = partial;
    return 0;
}

static Group *group_of(Growth *self, uint64_t barred) {
    for (Py_ssize_t i = 0; i < self->count; i++)
        if (self->groups[i]->barred == barred) return self->groups[i];
    if (self->count == self->room) {
        Py_ssize_t room = 2 * self->room + 8;
        Group **groups = realloc(self->groups, (size_t)room * sizeof(Group *));
        if (groups) self->groups = groups;
        Group **met = realloc(self->met, (size_t)room * sizeof(Group *));
        if (met) self->met = met;
        if (!groups || !met) return NULL;
        self->room = room;
    }
    Group *found = calloc(1, sizeof(Group));
    if (!found) return NULL;
    found->barred = barred;
    return self->groups[self->count++] = found;
}

static void empty_group(Growth *self, Group *group) {
    self->size -= group->count;
    for (Py_ssize_t i = 0; i < group->count; i++) free_partial(group->partials[i]);
    group->count = 0;
}

/* Groups without sets are dropped, those of sets that nobody can extend any more are emptied first. */
static void tidy(Growth *self) {
    Py_ssize_t kept = 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Group *group = self->groups[i];
        if (!(self->able & ~group->barred)) empty_group(self, group);
        if (group->count) {
            self->groups[kept++] = group;
        } else {
            free(group->partials);
            free(group);
        }
    }
    self->count = kept;
}

/* The move on an event: 0 with *entry (NULL: it does not fit), TOO_WIDE, or -1 on an error. */
static int moved(Growth *self, PyObject *state, int slots, PyObject **symbols, uint64_t before, Entry **entry) {
    *entry = entry_of(&self->memory, state, *symbols, before);
    if (!(*entry)->state) {
        PyObject *same = PyDict_SetDefault(self->memory.symbols, *symbols, *symbols);
        if (!same) return -1;
        *symbols = same;
        *entry = entry_of(&self->memory, state, same, before);
    }
    if (!(*entry)->state) {
        int asked = slots == MOST_SLOTS ? 1 : ask(&self->memory, self->move, state, *symbols, before, entry);
        if (asked) return asked < 0 ? -1 : TOO_WIDE;
    }
    if (!(*entry)->following) *entry = NULL;
    return 0;
}

typedef struct {
    int64_t step;
    PyObject *symbols;
    const int64_t *before;
    int count, process;
} Event;

/* The set with the event, if it fits: as `moved`, with *grown (NULL: it does not). */
static int joined(Growth *self, const Partial *old, PyObject *state, Event *event, uint64_t before, Partial **grown,
                  int *ends) {
    Entry *entry;
    int64_t slots[MOST_SLOTS + 2];
    int count = old ? old->slots : 0, status = moved(self, state, count, &event->symbols, before, &entry);
    *grown = NULL;
    if (status || !entry) return status;
    if (count) memcpy(slots, old->numbers + old->events, (size_t)count * sizeof(int64_t));
    count = followed(entry, slots, count, event->step);
    *grown = partial_of(old, entry, event->step, slots, count);
    *ends = entry->ends;
    if (*grown) return 0;
    PyErr_NoMemory();
    return -1;
}

static int place_of(const int64_t *numbers, int count, int64_t wanted) {
    int at = count - 1;
    while (at >= 0 && numbers[at] != wanted) at--;
    return at;
}

/* How the event stands to a set: whether it comes after a member, and whether something lies in between. */
static void looked_at(const Partial *partial, uint64_t barred, const Event *event, const int *process, int *inside,
                      int *disturbed, int *remembered, uint64_t *before) {
    *inside = *disturbed = 0;
    *remembered = 1;
    *before = 0;
    for (int i = 0; i < event->count; i++) {
        int64_t other = event->before[i];
        if (place_of(partial->numbers, partial->events, other) >= 0) {
            int slot = place_of(partial->numbers + partial->events, partial->slots, other);
            *inside = 1;
            if (slot < 0) *remembered = 0;
            else *before |= (uint64_t)1 << slot;
        } else if (barred >> process[other] & 1 && partial->since[process[other]] <= other) {
            *disturbed = 1;
        }
    }
}

static int complete(PyObject *found, const Partial *partial) {
    PyObject *events = PyList_New(partial->events);
    for (int i = 0; events && i < partial->events; i++) {
        PyObject *number = PyLong_FromLongLong(partial->numbers[i]);
        if (!number) Py_CLEAR(events);
        else PyList_SET_ITEM(events, i, number);
    }
    if (!events || PyList_Sort(events) < 0) {
        Py_XDECREF(events);
        return -1;
    }
    PyObject *fixed = PyList_AsTuple(events);
    int status = fixed ? PyList_Append(found, fixed) : -1;
    Py_DECREF(events);
    Py_XDECREF(fixed);
    return status;
}

static int kept_with(Growth *self, uint64_t barred, Partial *partial, int ends, PyObject *found) {
    Group *group = group_of(self, barred);
    if (!group || put(group, partial) < 0) {
        free_partial(partial);
        PyErr_NoMemory();
        return -1;
    }
    self->size++;
    return ends ? complete(found, partial) : 0;
}

static int bar(Growth *self, Partial *partial, uint64_t barred, const Event *event) {
    barred |= (uint64_t)1 << event->process;
    if (!(self->able & ~barred)) {
        free_partial(partial);
        self->size--;
        return 0;
    }
    if (!partial->since) partial->since = calloc(MOST_PROCESSES, sizeof(int64_t));
    Group *group = partial->since ? group_of(self, barred) : NULL;
    if (!group || put(group, partial) < 0) {
        free_partial(partial);
        self->size--;
        PyErr_NoMemory();
        return -1;
    }
    partial->since[event->process] = event->step;
    return 0;
}

/* The event meets the sets of one group. What grows goes to its end: those are not met again by this event. */
static int meet(Growth *self, Group *group, Event *event, const int *process, PyObject *found) {
    Py_ssize_t count = group->count, left = 0, at = 0;
    int status = 0;
    for (; at < count && !status; at++) {
        Partial *partial = group->partials[at], *grown = NULL;
        int inside, disturbed, remembered, ends = 0;
        uint64_t before;
        looked_at(partial, group->barred, event, process, &inside, &disturbed, &remembered, &before);
        if (!disturbed && remembered) {
            status = joined(self, partial, partial->state, event, before, &grown, &ends);
            if (!status && grown) status = kept_with(self, group->barred, grown, ends, found);
        }
        if (!status && (inside || disturbed)) status = bar(self, partial, group->barred, event);
        else group->partials[left++] = partial;
    }
    if (left < at) memmove(group->partials + left, group->partials + at, (size_t)(group->count - at) * sizeof(Partial *));
    group->count -= at - left;
    return status;
}

static int fed(Growth *self, Event *event, const int *process, PyObject *found) {
    Partial *first;
    int ends = 0, status;
    Py_ssize_t met = 0;
    for (Py_ssize_t i = 0; i < self->count; i++)
        if (!(self->groups[i]->barred >> event->process & 1)) self->met[met++] = self->groups[i];
    int begun = joined(self, NULL, self->initial, event, 0, &first, &ends);
    /* A beginning has no member before the event: its predecessors do not matter. */
    if (begun) return begun;
    for (Py_ssize_t i = 0; i < met; i++)
        if ((status = meet(self, self->met[i], event, process, found))) {
            if (first) free_partial(first);
            return status;
        }
    if (first && (status = kept_with(self, 0, first, ends, found))) return status;
    for (Py_ssize_t i = 0; i < met; i++)
        if (!self->met[i]->count) {
            tidy(self);
            break;
        }
    return self->size > self->most ? TOO_MANY : 0;
}

/* grow(events, processes, last, allowed, granted) -> how many sets were met, the occurrences that were completed,
 * how many sets the next event meets (0: there is no event left), and a status. `granted`: these were counted. */
static PyObject *grow(Growth *self, PyObject *arguments) {
    PyObject *events, *last;
    Py_buffer processes;
    Py_ssize_t allowed, used = 0, need = 0;
    int granted, status = GOES_ON;
    if (!PyArg_ParseTuple(arguments, "Oy*O!np", &events, &processes, &PyDict_Type, &last, &allowed, &granted)) return NULL;
    const int *process = processes.buf;
    PyObject *found = PyList_New(0), *item = NULL;
    while (found && !status) {
        item = self->waiting ? self->waiting : PyIter_Next(events);
        self->waiting = NULL;
        need = 0;
        if (!item) break;
        int64_t before[MOST_SLOTS + 2];
        PyObject *given = PyTuple_GET_ITEM(item, 2);
        Event event = {PyLong_AsLongLong(PyTuple_GET_ITEM(item, 0)), PyTuple_GET_ITEM(item, 1), before,
                       (int)PyTuple_GET_SIZE(given), 0};
        if (event.count > MOST_SLOTS) {
            status = TOO_WIDE;
            break;
        }
        for (int i = 0; i < event.count; i++) before[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(given, i));
        event.process = process[event.step];
        need = 1;
        for (Py_ssize_t i = 0; i < self->count; i++)
            if (!(self->groups[i]->barred >> event.process & 1)) need += self->groups[i]->count;
        if (!granted && used + need > allowed) {
            self->waiting = item;
            item = NULL;
            break;
        }
        if (!granted) used += need;
        granted = 0;
        status = fed(self, &event, process, found);
        PyObject *ended = PyDict_GetItem(last, PyTuple_GET_ITEM(item, 0));
        if (ended) {
            self->able &= ~((uint64_t)1 << PyLong_AsLong(ended));
            tidy(self);
        }
        Py_CLEAR(item);
    }
    Py_XDECREF(item);
    PyBuffer_Release(&processes);
    if (PyErr_Occurred()) Py_CLEAR(found);
    return found ? Py_BuildValue("nNni", used, found, need, status) : NULL;
}

static void growth_dealloc(Growth *self) {
    self->able = 0;
    tidy(self);
    free(self->groups);
    free(self->met);
    if (self->memory.entries) forget(&self->memory);
    free(self->memory.entries);
    Py_XDECREF(self->memory.symbols);
    Py_XDECREF(self->waiting);
    Py_XDECREF(self->move);
    Py_XDECREF(self->initial);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Growth(move, initial state, most sets, able processes) */
static PyObject *growth_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
    (void)names;
    PyObject *move, *initial;
    Py_ssize_t most;
    unsigned long long able;
    if (!PyArg_ParseTuple(arguments, "OOnK", &move, &initial, &most, &able)) return NULL;
    Growth *self = (Growth *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->move = Py_NewRef(move);
    self->initial = Py_NewRef(initial);
    self->most = most;
    self->able = able;
    self->memory = (Memory){calloc(ENTRIES, sizeof(Entry)), 0, PyDict_New()};
    if (self->memory.entries && self->memory.symbols) return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

static PyMethodDef growth_methods[] = {
    {"grow", (PyCFunction)grow, METH_VARARGS, "Feeds events until enough sets were met."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject growth_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "possibly.logic.paths._feed.Growth",
    .tp_basicsize = sizeof(Growth),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = growth_new,
    .tp_dealloc = (destructor)growth_dealloc,
    .tp_methods = growth_methods,
};

static PyMethodDef methods[] = {
    {"feed", feed, METH_VARARGS, "How many events fit, and where that leads."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_feed", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__feed(void) {
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddType(made, &growth_type) < 0) Py_CLEAR(made);
    return made;
}
