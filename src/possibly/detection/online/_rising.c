/* The least cut that a conjunction of predicates on one process each still allows: the twin of `online_search`
 * for one rising without promises, told of many events at once.
 *
 * A lane has the positions at which a cut may stop (if the conjunction reads its process) and the edges into its
 * events, both from the first on that was not read; what was read is dropped.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    int64_t position, process, needed;
} Arc;

typedef struct {
    int64_t length;
    char is_bound, is_true, waits, is_todo;
    int64_t *allowed;
    Py_ssize_t first_allowed, allowed_length, allowed_room;
    Arc *arcs;
    Py_ssize_t first_arc, arc_length, arc_room, look_at;
} Lane;

typedef struct {
    PyObject_HEAD
    Lane *lanes;
    int64_t *cut;
    Py_ssize_t *todo;
    Py_ssize_t count, todo_length, pending;
} Rising;

#define KEPT_ANYWAY 64

/* Room for one more at the end; what was read at the beginning is given back first. */
static int make_room(void **items, Py_ssize_t *first, Py_ssize_t *length, Py_ssize_t *room, size_t size) {
    if (*length < *room) return 0;
    if (*first > KEPT_ANYWAY && 2 * *first > *length) {
        memmove(*items, (char *)*items + (size_t)*first * size, (size_t)(*length - *first) * size);
        *length -= *first;
        *first = 0;
        return 0;
    }
    Py_ssize_t wanted = *room ? 2 * *room : 16;
    void *grown = realloc(*items, (size_t)wanted * size);
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *items = grown;
    *room = wanted;
    return 0;
}

static int allow(Lane *lane, int64_t position) {
    if (make_room((void **)&lane->allowed, &lane->first_allowed, &lane->allowed_length, &lane->allowed_room,
                  sizeof *lane->allowed) < 0)
        return -1;
    lane->allowed[lane->allowed_length++] = position;
    return 0;
}

/* An edge from what the cut contains demands nothing any more, as the cut never sinks. */
static void prune(const Rising *self, Lane *lane) {
    Py_ssize_t kept = 0;
    for (Py_ssize_t i = lane->first_arc; i < lane->arc_length; i++)
        if (lane->arcs[i].needed > self->cut[lane->arcs[i].process]) lane->arcs[kept++] = lane->arcs[i];
    lane->first_arc = 0;
    lane->arc_length = kept;
}

static int add_arc(const Rising *self, Lane *lane, Arc arc) {
    if (arc.needed <= self->cut[arc.process]) return 0;
    if (lane->arc_length == lane->arc_room && lane->arc_length > lane->look_at) {
        prune(self, lane);
        lane->look_at = 2 * lane->arc_length + KEPT_ANYWAY;
    }
    if (make_room((void **)&lane->arcs, &lane->first_arc, &lane->arc_length, &lane->arc_room, sizeof arc) < 0)
        return -1;
    lane->arcs[lane->arc_length++] = arc;
    return 0;
}

