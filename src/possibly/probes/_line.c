/* A plain queue's `_put` and `_get` that tell what they do: the compiled twin of `queues._in_line`.
 *
 * Both run while the queue's own lock is held. `line` has the messages that lie in the queue, in the order of
 * its items; `places` the free places of a bounded queue: the message that was taken out of each, 0 for one
 * that was never used. Whom to tell is looked up in the port each time, for a recording may end.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
    PyObject **items;
    size_t start, count, room;
} Ring;

static int push(Ring *ring, PyObject *item)
{
    if (ring->count == ring->room) {
        size_t room = ring->room ? 2 * ring->room : 64;
        PyObject **larger = PyMem_Malloc(room * sizeof(PyObject *));
        if (!larger) {
            PyErr_NoMemory();
            return -1;
        }
        for (size_t i = 0; i < ring->count; i++)
            larger[i] = ring->items[(ring->start + i) % ring->room];
        PyMem_Free(ring->items);
        ring->items = larger;
        ring->start = 0;
        ring->room = room;
    }
    ring->items[(ring->start + ring->count++) % ring->room] = Py_NewRef(item);
    return 0;
}

static PyObject *shift(Ring *ring)
{
    PyObject *found = ring->items[ring->start];
    ring->start = (ring->start + 1) % ring->room;
    ring->count--;
    return found;
}

static void empty(Ring *ring)
{
    while (ring->count)
        Py_DECREF(shift(ring));
    PyMem_Free(ring->items);
    ring->items = NULL;
    ring->room = 0;
}

typedef struct {
    PyObject_HEAD
    PyObject *owner;  /* the queue */
    PyObject *port;   /* the names of the port: a dict */
    PyObject *number; /* of the queue */
    PyObject *roomy;  /* (number, 0) */
    PyObject *count;  /* what numbers messages */
    Ring line, places;
    Py_ssize_t unused; /* places that were never used; -1: there is no bound */
} Line;

static PyObject *text_before, *text_after, *text_number, *text_put, *text_get;
static PyObject *text_queue, *text_append, *text_popleft;

static int told(Line *self, PyObject *when, PyObject *action, PyObject *message, PyObject *detail)
{
    PyObject *listener = PyDict_GetItemWithError(self->port, when);
    if (!listener)
        return -1;
    PyObject *args[3] = {action, message, detail};
    Py_INCREF(listener);
    PyObject *found = PyObject_Vectorcall(listener, args, 3, NULL);
    Py_DECREF(listener);
    Py_XDECREF(found);
    return found ? 0 : -1;
}

/* (queue, the message whose place the next one takes) */
static PyObject *room(Line *self)
{
    if (self->unused > 0)
        self->unused--;
    else if (self->unused == 0 && self->places.count) {
        PyObject *message = shift(&self->places);
        PyObject *found = PyTuple_Pack(2, self->number, message);
        Py_DECREF(message);
        return found;
    }
    return Py_NewRef(self->roomy);
}

static PyObject *line_put(Line *self, PyObject *item)
{
    PyObject *message = PyObject_CallNoArgs(self->count);
    PyObject *detail = message ? room(self) : NULL;
    int failed = !detail || told(self, text_before, text_put, message, detail) || push(&self->line, message);
    Py_XDECREF(message);
    Py_XDECREF(detail);
    PyObject *items = failed ? NULL : PyObject_GetAttr(self->owner, text_queue);
    PyObject *done = items ? PyObject_CallMethodOneArg(items, text_append, item) : NULL;
    Py_XDECREF(items);
    return done;
}

static int left(Line *self, PyObject *message)
{
    return self->unused < 0 ? 0 : push(&self->places, message);
}

static PyObject *line_get(Line *self, PyObject *Py_UNUSED(none))
{
    PyObject *items = PyObject_GetAttr(self->owner, text_queue);
    Py_ssize_t size = items ? PyObject_Length(items) : -1;
    /* Items that the program took away by itself were the oldest. */
    while (size >= 0 && self->line.count > (size_t)size) {
        PyObject *lost = shift(&self->line);
        int failed = left(self, lost);
        Py_DECREF(lost);
        if (failed)
            size = -1;
    }
    PyObject *item = size < 0 ? NULL : PyObject_CallMethodNoArgs(items, text_popleft);
    Py_XDECREF(items);
    if (!item || !self->line.count)
        return item;
    PyObject *message = shift(&self->line);
    int failed = told(self, text_after, text_get, message, self->number) || left(self, message);
    Py_DECREF(message);
    if (failed)
        Py_CLEAR(item);
    return item;
}

static PyObject *line_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(named))
{
    PyObject *owner, *port, *number;
    Py_ssize_t maxsize;
    if (!PyArg_ParseTuple(args, "OO!On", &owner, &PyDict_Type, &port, &number, &maxsize))
        return NULL;
    Line *self = (Line *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->owner = Py_NewRef(owner);
    self->port = Py_NewRef(port);
    self->number = Py_NewRef(number);
    self->unused = maxsize > 0 ? maxsize : -1;
    self->roomy = Py_BuildValue("(Oi)", number, 0);
    self->count = Py_XNewRef(PyDict_GetItemWithError(port, text_number));
    if (!self->roomy || !self->count) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_KeyError, "number");
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int line_traverse(Line *self, visitproc visit, void *arg)
{
    Py_VISIT(self->owner);
    Py_VISIT(self->port);
    return 0;
}

static int line_clear(Line *self)
{
    Py_CLEAR(self->owner);
    Py_CLEAR(self->port);
    Py_CLEAR(self->number);
    Py_CLEAR(self->roomy);
    Py_CLEAR(self->count);
    return 0;
}

static void line_dealloc(Line *self)
{
    PyObject_GC_UnTrack(self);
    line_clear(self);
    empty(&self->line);
    empty(&self->places);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef line_methods[] = {
    {"put", (PyCFunction)line_put, METH_O, "Tells of a message, and puts the item."},
    {"get", (PyCFunction)line_get, METH_NOARGS, "Takes an item, and tells of its message."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject line_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "possibly.probes._line.Line",
    .tp_basicsize = sizeof(Line),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = line_new,
    .tp_methods = line_methods,
    .tp_traverse = (traverseproc)line_traverse,
    .tp_clear = (inquiry)line_clear,
    .tp_dealloc = (destructor)line_dealloc,
    .tp_doc = "The messages of a plain queue.",
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "possibly.probes._line", "The compiled twin of a plain queue's probe.", -1,
    NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__line(void)
{
    struct {
        PyObject **text;
        const char *value;
    } texts[] = {
        {&text_before, "before"}, {&text_after, "after"},   {&text_number, "number"},   {&text_put, "put"},
        {&text_get, "get"},       {&text_queue, "queue"},   {&text_append, "append"},   {&text_popleft, "popleft"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!(*texts[i].text = PyUnicode_InternFromString(texts[i].value)))
            return NULL;
    if (PyType_Ready(&line_type) < 0)
        return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddObjectRef(made, "Line", (PyObject *)&line_type) < 0)
        Py_CLEAR(made);
    return made;
}
