/* Audit events of the interpreter, those alone that somebody wants to hear of.
 *
 * `listen(names, function)` lets the function be called with an event of these names and what it tells, from
 * now on, as `sys.addaudithook` does for all events: each frame that is looked at is one. It cannot be taken
 * back. Without this file `hearing` asks in Python.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

struct heard {
    PyObject *function;
    Py_ssize_t count;
    struct {
        char *name;
        size_t length;
    } events[];
};

static int hear(const char *event, PyObject *given, void *data)
{
    struct heard *heard = data;
    size_t length = strlen(event);
    for (Py_ssize_t i = 0; i < heard->count; i++)
        if (heard->events[i].length == length && !memcmp(heard->events[i].name, event, length)) {
            PyObject *result = PyObject_CallFunction(heard->function, "sO", event, given);
            if (result == NULL)
                return -1;
            Py_DECREF(result);
            return 0;
        }
    return 0;
}

/* A copy of a text that stays. */
static int keep(struct heard *heard, PyObject *name)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    char *copy = text == NULL ? NULL : strdup(text);
    if (copy == NULL)
        return -1;
    heard->events[heard->count].name = copy;
    heard->events[heard->count++].length = (size_t)length;
    return 0;
}

static PyObject *listen(PyObject *module, PyObject *args)
{
    PyObject *names, *function;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &names, &function))
        return NULL;
    struct heard *heard = calloc(1, sizeof *heard + (size_t)PyTuple_GET_SIZE(names) * sizeof heard->events[0]);
    if (heard == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
        if (keep(heard, PyTuple_GET_ITEM(names, i)) < 0)
            return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    heard->function = Py_NewRef(function);
    if (PySys_AddAuditHook(hear, heard) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"listen", listen, METH_VARARGS, "Lets a function be called with events of these names."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef events = {PyModuleDef_HEAD_INIT, "_events", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__events(void) { return PyModule_Create(&events); }