static int widen(Rising *self, Py_ssize_t count) {
    if (count <= self->count) return 0;
    Lane *lanes = realloc(self->lanes, (size_t)count * sizeof *lanes);
    if (lanes != NULL) self->lanes = lanes;
    int64_t *cut = realloc(self->cut, (size_t)count * sizeof *cut);
    if (cut != NULL) self->cut = cut;
    Py_ssize_t *todo = realloc(self->todo, (size_t)count * sizeof *todo);
    if (todo != NULL) self->todo = todo;
    if (lanes == NULL || cut == NULL || todo == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(self->lanes + self->count, 0, (size_t)(count - self->count) * sizeof *lanes);
    memset(self->cut + self->count, 0, (size_t)(count - self->count) * sizeof *cut);
    self->count = count;
    return 0;
}

static void put_todo(Rising *self, Py_ssize_t process) {
    if (self->lanes[process].is_todo) return;
    self->lanes[process].is_todo = 1;
    self->todo[self->todo_length++] = process;
}

static void demand(Rising *self, Py_ssize_t process, int64_t position) {
    if (self->cut[process] >= position) return;
    self->cut[process] = position;
    put_todo(self, process);
}

/* Raise the process to where a cut may stop, or to its end, where it waits. */
static void stop(Rising *self, Py_ssize_t process) {
    Lane *lane = &self->lanes[process];
    int64_t count = self->cut[process];
    while (lane->first_allowed < lane->allowed_length && lane->allowed[lane->first_allowed] < count)
        lane->first_allowed++;
    if (lane->first_allowed < lane->allowed_length) {
        self->cut[process] = lane->allowed[lane->first_allowed];
        return;
    }
    if (lane->length > count) self->cut[process] = lane->length;
    if (!lane->waits) {
        lane->waits = 1;
        self->pending++;
    }
}

static void follow(Rising *self, Py_ssize_t process) {
    Lane *lane = &self->lanes[process];
    while (lane->first_arc < lane->arc_length && lane->arcs[lane->first_arc].position <= self->cut[process]) {
        Arc arc = lane->arcs[lane->first_arc++];
        demand(self, (Py_ssize_t)arc.process, arc.needed);
    }
}

static void settle(Rising *self) {
    while (self->todo_length) {
        Py_ssize_t process = self->todo[--self->todo_length];
        self->lanes[process].is_todo = 0;
        if (self->lanes[process].is_bound) stop(self, process);
        follow(self, process);
    }
}

static int add(Rising *self, Py_ssize_t process, int64_t position) {
    Lane *lane = &self->lanes[process];
    lane->length = position;
    return lane->is_bound && lane->is_true ? allow(lane, position) : 0;
}

/* The event is added: whoever waits for it goes on. */
static void go_on(Rising *self, Py_ssize_t process, int64_t position) {
    Lane *lane = &self->lanes[process];
    if (!lane->waits) return;
    lane->waits = 0;
    self->pending--;
    demand(self, process, position);
    put_todo(self, process);
}

/* run(process, position, start, needs, changes): the first of many events after which the cut is settled, or -1.
 * The changes are (number of the event, process, truth), ascending. */
static PyObject *rising_run(Rising *self, PyObject *args) {
    Py_buffer process, position, start, needs;
    PyObject *changes, *found = NULL;
    if (!PyArg_ParseTuple(args, "y*y*y*y*O!", &process, &position, &start, &needs, &PyList_Type, &changes)) return NULL;
    const int32_t *processes = process.buf, *starts = start.buf;
    const int64_t *positions = position.buf, *pairs = needs.buf;
    Py_ssize_t count = process.len / 4, next = 0, change_count = PyList_GET_SIZE(changes), at = 0, settled = -1;
    Py_ssize_t next_at = -1, changed = 0;
    int truth = 0;
    for (; at < count && settled < 0; at++) {
        Py_ssize_t owner = processes[at];
        if (widen(self, owner + 1) < 0) goto end;
        for (;;) {
            if (next_at < at && next < change_count) {
                if (!PyArg_ParseTuple(PyList_GET_ITEM(changes, next), "nnp", &next_at, &changed, &truth)) goto end;
                next++;
            }
            if (next_at != at) break;
            if (changed < 0 || changed >= self->count) {
                PyErr_SetString(PyExc_ValueError, "no such process");
                goto end;
            }
            self->lanes[changed].is_true = (char)truth;
            next_at = -1;
            if (next == change_count) break;
        }
        if (add(self, owner, positions[at]) < 0) goto end;
        for (int32_t i = starts[at]; i < starts[at + 1]; i++) {
            Arc arc = {positions[at], pairs[2 * i], pairs[2 * i + 1]};
            if (arc.process < 0 || widen(self, (Py_ssize_t)arc.process + 1) < 0 || add_arc(self, &self->lanes[owner], arc) < 0)
                goto end;
        }
        if (self->cut[owner] >= positions[at]) put_todo(self, owner);
        go_on(self, owner, positions[at]);
        if (self->todo_length) settle(self);
        if (!self->pending) settled = at;
    }
    found = PyLong_FromSsize_t(settled);
end:
    PyBuffer_Release(&process);
    PyBuffer_Release(&position);
    PyBuffer_Release(&start);
    PyBuffer_Release(&needs);
    return found;
}

/* step(lines): lines that happen at once, each (process, position, needs, truth or None). */
static PyObject *rising_step(Rising *self, PyObject *lines) {
    if (!PyList_CheckExact(lines)) {
        PyErr_SetString(PyExc_TypeError, "a list of lines is needed");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(lines); i++) {
        Py_ssize_t process;
        long long position;
        PyObject *needs, *truth;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(lines, i), "nLO!O", &process, &position, &PyTuple_Type, &needs, &truth))
            return NULL;
        if (process < 0 || widen(self, process + 1) < 0) return NULL;
        if (truth != Py_None) self->lanes[process].is_true = truth == Py_True;
        if (add(self, process, position) < 0) return NULL;
        for (Py_ssize_t n = 0; n < PyTuple_GET_SIZE(needs); n++) {
            long long other, needed;
            if (!PyArg_ParseTuple(PyTuple_GET_ITEM(needs, n), "LL", &other, &needed)) return NULL;
            Arc arc = {position, other, needed};
            if (other < 0 || widen(self, (Py_ssize_t)other + 1) < 0 || add_arc(self, &self->lanes[process], arc) < 0)
                return NULL;
        }
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(lines); i++) {
        PyObject *line = PyList_GET_ITEM(lines, i);
        Py_ssize_t process = PyLong_AsSsize_t(PyTuple_GET_ITEM(line, 0));
        go_on(self, process, PyLong_AsLongLong(PyTuple_GET_ITEM(line, 1)));
        put_todo(self, process);
    }
    settle(self);
    Py_RETURN_NONE;
}

