/* The listener's hot methods, in C: the compiled twin of what `Log` tells.
 *
 * A Tape has the methods `before` and `after` of the port, and `note` for the entries that rewritten source
 * makes. What they tell goes into a buffer of records (`packing.py` says how they are written), or, where a
 * record cannot hold it, into the log's list of entries as the plain methods write it. Where the list has
 * grown, the next record says how long it was, so that the order of both together is known; `take` hands
 * over both at once.
 *
 * The law of the log holds here as well: a record is written while the interpreter's lock is held, with no
 * other thread in between. Whatever is not known yet (a code object met for the first time, a thread without
 * a number, an event loop) is asked of the plain methods, so that each rule stands in one place.
 *
 * Places are remembered by (code object, instruction). The log keeps those code objects alive, so that an
 * address means one code object for ever.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const void *code;
    int instruction; /* -1: the code is not the program's own, at any instruction */
    long site;
} Place;

typedef struct {
    unsigned long thread;
    long process; /* 0: nothing is known */
} Known;

enum { THREADS = 16 };

/* What a record is made of; `packing.py` says how it is written. */
typedef struct {
    uint8_t action, details;
    uint8_t kind; /* of an entry of rewritten source */
    uint64_t process, site;
    int64_t thing, first, second;
} Record;

/* The first byte of a record: POSITION, or ENTRIES * kind + what its value is, or FIRST_ACTION + ... */
enum { POSITION = 0, ENTRIES = 8, FIRST_ACTION = 104, LONGEST = 64 };
enum { NO_VALUE, INTEGER, NOTHING, FALSE_, TRUE_, FLOAT };

/* Hears of an action: (itself, its number, the process, the thing, the detail). */
typedef struct {
    void (*told)(void *, int, long, PyObject *, PyObject *);
    void *itself;
    void (*moved)(void *); /* threads may be other processes than they were */
} Follower;

typedef struct {
    PyObject_HEAD
    PyObject *kind;    /* SYNC */
    PyObject *told_before, *told_after; /* action -> its number: dicts */
    PyObject *entries; /* the log's list */
    PyObject *threads; /* thread -> process: a dict */
    PyObject *loops;   /* threads with an event loop: a dict */
    PyObject *me;      /* the plain method that finds the process */
    PyObject *place;   /* the plain method: frame -> site, or None for code that is not the program's own */
    PyObject *clock;
    Known known[THREADS]; /* of `threads`, as it was when `forget` was called last */
    PyObject *action[2];  /* the newest actions of `before` and `after`, and their numbers */
    uint8_t number[2];
    Place *places;
    size_t mask, used;
    uint8_t *bytes;
    size_t count, room;
    unsigned most_calls; /* 0: calls are not counted */
    unsigned *calls;     /* of functions, by their sites */
    size_t sites;
    uint64_t passed;   /* entries that were taken away, and records */
    PyObject *follower; /* a capsule: who hears of every action */
    Py_ssize_t position; /* how long the list was when the newest record was written */
} Tape;

