/* What a frame that stands still holds: its variables and the values of its evaluation stack.
 *
 * `slots(frame, depth)` is a tuple of all variables of the frame (cells as cells) and, behind them, the lowest
 * `depth` values of its stack; `EMPTY` stands where there is nothing. How deep the stack is only the caller
 * knows, from the instructions (`frames.py`), except where the frame itself says that there are fewer. Only for
 * the interpreter whose frames are laid out as below: `READS` says whether this is one. `places(set)` tells
 * what a set does not show of itself.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#define LAID_OUT 1
struct interpreted {
    PyFunctionObject *function;
    PyObject *globals;
    PyObject *builtins;
    PyObject *locals;
    PyCodeObject *code;
    PyFrameObject *frame;
    struct interpreted *previous;
    void *instruction;
    int stacktop;
    _Bool is_entry;
    char owner;
    PyObject *localsplus[1];
};
struct framed {
    PyObject_HEAD
    PyFrameObject *back;
    struct interpreted *inner;
};
#else
#define LAID_OUT 0
#endif

static PyObject *empty = NULL;

static PyObject *slots(PyObject *module, PyObject *args)
{
    PyObject *frame;
    Py_ssize_t depth;
    if (!PyArg_ParseTuple(args, "O!n", &PyFrame_Type, &frame, &depth))
        return NULL;
#if LAID_OUT
    struct interpreted *inner = ((struct framed *)frame)->inner;
    if (inner == NULL || depth < 0 || depth > inner->code->co_stacksize) {
        PyErr_SetString(PyExc_ValueError, "no such stack");
        return NULL;
    }
    Py_ssize_t size = inner->code->co_nlocalsplus + depth;
    if (inner->stacktop >= 0) /* it has called a function of Python, which took its arguments away */
        size = inner->stacktop;
    PyObject *found = PyTuple_New(size);
    if (found == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *value = inner->localsplus[i] ? inner->localsplus[i] : empty;
        PyTuple_SET_ITEM(found, i, Py_NewRef(value));
    }
    return found;
#else
    PyErr_SetString(PyExc_NotImplementedError, "frames of this version cannot be read");
    return NULL;
#endif
}

/* What decides in which order a set is gone through now and when others have come: its size, where it is
 * looked into for `pop`, and of each place whether it is free (left out), taken, or was taken once. */
static PyObject *places(PyObject *module, PyObject *value)
{
    if (!PyAnySet_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "no set");
        return NULL;
    }
    PySetObject *set = (PySetObject *)value;
    PyObject *found = PyTuple_New(2 + set->fill);
    if (found == NULL)
        return NULL;
    PyTuple_SET_ITEM(found, 0, PyLong_FromSsize_t(set->mask));
    PyTuple_SET_ITEM(found, 1, PyLong_FromSsize_t(PyFrozenSet_Check(value) ? 0 : set->finger));
    Py_ssize_t number = 2;
    for (Py_ssize_t i = 0; i <= set->mask && number < 2 + set->fill; i++) {
        if (set->table[i].key == NULL)
            continue;
        Py_ssize_t told = set->table[i].hash == -1 ? -1 - i : i; /* no item has this hash */
        PyTuple_SET_ITEM(found, number++, PyLong_FromSsize_t(told));
    }
    return found;
}

static PyMethodDef methods[] = {
    {"places", places, METH_O, "Where the items of a set lie."},
    {"slots", slots, METH_VARARGS, "The variables of a frame, and so many values of its stack."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_slots", NULL, -1, methods};

PyMODINIT_FUNC PyInit__slots(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    empty = PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
    if (empty == NULL || PyModule_AddObjectRef(module, "EMPTY", empty) < 0
        || PyModule_AddObject(module, "READS", PyBool_FromLong(LAID_OUT)) < 0)
        return NULL;
    return module;
}