static PyObject *rising_settled(Rising *self, void *none) { return PyBool_FromLong(!self->pending); }

static PyObject *rising_cut(Rising *self, void *none) {
    PyObject *found = PyTuple_New(self->count);
    for (Py_ssize_t i = 0; found != NULL && i < self->count; i++) {
        PyObject *number = PyLong_FromLongLong(self->cut[i]);
        if (number == NULL) Py_CLEAR(found);
        else PyTuple_SET_ITEM(found, i, number);
    }
    return found;
}

static PyObject *rising_size(Rising *self, void *none) {
    Py_ssize_t found = 0;
    for (Py_ssize_t i = 0; i < self->count; i++)
        found += self->lanes[i].allowed_length - self->lanes[i].first_allowed + self->lanes[i].arc_length -
                 self->lanes[i].first_arc;
    return PyLong_FromSsize_t(found);
}

/* state(): all that is known, as plain values, for `restore`. */
static PyObject *rising_state(Rising *self, PyObject *none) {
    PyObject *lanes = PyList_New(0);
    for (Py_ssize_t i = 0; lanes != NULL && i < self->count; i++) {
        Lane *lane = &self->lanes[i];
        PyObject *found = Py_BuildValue(
            "LLiiiy#y#", (long long)self->cut[i], (long long)lane->length, lane->is_bound, lane->is_true, lane->waits,
            lane->allowed == NULL ? "" : (const char *)(lane->allowed + lane->first_allowed),
            (lane->allowed_length - lane->first_allowed) * (Py_ssize_t)sizeof *lane->allowed,
            lane->arcs == NULL ? "" : (const char *)(lane->arcs + lane->first_arc),
            (lane->arc_length - lane->first_arc) * (Py_ssize_t)sizeof *lane->arcs);
        if (found == NULL || PyList_Append(lanes, found) < 0) Py_CLEAR(lanes);
        Py_XDECREF(found);
    }
    return lanes;
}

