/* The listener's two hot methods, in C: the compiled twin of what `Log` tells.
 *
 * A Tape has the methods `before` and `after` of the port. What they tell goes into a buffer of records of a
 * fixed size (`Record`, read by `packing.py`), or, where a record cannot hold it, into the log's list of
 * entries as the plain methods write it. Each record says how long the list was when it was written, so that
 * the order of both together is known; `take` hands over both at once.
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

typedef struct {
    const void *code;
    int instruction; /* -1: the code is not the program's own, at any instruction */
    long site;
} Place;

typedef struct {
    uint32_t position; /* entries of the list that stand before it */
    uint8_t action, details;
    uint16_t unused;
    uint32_t process, site;
    int64_t thing, first, second;
} Record;

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
    Place *places;
    size_t mask, used;
    Record *records;
    size_t count, room;
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
        PyObject *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
        if (!thread)
            return -1;
        PyObject *found = PyDict_GetItemWithError(self->threads, thread);
        Py_DECREF(thread);
        if (found)
            return PyLong_AsLong(found);
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

static int write_record(Tape *self, Record record)
{
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 256;
        Record *larger = PyMem_Realloc(self->records, room * sizeof(Record));
        if (!larger) {
            PyErr_NoMemory();
            return -1;
        }
        self->records = larger;
        self->room = room;
    }
    record.position = (uint32_t)PyList_GET_SIZE(self->entries);
    self->records[self->count++] = record;
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

static PyObject *tell(Tape *self, PyObject *told, PyObject *const *args, Py_ssize_t count)
{
    if (count < 2 || count > 3) {
        PyErr_SetString(PyExc_TypeError, "an action, a thing and perhaps a detail are told");
        return NULL;
    }
    PyObject *number = PyDict_GetItemWithError(told, args[0]);
    if (!number) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    Record record = {0};
    PyObject *detail = count == 3 ? args[2] : Py_None;
    long process = process_here(self);
    long site = process < 0 ? -1 : site_here(self);
    if (site < 0)
        return NULL;
    record.action = (uint8_t)PyLong_AsLong(number);
    record.process = (uint32_t)process;
    record.site = (uint32_t)site;
    int failed = is_packed(&record, args[1], detail) ? write_record(self, record)
                                                     : write_entry(self, args[0], args[1], detail, &record);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *tape_before(Tape *self, PyObject *const *args, Py_ssize_t count)
{
    return tell(self, self->told_before, args, count);
}

static PyObject *tape_after(Tape *self, PyObject *const *args, Py_ssize_t count)
{
    return tell(self, self->told_after, args, count);
}

/* (entries, records as bytes), both empty afterwards. */
static PyObject *tape_take(Tape *self, PyObject *Py_UNUSED(none))
{
    PyObject *packed = PyBytes_FromStringAndSize((char *)self->records, self->count * sizeof(Record));
    PyObject *entries = packed ? PyList_GetSlice(self->entries, 0, PY_SSIZE_T_MAX) : NULL;
    if (!entries || PyList_SetSlice(self->entries, 0, PY_SSIZE_T_MAX, NULL) < 0) {
        Py_XDECREF(packed);
        Py_XDECREF(entries);
        return NULL;
    }
    self->count = 0;
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
    PyMem_Free(self->records);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef tape_methods[] = {
    {"before", (PyCFunction)(void (*)(void))tape_before, METH_FASTCALL, "What is about to be done."},
    {"after", (PyCFunction)(void (*)(void))tape_after, METH_FASTCALL, "What was done."},
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

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "possibly.recorder._tell", "The compiled twin of the log's hot methods.", -1,
    NULL, NULL, NULL, NULL, NULL,
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