static size_t hashed(const void *code, int instruction)
{
    size_t x = (size_t)code >> 4;
    x = (x ^ (size_t)(unsigned)instruction * 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
    return x ^ (x >> 29);
}

static Place *slot(Tape *self, const void *code, int instruction)
{
    size_t at = hashed(code, instruction) & self->mask;
    while (self->places[at].code
           && (self->places[at].code != code || self->places[at].instruction != instruction))
        at = (at + 1) & self->mask;
    return &self->places[at];
}

static int remember(Tape *self, const void *code, int instruction, long site)
{
    if (2 * (self->used + 1) > self->mask) {
        size_t old = self->mask + 1;
        Place *before = self->places;
        Place *after = PyMem_Calloc(2 * old, sizeof(Place));
        if (!after) {
            PyErr_NoMemory();
            return -1;
        }
        self->places = after;
        self->mask = 2 * old - 1;
        for (size_t i = 0; i < old; i++)
            if (before[i].code)
                *slot(self, before[i].code, before[i].instruction) = before[i];
        PyMem_Free(before);
    }
    Place *found = slot(self, code, instruction);
    if (!found->code) {
        found->code = code;
        found->instruction = instruction;
        found->site = site;
        self->used++;
    }
    return 0;
}

/* The site of the innermost line of the program that is being executed; -1 with an error. */
static long site_here(Tape *self)
{
    PyFrameObject *frame = (PyFrameObject *)Py_XNewRef((PyObject *)PyEval_GetFrame());
    while (frame) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        const void *key = code;
        Py_DECREF(code); /* the frame holds it */
        if (!slot(self, key, -1)->code) {
            int instruction = PyFrame_GetLasti(frame);
            Place *known = slot(self, key, instruction);
            if (known->code) {
                Py_DECREF(frame);
                return known->site;
            }
            PyObject *told = PyObject_CallOneArg(self->place, (PyObject *)frame);
            long site = told == Py_None ? 0 : told ? PyLong_AsLong(told) : -1;
            int is_own = told != Py_None;
            Py_XDECREF(told);
            if (site < 0 || remember(self, key, is_own ? instruction : -1, site) < 0) {
                Py_DECREF(frame);
                return -1;
            }
            if (is_own) {
                Py_DECREF(frame);
                return site;
            }
        }
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
    return 0;
}

static long process_here(Tape *self)
{
    if (PyDict_GET_SIZE(self->loops) == 0) {
        unsigned long ident = PyThread_get_thread_ident();
        Known *known = &self->known[(ident >> 12) % THREADS];
        if (known->process && known->thread == ident)
            return known->process;
        PyObject *thread = PyLong_FromUnsignedLong(ident);
        if (!thread)
            return -1;
        PyObject *found = PyDict_GetItemWithError(self->threads, thread);
        Py_DECREF(thread);
        if (found) {
            known->thread = ident;
            return known->process = PyLong_AsLong(found);
        }
        if (PyErr_Occurred())
            return -1;
    }
    PyObject *found = PyObject_CallNoArgs(self->me);
    long process = found ? PyLong_AsLong(found) : -1;
    Py_XDECREF(found);
    return process;
}

static int is_small(PyObject *value, int64_t *into)
{
    int overflow;
    if (!PyLong_CheckExact(value))
        return 0;
    *into = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow;
}

/* Whether a record can hold the thing and the detail; it is filled with them. */
static int is_packed(Record *record, PyObject *thing, PyObject *detail)
{
    if (!is_small(thing, &record->thing))
        return 0;
    if (detail == Py_None)
        return record->details = 0, 1;
    if (is_small(detail, &record->first))
        return record->details = 1, 1;
    return PyTuple_CheckExact(detail) && PyTuple_GET_SIZE(detail) == 2
        && is_small(PyTuple_GET_ITEM(detail, 0), &record->first)
        && is_small(PyTuple_GET_ITEM(detail, 1), &record->second) && (record->details = 2);
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
    for (; number > 127; number >>= 7)
        *at++ = (uint8_t)(number | 128);
    *at++ = (uint8_t)number;
    return at;
}

static uint8_t *put_signed(uint8_t *at, int64_t number)
{
    return put_number(at, ((uint64_t)number << 1) ^ (uint64_t)(number >> 63));
}

/* Where the next record goes; its position in the list of entries stands before it if that has grown. */
static uint8_t *begin_record(Tape *self)
{
    if (self->count + LONGEST > self->room) {
        size_t room = self->room ? 2 * self->room : 4096;
        uint8_t *larger = PyMem_Realloc(self->bytes, room);
        if (!larger) {
            PyErr_NoMemory();
            return NULL;
        }
        self->bytes = larger;
        self->room = room;
    }
    uint8_t *at = self->bytes + self->count;
    if (self->position != PyList_GET_SIZE(self->entries)) {
        self->position = PyList_GET_SIZE(self->entries);
        *at++ = POSITION;
        at = put_number(at, (uint64_t)self->position);
    }
    return at;
}

static int write_action(Tape *self, const Record *record)
{
    uint8_t *at = begin_record(self);
    if (!at)
        return -1;
    *at++ = (uint8_t)(FIRST_ACTION + 3 * record->action + record->details);
    at = put_number(put_number(at, record->process), record->site);
    at = put_signed(at, record->thing);
    if (record->details)
        at = put_signed(at, record->first);
    if (record->details == 2)
        at = put_signed(at, record->second);
    self->count = (size_t)(at - self->bytes);
    self->passed++;
    return 0;
}

static int write_noted(Tape *self, const Record *record)
{
    uint8_t *at = begin_record(self);
    if (!at)
        return -1;
    *at++ = (uint8_t)(ENTRIES * record->kind + record->details);
    at = put_number(put_number(at, record->process), record->site);
    if (record->details == INTEGER)
        at = put_signed(at, record->first);
    else if (record->details == FLOAT) {
        memcpy(at, &record->first, 8);
        at += 8;
    }
    self->count = (size_t)(at - self->bytes);
    self->passed++;
    return 0;
}

static int write_entry(Tape *self, PyObject *action, PyObject *thing, PyObject *detail, Record *record)
{
    PyObject *time = PyUnicode_CheckExact(thing) ? PyObject_CallNoArgs(self->clock) : PyFloat_FromDouble(0.0);
    if (!time)
        return -1;
    PyObject *entry = Py_BuildValue("(OIIOOON)", self->kind, (unsigned)record->process,
                                    (unsigned)record->site, action, thing, detail, time);
    int failed = entry ? PyList_Append(self->entries, entry) : -1;
    Py_XDECREF(entry);
    return failed;
}

/* The number of an action, -1 if it is not told at that time, -2 with an error. */
static int action_number(Tape *self, int is_after, PyObject *action)
{
    if (self->action[is_after] == action)
        return self->number[is_after];
    PyObject *number = PyDict_GetItemWithError(is_after ? self->told_after : self->told_before, action);
    if (!number)
        return PyErr_Occurred() ? -2 : -1;
    Py_XSETREF(self->action[is_after], Py_NewRef(action));
    return self->number[is_after] = (uint8_t)PyLong_AsLong(number);
}

static PyObject *tell(Tape *self, int is_after, PyObject *const *args, Py_ssize_t count)
{
    if (count < 2 || count > 3) {
        PyErr_SetString(PyExc_TypeError, "an action, a thing and perhaps a detail are told");
        return NULL;
    }
    int number = action_number(self, is_after, args[0]);
    if (number < -1)
        return NULL;
    if (number < 0)
        Py_RETURN_NONE;
    Record record = {0};
    PyObject *detail = count == 3 ? args[2] : Py_None;
    long process = process_here(self);
    long site = process < 0 ? -1 : site_here(self);
    if (site < 0)
        return NULL;
    record.action = (uint8_t)number;
    record.process = (uint64_t)process;
    record.site = (uint64_t)site;
    int failed = is_packed(&record, args[1], detail) ? write_action(self, &record)
                                                     : write_entry(self, args[0], args[1], detail, &record);
    if (failed)
        return NULL;
    if (self->follower) {
        Follower *hears = PyCapsule_GetPointer(self->follower, "possibly.follower");
        hears->told(hears->itself, number, process, args[1], detail);
    }
    Py_RETURN_NONE;
}

/* From now on this capsule's owner hears of every action. */
static PyObject *tape_follow(Tape *self, PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "possibly.follower")) {
        PyErr_SetString(PyExc_TypeError, "not a follower");
        return NULL;
    }
    Py_XSETREF(self->follower, Py_NewRef(capsule));
    Py_RETURN_NONE;
}

