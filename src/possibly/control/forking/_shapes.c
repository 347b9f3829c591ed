/* Which of many objects have changed: what they refer to, each by itself.
 *
 * `Shapes(objects)` remembers to what every one of them refers, and keeps that alive, so that nothing else comes
 * to its address; `changed()` lists the numbers of those that refer to something else now, `held(number)` is to
 * what one did, and `again(number)` remembers it anew. A dictionary is known by its version, which any change of
 * it makes another one, and in interpreters without that by its keys and values. `reached(roots, barrier)` is the
 * set of the addresses of all that can be come to from some objects, not through those whose addresses are in
 * the barrier; `attributes(object)` is the dictionary of an object's attributes, made if need be.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030D0000 && !defined(WITHOUT_VERSIONS)
#define VERSION(dict) (((PyDictObject *)(dict))->ma_version_tag)
#define HAS_VERSIONS 1
#else
#define VERSION(dict) 0
#define HAS_VERSIONS 0
#endif

struct shape {
    PyObject *object;
    uint64_t version; /* of a dictionary */
    Py_ssize_t begin, count;
};

typedef struct {
    PyObject_HEAD
    struct shape *shapes;
    Py_ssize_t count;
    PyObject **held; /* what they refer to, one after another */
    Py_ssize_t used, room;
} Shapes;

static int hold(PyObject *found, void *data)
{
    Shapes *self = data;
    if (self->used == self->room) {
        Py_ssize_t room = self->room ? self->room * 2 : 1 << 16;
        PyObject **held = realloc(self->held, (size_t)room * sizeof *held);
        if (held == NULL)
            return -1;
        self->held = held;
        self->room = room;
    }
    self->held[self->used++] = Py_NewRef(found);
    return 0;
}

