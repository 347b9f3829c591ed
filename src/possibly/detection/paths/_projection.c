/* The predecessors of the events of an expression among each other: the compiled twin of
 * `projection.plain_predecessors`.
 *
 * Here belongs one loop over all events of a run without joint events. What a process knows is, for each
 * process, its last projected event and whether that one is among the latest (no other known one comes
 * after it): both in one number, 2 * event + latest, or NOTHING. Of two pasts the greater number counts; of
 * the same event, it is among the latest if it is so in both. Only an event that another process waits for
 * leaves a copy of its past, and the last one who waits takes it away.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING ((int64_t)-1)
#define LOOK_EVERY 4095

typedef struct {
    int32_t *items;
    Py_ssize_t length, room;
} Numbers;

static int push(Numbers *numbers, int32_t item) {
    if (numbers->length == numbers->room) {
        Py_ssize_t room = numbers->room ? 2 * numbers->room : 1024;
        int32_t *items = realloc(numbers->items, (size_t)room * sizeof *items);
        if (!items) return -1;
        numbers->items = items;
        numbers->room = room;
    }
    numbers->items[numbers->length++] = item;
    return 0;
}

static void join(int64_t *own, const int64_t *other, Py_ssize_t processes) {
    for (Py_ssize_t i = 0; i < processes; i++) {
        int64_t a = own[i], b = other[i];
        if (a >> 1 == b >> 1) own[i] = a & b;
        else if (b > a) own[i] = b;
    }
}

static int ascending(const void *one, const void *two) {
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)two;
    return (a > b) - (a < b);
}

/* The latest events of a past, ascending. */
static int latest(const int64_t *past, Py_ssize_t processes, Numbers *found) {
    Py_ssize_t first = found->length;
    for (Py_ssize_t i = 0; i < processes; i++)
        if (past[i] != NOTHING && (past[i] & 1) && push(found, (int32_t)(past[i] >> 1)) < 0) return -1;
    if (found->length - first > 1)
        qsort(found->items + first, (size_t)(found->length - first), sizeof(int32_t), ascending);
    return 0;
}

typedef struct {
    Py_ssize_t events, processes;
    const int32_t *process, *start, *edges;
    const char *played;
} Run;

static int follow(const Run *run, Numbers *offsets, Numbers *found) {
    Py_ssize_t n = run->processes;
    int64_t *now = malloc((size_t)(n * n + 1) * sizeof *now);
    int64_t **sent = calloc((size_t)run->events + 1, sizeof *sent);
    int32_t *awaited = calloc((size_t)run->events + 1, sizeof *awaited);
    int failed = !now || !sent || !awaited;
    if (!failed) {
        for (Py_ssize_t i = 0; i < n * n; i++) now[i] = NOTHING;
        for (int32_t i = 0; i < run->start[run->events]; i++) awaited[run->edges[i]]++;
    }
    for (Py_ssize_t event = 0; !failed && event < run->events; event++) {
        int64_t *own = now + run->process[event] * n;
        for (int32_t i = run->start[event]; i < run->start[event + 1]; i++) {
            int32_t other = run->edges[i];
            join(own, sent[other], n);
            if (!--awaited[other]) {
                free(sent[other]);
                sent[other] = NULL;
            }
        }
        if (run->played[event]) {
            failed = latest(own, n, found) < 0 || push(offsets, (int32_t)found->length) < 0;
            for (Py_ssize_t i = 0; i < n; i++)
                if (own[i] != NOTHING) own[i] &= ~(int64_t)1;
            own[run->process[event]] = 2 * (int64_t)event + 1;
        }
        if (awaited[event] && !failed) {
            sent[event] = malloc((size_t)n * sizeof(int64_t));
            if (sent[event]) memcpy(sent[event], own, (size_t)n * sizeof(int64_t));
            else failed = 1;
        }
        if (!(event & LOOK_EVERY) && PyErr_CheckSignals() < 0) failed = 1;
    }
    if (sent)
        for (Py_ssize_t event = 0; event < run->events; event++) free(sent[event]);
    free(now);
    free(sent);
    free(awaited);
    if (failed && !PyErr_Occurred()) PyErr_NoMemory();
    return failed ? -1 : 0;
}

static PyObject *as_bytes(const Numbers *numbers) {
    return PyBytes_FromStringAndSize((const char *)numbers->items,
                                     numbers->length * (Py_ssize_t)sizeof(int32_t));
}

/* predecessors(process, start, edges, played, processes) -> ends of the ranges, predecessors. */
static PyObject *predecessors(PyObject *self, PyObject *arguments) {
    Py_buffer process, start, edges, played;
    Py_ssize_t processes;
    if (!PyArg_ParseTuple(arguments, "y*y*y*y*n", &process, &start, &edges, &played, &processes)) return NULL;
    Run run = {played.len, processes, process.buf, start.buf, edges.buf, played.buf};
    Numbers offsets = {0}, found = {0};
    PyObject *result = NULL;
    if (process.len < run.events * 4 || start.len < (run.events + 1) * 4)
        PyErr_SetString(PyExc_ValueError, "the columns have different lengths");
    else if (!follow(&run, &offsets, &found)) {
        PyObject *ends = as_bytes(&offsets), *all = as_bytes(&found);
        if (ends && all) result = PyTuple_Pack(2, ends, all);
        Py_XDECREF(ends);
        Py_XDECREF(all);
    }
    free(offsets.items);
    free(found.items);
    PyBuffer_Release(&process);
    PyBuffer_Release(&start);
    PyBuffer_Release(&edges);
    PyBuffer_Release(&played);
    return result;
}

static PyMethodDef methods[] = {
    {"predecessors", predecessors, METH_VARARGS, "The latest projected events before each projected one."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_projection", NULL, -1, methods, NULL, NULL,
                                    NULL, NULL};

PyMODINIT_FUNC PyInit__projection(void) { return PyModule_Create(&module); }