static int restore_lane(Rising *self, Py_ssize_t i, PyObject *state) {
    Lane *lane = &self->lanes[i];
    const char *allowed, *arcs;
    Py_ssize_t allowed_size, arc_size;
    long long cut, length;
    int is_bound, is_true, waits;
    if (!PyArg_ParseTuple(state, "LLiiiy#y#", &cut, &length, &is_bound, &is_true, &waits, &allowed, &allowed_size, &arcs,
                          &arc_size))
        return -1;
    self->cut[i] = cut;
    lane->length = length;
    lane->is_bound = (char)is_bound;
    lane->is_true = (char)is_true;
    lane->waits = (char)waits;
    self->pending += waits != 0;
    lane->first_allowed = lane->allowed_length = lane->first_arc = lane->arc_length = 0;
    for (Py_ssize_t at = 0; at + 8 <= allowed_size; at += 8) {
        int64_t position;
        memcpy(&position, allowed + at, sizeof position);
        if (allow(lane, position) < 0) return -1;
    }
    for (Py_ssize_t at = 0; at + (Py_ssize_t)sizeof(Arc) <= arc_size; at += (Py_ssize_t)sizeof(Arc)) {
        Arc arc;
        memcpy(&arc, arcs + at, sizeof arc);
        if (arc.process < 0 || arc.process >= self->count) {
            PyErr_SetString(PyExc_ValueError, "no such process");
            return -1;
        }
        if (add_arc(self, lane, arc) < 0) return -1;
    }
    return 0;
}

static PyObject *rising_restore(Rising *self, PyObject *lanes) {
    if (!PyList_CheckExact(lanes)) {
        PyErr_SetString(PyExc_TypeError, "a list of lanes is needed");
        return NULL;
    }
    self->pending = self->todo_length = 0;
    if (widen(self, PyList_GET_SIZE(lanes)) < 0) return NULL;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(lanes); i++)
        if (restore_lane(self, i, PyList_GET_ITEM(lanes, i)) < 0) return NULL;
    Py_RETURN_NONE;
}

/* Rising(number of processes, {process: truth at first}). */
static PyObject *rising_new(PyTypeObject *type, PyObject *args, PyObject *named_args) {
    Py_ssize_t count, at = 0;
    PyObject *bound, *process, *truth;
    if (!PyArg_ParseTuple(args, "nO!", &count, &PyDict_Type, &bound)) return NULL;
    Rising *self = (Rising *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    if (widen(self, count > 0 ? count : 1) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    while (PyDict_Next(bound, &at, &process, &truth)) {
        Py_ssize_t number = PyLong_AsSsize_t(process);
        if (number < 0 || number >= self->count) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "no such process");
            Py_DECREF(self);
            return NULL;
        }
        Lane *lane = &self->lanes[number];
        lane->is_bound = 1;
        lane->is_true = truth == Py_True;
        if (lane->is_true && allow(lane, 0) < 0) {
            Py_DECREF(self);
            return NULL;
        }
        put_todo(self, number);
    }
    settle(self);
    return (PyObject *)self;
}

static void rising_dealloc(Rising *self) {
    for (Py_ssize_t i = 0; i < self->count; i++) {
        free(self->lanes[i].allowed);
        free(self->lanes[i].arcs);
    }
    free(self->lanes);
    free(self->cut);
    free(self->todo);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMethodDef rising_methods[] = {
    {"run", (PyCFunction)rising_run, METH_VARARGS, "Many events, each a step."},
    {"step", (PyCFunction)rising_step, METH_O, "Events that happen at once."},
    {"state", (PyCFunction)rising_state, METH_NOARGS, "All that is known."},
    {"restore", (PyCFunction)rising_restore, METH_O, "Go on from such a state."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef rising_properties[] = {
    {"is_settled", (getter)rising_settled, NULL, "Whether nothing demanded is missing.", NULL},
    {"cut", (getter)rising_cut, NULL, "The least cut so far.", NULL},
    {"size", (getter)rising_size, NULL, "How many entries are kept.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot rising_slots[] = {
    {Py_tp_new, rising_new},
    {Py_tp_dealloc, rising_dealloc},
    {Py_tp_methods, rising_methods},
    {Py_tp_getset, rising_properties},
    {0, NULL},
};

static PyType_Spec rising_spec = {"possibly.detection.online._rising.Rising", sizeof(Rising), 0, Py_TPFLAGS_DEFAULT,
                                  rising_slots};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_rising", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__rising(void) {
    PyObject *found = PyModule_Create(&module);
    if (found == NULL) return NULL;
    PyObject *type = PyType_FromSpec(&rising_spec);
    if (type == NULL || PyModule_AddObject(found, "Rising", type) < 0) {
        Py_XDECREF(type);
        Py_DECREF(found);
        return NULL;
    }
    return found;
}