/* Where the number of records, and of entries taken away, can be read. */
static PyObject *tape_counter(Tape *self, PyObject *Py_UNUSED(none))
{
    return PyCapsule_New(&self->passed, "possibly.counter", NULL);
}

/* Another file begins. */
static PyObject *tape_begin(Tape *self, PyObject *Py_UNUSED(none))
{
    self->passed = 0;
    Py_RETURN_NONE;
}

static PyObject *tape_before(Tape *self, PyObject *const *args, Py_ssize_t count)
{
    return tell(self, 0, args, count);
}

static PyObject *tape_after(Tape *self, PyObject *const *args, Py_ssize_t count)
{
    return tell(self, 1, args, count);
}

/* (kind, process, site) as rewritten source makes it. */
static int is_head(PyObject *entry, Record *record)
{
    int64_t kind, process, site;
    if (!PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(entry) != 3
        || !is_small(PyTuple_GET_ITEM(entry, 0), &kind) || !is_small(PyTuple_GET_ITEM(entry, 1), &process)
        || !is_small(PyTuple_GET_ITEM(entry, 2), &site) || kind < 1 || kind >= FIRST_ACTION / ENTRIES)
        return 0;
    record->kind = (uint8_t)kind;
    record->process = (uint64_t)process;
    record->site = (uint64_t)site;
    return 1;
}