static int remember(Shapes *self, struct shape *shape)
{
    PyObject *object = shape->object;
    shape->begin = self->used;
    shape->count = 0;
    if (PyDict_Check(object)) {
        shape->version = VERSION(object);
        PyObject *key, *value;
        for (Py_ssize_t at = 0; !HAS_VERSIONS && PyDict_Next(object, &at, &key, &value);)
            if (hold(key, self) || hold(value, self)) {
                PyErr_NoMemory();
                return -1;
            }
    }
    traverseproc traverse = Py_TYPE(object)->tp_traverse;
    if (!PyDict_CheckExact(object) && traverse != NULL && traverse(object, hold, self) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    shape->count = self->used - shape->begin;
    return 0;
}

static void forget(Shapes *self, struct shape *shape)
{
    for (Py_ssize_t i = shape->begin; i < shape->begin + shape->count; i++)
        Py_CLEAR(self->held[i]);
    shape->count = 0;
}

static void shapes_free(Shapes *self)
{
    for (Py_ssize_t i = 0; i < self->count; i++) {
        forget(self, self->shapes + i);
        Py_XDECREF(self->shapes[i].object);
    }
    free(self->shapes);
    free(self->held);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *shapes_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *objects;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &objects))
        return NULL;
    Shapes *self = (Shapes *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(objects);
    self->shapes = calloc((size_t)count + 1, sizeof *self->shapes);
    if (self->shapes == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        self->shapes[i].object = Py_NewRef(PyList_GET_ITEM(objects, i));
        self->count++;
        if (remember(self, self->shapes + i) < 0) {
            Py_DECREF(self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

struct looking {
    PyObject **held;
    Py_ssize_t left;
};

static int look(PyObject *found, void *data)
{
    struct looking *looking = data;
    if (looking->left-- <= 0 || *looking->held++ != found)
        return 1;
    return 0;
}

static int is_changed(Shapes *self, struct shape *shape)
{
    PyObject *object = shape->object;
    if (PyDict_Check(object) && shape->version != VERSION(object))
        return 1;
    struct looking looking = {self->held + shape->begin, shape->count};
    PyObject *key, *value;
    for (Py_ssize_t at = 0; !HAS_VERSIONS && PyDict_Check(object) && PyDict_Next(object, &at, &key, &value);)
        if (look(key, &looking) || look(value, &looking))
            return 1;
    if (PyDict_CheckExact(object) || Py_TYPE(object)->tp_traverse == NULL)
        return looking.left != 0;
    return Py_TYPE(object)->tp_traverse(object, look, &looking) != 0 || looking.left != 0;
}

static PyObject *changed(Shapes *self, PyObject *nothing)
{
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found != NULL && i < self->count; i++)
        if (is_changed(self, self->shapes + i)) {
            PyObject *number = PyLong_FromSsize_t(i);
            if (number == NULL || PyList_Append(found, number) < 0)
                Py_CLEAR(found);
            Py_XDECREF(number);
        }
    return found;
}

static PyObject *held(Shapes *self, PyObject *number)
{
    Py_ssize_t i = PyLong_AsSsize_t(number);
    if (i < 0 || i >= self->count) {
        PyErr_SetString(PyExc_IndexError, "there is no such object");
        return NULL;
    }
    struct shape *shape = self->shapes + i;
    PyObject *found = PyTuple_New(shape->count);
    for (Py_ssize_t k = 0; found != NULL && k < shape->count; k++)
        PyTuple_SET_ITEM(found, k, Py_NewRef(self->held[shape->begin + k]));
    return found;
}

static PyObject *again(Shapes *self, PyObject *number)
{
    Py_ssize_t i = PyLong_AsSsize_t(number);
    if (i < 0 || i >= self->count) {
        PyErr_SetString(PyExc_IndexError, "there is no such object");
        return NULL;
    }
    Py_ssize_t begin = self->shapes[i].begin, count = self->shapes[i].count;
    if (remember(self, self->shapes + i) < 0)
        return NULL;
    for (Py_ssize_t k = begin; k < begin + count; k++)
        Py_CLEAR(self->held[k]);
    Py_RETURN_NONE;
}

/* ---- what can be come to ------------------------------------------------------------------------------ */

struct walk {
    PyObject *found; /* addresses */
    PyObject *barrier;
    PyObject **pending; /* borrowed: nothing runs meanwhile that could end them */
    Py_ssize_t count, room;
};

static int come_to(PyObject *object, void *data)
{
    struct walk *walk = data;
    if (!PyObject_IS_GC(object))
        return 0;
    PyObject *address = PyLong_FromVoidPtr(object);
    if (address == NULL)
        return -1;
    int known = PySet_Contains(walk->found, address);
    if (!known)
        known = PySet_Contains(walk->barrier, address);
    if (!known)
        known = PySet_Add(walk->found, address);
    else if (known > 0) {
        Py_DECREF(address);
        return 0;
    }
    Py_DECREF(address);
    if (known < 0)
        return -1;
    if (walk->count == walk->room) {
        Py_ssize_t room = walk->room ? walk->room * 2 : 1 << 14;
        PyObject **pending = realloc(walk->pending, (size_t)room * sizeof *pending);
        if (pending == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        walk->pending = pending;
        walk->room = room;
    }
    walk->pending[walk->count++] = object;
    return 0;
}

/* A class in C is not gone through: it refers to what is in C too. */
static traverseproc way_from(PyObject *object)
{
    if (PyType_Check(object) && !(((PyTypeObject *)object)->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return NULL;
    return Py_TYPE(object)->tp_traverse;
}

static PyObject *reached(PyObject *module, PyObject *args)
{
    PyObject *roots, *barrier;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &roots, &PySet_Type, &barrier))
        return NULL;
    struct walk walk = {PySet_New(NULL), barrier, NULL, 0, 0};
    int failed = walk.found == NULL;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(roots); i++)
        failed = come_to(PyList_GET_ITEM(roots, i), &walk) < 0;
    while (!failed && walk.count) {
        PyObject *object = walk.pending[--walk.count];
        traverseproc way = way_from(object);
        failed = way != NULL && way(object, come_to, &walk) < 0;
    }
    free(walk.pending);
    if (failed)
        Py_CLEAR(walk.found);
    return walk.found;
}

/* The attributes of an object, which are an object of their own from now on; None where it has none so. */
static PyObject *attributes(PyObject *module, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_Check(object) || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || type->tp_dictoffset == 0)
        Py_RETURN_NONE;
    PyObject *found = PyObject_GenericGetDict(object, NULL);
    if (found == NULL) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    return found;
}

static PyMethodDef functions[] = {
    {"attributes", attributes, METH_O, "The dictionary of an object's attributes."},
    {"reached", reached, METH_VARARGS, "The addresses of all that can be come to from some objects."},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef methods[] = {
    {"changed", (PyCFunction)changed, METH_NOARGS, "The numbers of those that refer to something else now."},
    {"held", (PyCFunction)held, METH_O, "To what one referred, by its number."},
    {"again", (PyCFunction)again, METH_O, "Remembers one anew, by its number."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject ShapesType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "possibly.control.forking._shapes.Shapes",
    .tp_basicsize = sizeof(Shapes),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "To what objects refer.",
    .tp_new = shapes_new,
    .tp_dealloc = (destructor)shapes_free,
    .tp_methods = methods,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_shapes", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__shapes(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made == NULL || PyType_Ready(&ShapesType) < 0)
        return NULL;
    if (PyModule_AddObjectRef(made, "Shapes", (PyObject *)&ShapesType) < 0)
        return NULL;
    return made;
}
