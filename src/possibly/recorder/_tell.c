/* The listener's hot methods, in C: the compiled twin of what `Log` and its sites (`telling.py`) tell.
 *
 * A Tape has the methods `before` and `after` of the port, and `note` for entries of the recorder's own making.
 * A Site stands before an instruction of the program. What they tell goes into a buffer of records (`packing.py` says how they are written), or, where a
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
#include <structmember.h>
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
    uint8_t kind; /* of an entry that is no action */
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
    int is_quiet;        /* the recording is over, and sites tell nothing any more */
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

/* (kind, process, site) */
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

enum { READ = 1, WRITE, MEMBER_READ, MEMBER_WRITE, SET, ENTER, EXIT, LEFT_OUT = 29 }; /* as in `entries.py` */
enum { COUNTED_ENTER = 12, COUNTED_EXIT, STORED, CONTAINER, MUTATOR = 17, OPERAND = 19 }; /* as in `Telling` */

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

/* An entry: a head, or a head with a value, is a record; all others go into the list. */
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

/* From now on sites tell nothing. */
static PyObject *tape_silence(Tape *self, PyObject *Py_UNUSED(none))
{
    self->is_quiet = 1;
    Py_RETURN_NONE;
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

static PyObject *tape_site(Tape *self, PyObject *args);

static PyMethodDef tape_methods[] = {
    {"site", (PyCFunction)tape_site, METH_VARARGS, "The compiled twin of a plain site."},
    {"before", (PyCFunction)(void (*)(void))tape_before, METH_FASTCALL, "What is about to be done."},
    {"after", (PyCFunction)(void (*)(void))tape_after, METH_FASTCALL, "What was done."},
    {"note", (PyCFunction)tape_note, METH_O, "An entry that is no action."},
    {"enter", (PyCFunction)tape_enter, METH_O, "A function whose calls are counted begins."},
    {"leave", (PyCFunction)tape_leave, METH_O, "It ends."},
    {"silence", (PyCFunction)tape_silence, METH_NOARGS, "The recording is over."},
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

/* ---- sites ------------------------------------------------------------------------------------- */

/* The twin of a site of `telling.py`, which it asks where there is more to do than to write an entry. The entry
   is the last thing that is done: what it tells of is the next instruction. */
typedef struct {
    PyObject_HEAD
    Tape *tape;
    PyObject *plain;     /* the plain site */
    PyObject *number;    /* of the site in the log */
    size_t site;         /* the same */
    int kind;
    Py_ssize_t place;    /* of the variable's switch in `live`, or -1 */
    PyObject *live;      /* a list */
    PyObject *attribute; /* a text */
    PyObject *known;     /* a dictionary: containers that are held, or stores that are not over */
} Site;

static int is_off(Site *self)
{
    return self->tape->is_quiet
        || (self->place >= 0 && self->place < PyList_GET_SIZE(self->live)
            && PyList_GET_ITEM(self->live, self->place) != Py_True);
}

static int append_told(Site *self, PyObject *entry)
{
    int failed = entry ? PyList_Append(self->tape->entries, entry) : -1;
    Py_XDECREF(entry);
    return failed;
}

static int tell_record(Site *self, const Record *record)
{
    return count_access(self->tape, record) || write_noted(self->tape, record) ? -1 : 0;
}

static int tell_read(Site *self)
{
    long process = process_here(self->tape);
    Record record = {.kind = (uint8_t)self->kind, .process = (uint64_t)process, .site = self->site};
    return process < 0 ? -1 : tell_record(self, &record);
}

static int is_finite(PyObject *value)
{
    return !PyFloat_CheckExact(value) || Py_IS_FINITE(PyFloat_AS_DOUBLE(value));
}

static int is_plain(PyObject *value)
{
    return PyLong_CheckExact(value) || PyUnicode_CheckExact(value) || PyBool_Check(value) || value == Py_None;
}

/* What is told of a value: the plain site may have to copy it. */
static PyObject *kept_by(Site *self, PyObject *owner, PyObject *value)
{
    if (is_plain(value))
        return Py_NewRef(value);
    return owner ? PyObject_CallMethod(self->plain, "kept", "(OO)", owner, value)
                 : PyObject_CallMethod(self->plain, "kept", "(O)", value);
}

static int tell_value(Site *self, PyObject *value)
{
    long process = process_here(self->tape);
    if (process < 0)
        return -1;
    Record record = {.kind = (uint8_t)self->kind, .process = (uint64_t)process, .site = self->site};
    if (is_finite(value) && is_packed_value(value, &record))
        return tell_record(self, &record);
    PyObject *kept = kept_by(self, NULL, value);
    if (!kept)
        return -1;
    return append_told(self, Py_BuildValue("(ilON)", self->kind, process, self->number, kept));
}

/* Whether the store is one step that cannot fail: no code of the program runs in it. */
static int stores_plainly(PyObject *owner, PyObject *attribute)
{
    PyTypeObject *kind = Py_TYPE(owner);
    if (PyType_Check(owner) || kind->tp_setattro != PyObject_GenericSetAttr)
        return 0;
    PyObject *found = _PyType_Lookup(kind, attribute);
    if (found && Py_IS_TYPE(found, &PyMemberDescr_Type))
        return 1;
    return kind->tp_dictoffset != 0 && (!found || !Py_TYPE(found)->tp_descr_set);
}

static int tell_member(Site *self, PyObject *owner, PyObject *value)
{
    if (value && !stores_plainly(owner, self->attribute))
        return PyObject_SetItem(self->plain, owner, value);
    long process = process_here(self->tape);
    if (process < 0)
        return -1;
    if (!value)
        return append_told(self, Py_BuildValue("(ilOO)", self->kind, process, self->number, owner));
    PyObject *kept = kept_by(self, owner, value);
    if (!kept)
        return -1;
    return append_told(self, Py_BuildValue("(ilOON)", self->kind, process, self->number, owner, kept));
}

static int is_called_too_often(Site *self)
{
    Tape *tape = self->tape;
    return tape->most_calls && self->site < tape->sites && tape->calls[self->site] > tape->most_calls;
}

static int tell_nothing_of(PyObject *told)
{
    Py_XDECREF(told);
    return told ? 0 : -1;
}

static int site_told(PyObject *itself, PyObject *given, PyObject *value)
{
    Site *self = (Site *)itself;
    if (self->kind == STORED)
        return PyDict_GET_SIZE(self->known) ? PyObject_DelItem(self->plain, given) : 0;
    if (is_off(self))
        return 0;
    switch (self->kind) {
    case READ:
    case ENTER:
    case EXIT:
        return tell_read(self);
    case WRITE:
    case SET:
        return tell_value(self, given);
    case MEMBER_READ:
    case MEMBER_WRITE:
        return tell_member(self, given, value);
    case COUNTED_ENTER:
        if (is_called_too_often(self))
            return 0;
        return tell_nothing_of(tape_enter(self->tape, self->number));
    case COUNTED_EXIT:
        if (is_called_too_often(self))
            return 0;
        return tell_nothing_of(tape_leave(self->tape, self->number));
    }
    PyErr_SetString(PyExc_TypeError, "this site is told nothing");
    return -1;
}

/* What may be held by a variable: a container, or that of a method; NULL: the plain site knows. */
static PyObject *container_of(Site *self, PyObject *value)
{
    if (self->kind != MUTATOR)
        return value;
    if (PyCFunction_Check(value))
        return PyCFunction_GET_SELF(value);
    return PyMethod_Check(value) ? PyMethod_GET_SELF(value) : NULL;
}

static PyObject *site_exchanged(PyObject *left, PyObject *value)
{
    Site *self = (Site *)left;
    PyTypeObject *kind = Py_TYPE(value);
    if (kind == &PyLong_Type || kind == &PyUnicode_Type || kind == &PyFloat_Type || self->tape->is_quiet
        || PyDict_GET_SIZE(self->known) == 0)
        return Py_NewRef(value);
    PyObject *container = container_of(self, value);
    if (container) {
        PyObject *identity = PyLong_FromVoidPtr(container);
        int found = identity ? PyDict_Contains(self->known, identity) : -1;
        Py_XDECREF(identity);
        if (found <= 0)
            return found < 0 ? NULL : Py_NewRef(value);
    }
    return PyNumber_MatrixMultiply(self->plain, value);
}

static int site_traverse(Site *self, visitproc visit, void *arg)
{
    Py_VISIT(self->tape);
    Py_VISIT(self->plain);
    Py_VISIT(self->live);
    Py_VISIT(self->known);
    return 0;
}

static int site_clear(Site *self)
{
    Py_CLEAR(self->plain);
    Py_CLEAR(self->number);
    Py_CLEAR(self->live);
    Py_CLEAR(self->attribute);
    Py_CLEAR(self->known);
    Py_CLEAR(self->tape);
    return 0;
}

static void site_dealloc(Site *self)
{
    PyObject_GC_UnTrack(self);
    site_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef site_members[] = {
    {"plain", T_OBJECT, offsetof(Site, plain), READONLY, "The plain site."},
    {NULL, 0, 0, 0, NULL},
};

static PyMappingMethods site_mapping = {.mp_ass_subscript = site_told};
static PyNumberMethods site_numbers = {.nb_matrix_multiply = site_exchanged};

static PyTypeObject site_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "possibly.recorder._tell.Site",
    .tp_basicsize = sizeof(Site),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_members = site_members,
    .tp_as_mapping = &site_mapping,
    .tp_as_number = &site_numbers,
    .tp_traverse = (traverseproc)site_traverse,
    .tp_clear = (inquiry)site_clear,
    .tp_dealloc = (destructor)site_dealloc,
    .tp_doc = "Stands before an instruction of the program.",
};

/* site(kind, number, plain, switch, live, attribute, known) */
static PyObject *tape_site(Tape *self, PyObject *args)
{
    int kind;
    PyObject *number, *plain, *live, *attribute, *known;
    Py_ssize_t place;
    if (!PyArg_ParseTuple(args, "iO!OnO!UO!", &kind, &PyLong_Type, &number, &plain, &place, &PyList_Type, &live,
                          &attribute, &PyDict_Type, &known))
        return NULL;
    size_t site = PyLong_AsSize_t(number);
    if (site == (size_t)-1 && PyErr_Occurred())
        return NULL;
    Site *made = (Site *)site_type.tp_alloc(&site_type, 0);
    if (!made)
        return NULL;
    made->tape = (Tape *)Py_NewRef((PyObject *)self);
    made->plain = Py_NewRef(plain);
    made->number = Py_NewRef(number);
    made->site = site;
    made->kind = kind;
    made->place = place;
    made->live = Py_NewRef(live);
    made->attribute = Py_NewRef(attribute);
    PyUnicode_InternInPlace(&made->attribute);
    made->known = Py_NewRef(known);
    return (PyObject *)made;
}

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

static PyMethodDef functions[] = {
    {"unpacked", unpacked, METH_VARARGS, "The entries of a piece and its records, in their order."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "possibly.recorder._tell", "The compiled twin of the log's hot methods.", -1,
    functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__tell(void)
{
    if (PyType_Ready(&tape_type) < 0 || PyType_Ready(&site_type) < 0)
        return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddObjectRef(made, "Tape", (PyObject *)&tape_type) < 0)
        Py_CLEAR(made);
    return made;
}