static int is_packed_value(PyObject *value, Record *record)
{
    if (is_small(value, &record->first))
        record->details = INTEGER;
    else if (value == Py_None)
        record->details = NOTHING;
    else if (PyBool_Check(value))
        record->details = value == Py_True ? TRUE_ : FALSE_;
    else if (PyFloat_CheckExact(value)) {
        double number = PyFloat_AS_DOUBLE(value);
        memcpy(&record->first, &number, sizeof number);
        record->details = FLOAT;
    } else
        return 0;
    return 1;
}

enum { READ = 1, WRITE = 2, ENTER = 6, EXIT = 7, LEFT_OUT = 29 }; /* as in `entries.py` */

/* Where the calls of a site are counted; NULL with an error. */
static unsigned *calls_of(Tape *self, size_t site)
{
    if (site >= self->sites) {
        size_t sites = site + 64 + self->sites;
        unsigned *larger = PyMem_Realloc(self->calls, sites * sizeof *larger);
        if (!larger) {
            PyErr_NoMemory();
            return NULL;
        }
        memset(larger + self->sites, 0, (sites - self->sites) * sizeof *larger);
        self->calls = larger;
        self->sites = sites;
    }
    return &self->calls[site];
}

/* Accesses are counted as calls are, where those that are too many are left out. */
static int count_access(Tape *self, const Record *record)
{
    if (!self->most_calls || (record->kind != READ && record->kind != WRITE))
        return 0;
    unsigned *count = calls_of(self, record->site);
    if (!count)
        return -1;
    *count += *count <= self->most_calls;
    return 0;
}

