/* When built-in containers, iterators, exceptions and weak references end: they cannot be referred to weakly, so the function
 * that frees them tells.
 *
 * `track(object)` remembers an object of one of the types below, without a reference to it; `tell(function)`
 * says who is called, with the object's address, when a remembered object is about to be freed. Where this
 * file is not built, names keep such objects alive (`things.Things`).
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *listener = NULL;

/* A set of addresses, open addressing; 0 is free, 1 was used. */
static uintptr_t *slots = NULL;
static size_t capacity = 0, filled = 0, live = 0;

static size_t place(uintptr_t key) { return (size_t)((key >> 4) * 0x9E3779B97F4A7C15ull) & (capacity - 1); }

static int grow(void)
{
    size_t before = capacity, wanted = live * 4 < 1024 ? 1024 : 1;
    while (wanted < live * 4)
        wanted *= 2;
    uintptr_t *old = slots, *fresh = calloc(wanted, sizeof *fresh);
    if (fresh == NULL)
        return -1;
    slots = fresh;
    capacity = wanted;
    filled = live;
    for (size_t i = 0; i < before; i++)
        if (old[i] > 1) {
            size_t at = place(old[i]);
            while (slots[at])
                at = (at + 1) & (capacity - 1);
            slots[at] = old[i];
        }
    free(old);
    return 0;
}

static int add(uintptr_t key)
{
    if (filled * 2 >= capacity && grow() < 0)
        return -1;
    size_t at = place(key), hole = capacity;
    while (slots[at]) {
        if (slots[at] == key)
            return 0;
        if (slots[at] == 1 && hole == capacity)
            hole = at;
        at = (at + 1) & (capacity - 1);
    }
    if (hole == capacity)
        filled++;
    else
        at = hole;
    slots[at] = key;
    live++;
    return 0;
}

static int taken(uintptr_t key)
{
    if (!live)
        return 0;
    for (size_t at = place(key); slots[at]; at = (at + 1) & (capacity - 1))
        if (slots[at] == key) {
            slots[at] = 1;
            live--;
            return 1;
        }
    return 0;
}

static void told(PyObject *object)
{
    if (listener == NULL || !taken((uintptr_t)object))
        return;
    PyObject *kind, *value, *trace, *result = NULL, *number;
    PyErr_Fetch(&kind, &value, &trace);
    number = PyLong_FromVoidPtr(object);
    if (number != NULL)
        result = PyObject_CallOneArg(listener, number);
    if (result == NULL)
        PyErr_Clear();
    Py_XDECREF(result);
    Py_XDECREF(number);
    PyErr_Restore(kind, value, trace);
}

#define COLLECTED(name)                                                                                        \
    static destructor plain_##name = NULL;                                                                     \
    static void free_##name(PyObject *object)                                                                  \
    {                                                                                                          \
        PyObject_GC_UnTrack(object);                                                                           \
        Py_TRASHCAN_BEGIN(object, free_##name)                                                                 \
        told(object);                                                                                          \
        plain_##name(object);                                                                                  \
        Py_TRASHCAN_END                                                                                        \
    }
#define PLAIN(name)                                                                                            \
    static destructor plain_##name = NULL;                                                                     \
    static void free_##name(PyObject *object)                                                                  \
    {                                                                                                          \
        told(object);                                                                                          \
        plain_##name(object);                                                                                  \
    }

COLLECTED(list)
COLLECTED(dict)
COLLECTED(set)
PLAIN(bytearray)

/* Built-in exceptions and iterators: many types, whose objects are freed by the function that was theirs. */
#define MOST_TYPES 128
static struct {
    PyTypeObject *type;
    destructor plain;
} others[MOST_TYPES];
static size_t other_count = 0;

static destructor plain_of(PyTypeObject *type)
{
    for (; type != NULL; type = type->tp_base)
        for (size_t i = 0; i < other_count; i++)
            if (others[i].type == type)
                return others[i].plain;
    return NULL;
}

static void free_other(PyObject *object)
{
    destructor plain = plain_of(Py_TYPE(object));
    int is_collected = PyObject_IS_GC(object) && PyObject_GC_IsTracked(object);
    if (is_collected) /* the collector may run meanwhile and must not meet what is about to end */
        PyObject_GC_UnTrack(object);
    told(object);
    if (is_collected)
        PyObject_GC_Track(object);
    plain(object);
}

static int is_other(PyTypeObject *type)
{
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE || type->tp_weaklistoffset)
        return 0;
    return type->tp_iternext != NULL || PyType_FastSubclass(type, Py_TPFLAGS_BASE_EXC_SUBCLASS);
}

static int hook_other(PyTypeObject *type)
{
    for (size_t i = 0; i < other_count; i++)
        if (others[i].type == type)
            return 1;
    if (other_count == MOST_TYPES)
        return 0;
    others[other_count].type = type;
    others[other_count++].plain = type->tp_dealloc;
    type->tp_dealloc = free_other;
    return 1;
}

static int is_hooked = 0;

static void hook(PyTypeObject *type, destructor *plain, destructor ours)
{
    *plain = type->tp_dealloc;
    type->tp_dealloc = ours;
}

static PyObject *track(PyObject *self, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (PyWeakref_CheckRef(object)) { /* classes of these are freed by what frees the plain ones */
        if (!hook_other(&_PyWeakref_RefType))
            Py_RETURN_FALSE;
    }
    else if (PyWeakref_CheckProxy(object)) {
        if (!hook_other(type))
            Py_RETURN_FALSE;
    }
    else     if (type != &PyList_Type && type != &PyDict_Type && type != &PySet_Type && type != &PyByteArray_Type) {
        if (!is_other(type) || !hook_other(type))
            Py_RETURN_FALSE;
    }
    else if (!is_hooked) {
        is_hooked = 1;
        hook(&PyList_Type, &plain_list, free_list);
        hook(&PyDict_Type, &plain_dict, free_dict);
        hook(&PySet_Type, &plain_set, free_set);
        hook(&PyByteArray_Type, &plain_bytearray, free_bytearray);
    }
    if (add((uintptr_t)object) < 0)
        return PyErr_NoMemory();
    Py_RETURN_TRUE;
}

static PyObject *tell(PyObject *self, PyObject *function)
{
    PyObject *before = listener;
    listener = function == Py_None ? NULL : Py_NewRef(function);
    Py_XDECREF(before);
    if (slots != NULL)
        memset(slots, 0, capacity * sizeof *slots);
    filled = live = 0;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"track", track, METH_O, "Remembers an object of a built-in type; False if it cannot."},
    {"tell", tell, METH_O, "Who is called when a remembered object ends; forgets all others."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_lifetimes", NULL, -1, methods};

PyMODINIT_FUNC PyInit__lifetimes(void) { return PyModule_Create(&module); }
