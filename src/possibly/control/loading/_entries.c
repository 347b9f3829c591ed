/* Who enters which code: told at the beginning of every frame of Python.
 *
 * `begin(function)` lets the function be called with each code object that begins or goes on, before it does.
 * It answers with the code's kind (`entries.OTHERS` and those after it): the first three are never told of
 * again, the others not where code of ours calls them, through frames of the same kind or at once. `end()` ends
 * it. Without this file `sys.setprofile` does the same, more slowly (`entries`).
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE 1
#include "internal/pycore_frame.h"
#define get_mark _PyCode_GetExtra
#define set_mark _PyCode_SetExtra
#define new_mark _PyEval_RequestCodeExtraIndex
#else
#define get_mark PyUnstable_Code_GetExtra
#define set_mark PyUnstable_Code_SetExtra
#define new_mark PyUnstable_Eval_RequestCodeExtraIndex
#endif

static PyObject *listener = NULL;
static Py_ssize_t mark = -1; /* where code objects keep what we know of them */
static int telling = 0;
static _PyFrameEvalFunction earlier = NULL;
enum { OTHERS, OURS, BOOKKEEPERS, LENT, MANY = 4096 };
static char marks[MANY]; /* the address of one is the mark of code of that kind */

static PyObject *code_of(struct _PyInterpreterFrame *frame)
{
#if PY_VERSION_HEX < 0x030C0000
    return Py_NewRef((PyObject *)frame->f_code);
#else
    return PyUnstable_InterpreterFrame_GetCode(frame);
#endif
}

static void tell(PyObject *code)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    telling = 1;
    PyObject *answer = PyObject_CallOneArg(listener, code);
    telling = 0;
    if (answer == NULL)
        PyErr_WriteUnraisable(listener);
    else {
        long kind = PyLong_AsLong(answer);
        if (kind >= 0 && kind < MANY)
            set_mark(code, mark, marks + kind);
    }
    Py_XDECREF(answer);
    PyErr_Restore(type, value, trace);
}

/* The kind of a code object; -1 where it is not known. */
static long kind_of(PyObject *code)
{
    void *found = NULL;
    if (get_mark(code, mark, &found) != 0 || found == NULL)
        return -1;
    return (long)((char *)found - marks);
}

/* Whether it is ours that calls code of this kind. */
static int is_ours(PyThreadState *state, long kind)
{
#if PY_VERSION_HEX < 0x030C0000
    _PyInterpreterFrame *frame = state->cframe->current_frame;
    long found = kind;
    while (frame != NULL && (found = kind_of((PyObject *)frame->f_code)) == kind)
        frame = frame->previous;
    return frame != NULL && (found == OURS || (found == BOOKKEEPERS && kind == LENT));
#else
    return 0;
#endif
}

static PyObject *entering(PyThreadState *state, struct _PyInterpreterFrame *frame, int thrown)
{
    if (listener != NULL && !telling) {
        PyObject *code = code_of(frame);
        if (code != NULL && PyCode_Check(code)) {
            long kind = kind_of(code);
            if (kind < 0 || (kind >= LENT && !is_ours(state, kind)))
                tell(code);
        }
        Py_XDECREF(code);
    }
    return earlier(state, frame, thrown);
}

static PyObject *begin(PyObject *self, PyObject *function)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    if (mark < 0)
        mark = new_mark(NULL);
    if (mark < 0) {
        PyErr_SetString(PyExc_RuntimeError, "code objects have no room for another mark");
        return NULL;
    }
    if (listener == NULL) {
        earlier = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        _PyInterpreterState_SetEvalFrameFunc(interpreter, entering);
    }
    Py_XSETREF(listener, Py_NewRef(function));
    Py_RETURN_NONE;
}

static PyObject *end(PyObject *self, PyObject *nothing)
{
    if (listener != NULL) {
        PyInterpreterState *interpreter = PyInterpreterState_Get();
        if (_PyInterpreterState_GetEvalFrameFunc(interpreter) == entering)
            _PyInterpreterState_SetEvalFrameFunc(interpreter, earlier);
        Py_CLEAR(listener);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"begin", begin, METH_O, "Tells the function of each code object that begins."},
    {"end", end, METH_NOARGS, "Tells nobody any more."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_entries", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__entries(void) { return PyModule_Create(&definition); }