/* An entry of rewritten source: a head, or a head with a value; all others go into the list. */
static PyObject *tape_note(Tape *self, PyObject *entry)
{
    Record record = {0};
    int is_record = PyTuple_CheckExact(entry) && PyTuple_GET_SIZE(entry) == 2
        ? is_head(PyTuple_GET_ITEM(entry, 0), &record) && is_packed_value(PyTuple_GET_ITEM(entry, 1), &record)
        : is_head(entry, &record);
    if (is_record && count_access(self, &record))
        return NULL;
    if (is_record ? write_noted(self, &record) : PyList_Append(self->entries, entry))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *tell_call(Tape *self, int kind, size_t site)
{
    long process = process_here(self);
    if (process < 0)
        return NULL;
    Record record = {.kind = (uint8_t)kind, .process = (uint64_t)process, .site = site};
    if (write_noted(self, &record))
        return NULL;
    Py_RETURN_NONE;
}

/* A function whose calls are counted begins. */
static PyObject *tape_enter(Tape *self, PyObject *given)
{
    size_t site = PyLong_AsSize_t(given);
    if (site == (size_t)-1)
        return NULL;
    if (self->most_calls) {
        unsigned *count = calls_of(self, site);
        if (!count)
            return NULL;
        if (*count > self->most_calls)
            Py_RETURN_NONE;
        if (++*count > self->most_calls) {
            PyObject *entry = Py_BuildValue("(iO)", LEFT_OUT, given);
            int failed = entry ? PyList_Append(self->entries, entry) : -1;
            Py_XDECREF(entry);
            if (failed)
                return NULL;
            Py_RETURN_NONE;
        }
    }
    return tell_call(self, ENTER, site);
}

static PyObject *tape_leave(Tape *self, PyObject *given)
{
    size_t site = PyLong_AsSize_t(given);
    if (site == (size_t)-1)
        return NULL;
    if (self->most_calls && site < self->sites && self->calls[site] > self->most_calls)
        Py_RETURN_NONE;
    return tell_call(self, EXIT, site);
}

static PyObject *tape_limit_calls(Tape *self, PyObject *most)
{
    unsigned long found = PyLong_AsUnsignedLong(most);
    if (found == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    self->most_calls = (unsigned)found;
    Py_RETURN_NONE;
}

static PyObject *tape_left_out(Tape *self, PyObject *Py_UNUSED(none))
{
    PyObject *found = PyList_New(0);
    for (size_t site = 0; found && self->most_calls && site < self->sites; site++)
        if (self->calls[site] > self->most_calls) {
            PyObject *number = PyLong_FromSize_t(site);
            if (!number || PyList_Append(found, number))
                Py_CLEAR(found);
            Py_XDECREF(number);
        }
    return found;
}

/* Threads may be other processes than they were. */
static PyObject *tape_forget(Tape *self, PyObject *Py_UNUSED(none))
{
    memset(self->known, 0, sizeof self->known);
    if (self->follower) {
        Follower *hears = PyCapsule_GetPointer(self->follower, "possibly.follower");
        hears->moved(hears->itself);
    }
    Py_RETURN_NONE;
}

/* (entries, records as bytes), both empty afterwards. */
static PyObject *tape_take(Tape *self, PyObject *Py_UNUSED(none))
{
    PyObject *packed = PyBytes_FromStringAndSize((char *)self->bytes, (Py_ssize_t)self->count);
    PyObject *entries = packed ? PyList_GetSlice(self->entries, 0, PY_SSIZE_T_MAX) : NULL;
    if (!entries || PyList_SetSlice(self->entries, 0, PY_SSIZE_T_MAX, NULL) < 0) {
        Py_XDECREF(packed);
        Py_XDECREF(entries);
        return NULL;
    }
    self->count = 0;
    self->position = 0;
    self->passed += (uint64_t)PyList_GET_SIZE(entries);
    return Py_BuildValue("(NN)", entries, packed);
}

static PyObject *tape_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    PyObject *kind, *told_before, *told_after, *entries, *threads, *loops, *me, *place, *clock;
    if (!PyArg_ParseTuple(args, "OO!O!O!O!O!OOO", &kind, &PyDict_Type, &told_before, &PyDict_Type,
                          &told_after, &PyList_Type, &entries, &PyDict_Type, &threads, &PyDict_Type, &loops,
                          &me, &place, &clock))
        return NULL;
    Tape *self = (Tape *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->kind = Py_NewRef(kind);
    self->told_before = Py_NewRef(told_before);
    self->told_after = Py_NewRef(told_after);
    self->entries = Py_NewRef(entries);
    self->threads = Py_NewRef(threads);
    self->loops = Py_NewRef(loops);
    self->me = Py_NewRef(me);
    self->place = Py_NewRef(place);
    self->clock = Py_NewRef(clock);
    self->mask = 63;
    self->places = PyMem_Calloc(self->mask + 1, sizeof(Place));
    if (!self->places) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static int tape_traverse(Tape *self, visitproc visit, void *arg)
{
    Py_VISIT(self->told_before);
    Py_VISIT(self->told_after);
    Py_VISIT(self->entries);
    Py_VISIT(self->threads);
    Py_VISIT(self->loops);
    Py_VISIT(self->me);
    Py_VISIT(self->place);
    Py_VISIT(self->clock);
    return 0;
}

static int tape_clear(Tape *self)
{
    Py_CLEAR(self->kind);
    Py_CLEAR(self->follower);
    Py_CLEAR(self->action[0]);
    Py_CLEAR(self->action[1]);
    Py_CLEAR(self->told_before);
    Py_CLEAR(self->told_after);
    Py_CLEAR(self->entries);
    Py_CLEAR(self->threads);
    Py_CLEAR(self->loops);
    Py_CLEAR(self->me);
    Py_CLEAR(self->place);
    Py_CLEAR(self->clock);
    return 0;
}

static void tape_dealloc(Tape *self)
{
    PyObject_GC_UnTrack(self);
    tape_clear(self);
    PyMem_Free(self->places);
    PyMem_Free(self->bytes);
    PyMem_Free(self->calls);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef tape_methods[] = {
    {"before", (PyCFunction)(void (*)(void))tape_before, METH_FASTCALL, "What is about to be done."},
    {"after", (PyCFunction)(void (*)(void))tape_after, METH_FASTCALL, "What was done."},
    {"note", (PyCFunction)tape_note, METH_O, "An entry of rewritten source."},
    {"enter", (PyCFunction)tape_enter, METH_O, "A function whose calls are counted begins."},
    {"leave", (PyCFunction)tape_leave, METH_O, "It ends."},
    {"limit_calls", (PyCFunction)tape_limit_calls, METH_O, "Calls beyond this number are too many; 0: never."},
    {"left_out", (PyCFunction)tape_left_out, METH_NOARGS, "Sites of functions that were called too often."},
    {"follow", (PyCFunction)tape_follow, METH_O, "Who hears of every action."},
    {"counter", (PyCFunction)tape_counter, METH_NOARGS, "Where the number of entries passed can be read."},
    {"begin", (PyCFunction)tape_begin, METH_NOARGS, "Another file begins."},
    {"forget", (PyCFunction)tape_forget, METH_NOARGS, "Which thread is which process has changed."},
    {"take", (PyCFunction)tape_take, METH_NOARGS, "All entries and records so far, which are then forgotten."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject tape_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "possibly.recorder._tell.Tape",
    .tp_basicsize = sizeof(Tape),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = tape_new,
    .tp_methods = tape_methods,
    .tp_traverse = (traverseproc)tape_traverse,
    .tp_clear = (inquiry)tape_clear,
    .tp_dealloc = (destructor)tape_dealloc,
    .tp_doc = "Writes down what probes tell.",
};

/* ---- reading ----------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *at, *end;
    int failed;
} Reader;

static uint64_t number(Reader *from)
{
    uint64_t found = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (from->at == from->end)
            break;
        uint8_t byte = *from->at++;
        found |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return found;
    }
    from->failed = 1;
    return 0;
}

static PyObject *signed_number(Reader *from)
{
    uint64_t found = number(from);
    return PyLong_FromLongLong((int64_t)(found >> 1) ^ -(int64_t)(found & 1));
}

static PyObject *value_of(Reader *from, int what)
{
    double real;
    switch (what) {
    case INTEGER:
        return signed_number(from);
    case NOTHING:
        return Py_NewRef(Py_None);
    case FALSE_:
    case TRUE_:
        return PyBool_FromLong(what == TRUE_);
    case FLOAT:
        if (from->end - from->at >= 8) {
            memcpy(&real, from->at, 8);
            from->at += 8;
            return PyFloat_FromDouble(real);
        }
    }
    from->failed = 1;
    return Py_NewRef(Py_None);
}

static PyObject *noted_of(Reader *from, int code)
{
    uint64_t process = number(from), site = number(from);
    if (code % ENTRIES == NO_VALUE)
        return Py_BuildValue("(iKK)", code / ENTRIES, process, site);
    return Py_BuildValue("(iKKN)", code / ENTRIES, process, site, value_of(from, code % ENTRIES));
}

static PyObject *action_of(Reader *from, int code, PyObject *actions, PyObject *kind, PyObject *zero)
{
    int action = (code - FIRST_ACTION) / 3, details = (code - FIRST_ACTION) % 3;
    if (action >= PyTuple_GET_SIZE(actions)) {
        from->failed = 1;
        return Py_NewRef(Py_None);
    }
    uint64_t process = number(from), site = number(from);
    PyObject *thing = signed_number(from);
    PyObject *first = details ? signed_number(from) : Py_NewRef(Py_None);
    PyObject *detail = details == 2 ? Py_BuildValue("(NN)", first, signed_number(from)) : first;
    return Py_BuildValue("(OKKONNO)", kind, process, site, PyTuple_GET_ITEM(actions, action), thing, detail,
                         zero);
}

/* Records that are equal byte for byte are one and the same entry, if they came not long ago: most lines of a
   program are executed again and again. */
enum { SHARED_ENTRIES = 256, LONGEST_RECORD = 31 };

typedef struct {
    const uint8_t *record;
    Py_ssize_t length;
    PyObject *entry; /* the list of all entries holds it */
} Recent;

static Py_ssize_t record_length(const Reader *from)
{
    int code = *from->at;
    int numbers = code < FIRST_ACTION ? 2 : 3 + (code - FIRST_ACTION) % 3;
    if (code < FIRST_ACTION && code % ENTRIES != NO_VALUE)
        return 0;
    for (const uint8_t *at = from->at + 1; at < from->end && at - from->at < LONGEST_RECORD; at++)
        if (*at < 128 && --numbers == 0)
            return at + 1 - from->at;
    return 0;
}

static Recent *recent_of(Recent *recent, const uint8_t *record, Py_ssize_t length)
{
    uint32_t hash = 2166136261u;
    for (Py_ssize_t i = 0; i < length; i++)
        hash = (hash ^ record[i]) * 16777619u;
    return &recent[(hash ^ hash >> 15) % SHARED_ENTRIES];
}

static PyObject *entry_of(Reader *from, Recent *recent, PyObject *actions, PyObject *kind, PyObject *zero)
{
    const uint8_t *record = from->at;
    Py_ssize_t length = record_length(from);
    Recent *known = length ? recent_of(recent, record, length) : NULL;
    if (known && known->length == length && !memcmp(known->record, record, length)) {
        from->at += length;
        return Py_NewRef(known->entry);
    }
    int code = *from->at++;
    PyObject *entry = code < FIRST_ACTION ? noted_of(from, code) : action_of(from, code, actions, kind, zero);
    if (known && entry && !from->failed)
        *known = (Recent){record, length, entry};
    return entry;
}

static int append_new(PyObject *list, PyObject *item)
{
    int failed = item ? PyList_Append(list, item) : -1;
    Py_XDECREF(item);
    return failed;
}

/* unpacked(entries, records, actions, SYNC): all in one list; see `packing.unpacked`. */
static PyObject *unpacked(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *entries, *actions, *kind;
    Py_buffer packed;
    if (!PyArg_ParseTuple(args, "O!y*O!O", &PyList_Type, &entries, &packed, &PyTuple_Type, &actions, &kind))
        return NULL;
    Reader from = {packed.buf, (const uint8_t *)packed.buf + packed.len, 0};
    Py_ssize_t passed = 0, all = PyList_GET_SIZE(entries);
    PyObject *found = PyList_New(0), *zero = PyFloat_FromDouble(0.0);
    int failed = !found || !zero;
    Recent recent[SHARED_ENTRIES] = {{0}};
    while (!failed && !from.failed && from.at < from.end) {
        if (*from.at == POSITION) {
            from.at++;
            Py_ssize_t until = (Py_ssize_t)number(&from);
            for (; !failed && passed < until && passed < all; passed++)
                failed = PyList_Append(found, PyList_GET_ITEM(entries, passed));
        } else
            failed = append_new(found, entry_of(&from, recent, actions, kind, zero));
    }
    for (; !failed && passed < all; passed++)
        failed = PyList_Append(found, PyList_GET_ITEM(entries, passed));
    if (!failed && from.failed) {
        PyErr_SetString(PyExc_ValueError, "a log has a broken record");
        failed = 1;
    }
    PyBuffer_Release(&packed);
    Py_XDECREF(zero);
    if (failed)
        Py_CLEAR(found);
    return found;
}

/* ---- containers (`holding`) ---------------------------------------------------------------------- */

static PyObject *holds(PyObject *holders, PyObject *container)
{
    PyTypeObject *kind = Py_TYPE(container);
    if (kind == &PyLong_Type || kind == &PyUnicode_Type || kind == &PyFloat_Type)
        Py_RETURN_FALSE;
    if (kind == &PyType_Type)
        Py_RETURN_TRUE;
    PyObject *identity = PyLong_FromVoidPtr(container);
    int found = identity ? PyDict_Contains(holders, identity) : -1;
    Py_XDECREF(identity);
    return found < 0 ? NULL : PyBool_FromLong(found);
}

static PyMethodDef holds_method = {"holds", holds, METH_O, "Whether a variable held the container."};

static PyObject *holds_in(PyObject *Py_UNUSED(module), PyObject *holders)
{
    return PyCFunction_New(&holds_method, holders);
}

static PyMethodDef functions[] = {
    {"holds_in", holds_in, METH_O, "The function that asks a dictionary of containers by their identity."},
    {"unpacked", unpacked, METH_VARARGS, "The entries of a piece and its records, in their order."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "possibly.recorder._tell", "The compiled twin of the log's hot methods.", -1,
    functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__tell(void)
{
    if (PyType_Ready(&tape_type) < 0)
        return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddObjectRef(made, "Tape", (PyObject *)&tape_type) < 0)
        Py_CLEAR(made);
    return made;
}
