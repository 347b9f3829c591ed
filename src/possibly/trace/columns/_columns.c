/* Kernels that arrange a trace by process: the compiled twin of the functions in `trace/index.py`.
 *
 * Here belong single passes over columns and nothing else; what they yield is described in `index.py`, and
 * every function is tested against its Python twin. A column is any buffer of signed integers of 1, 2, 4
 * or 8 bytes. Every number is checked before it is used as an index, since a file may come from a stranger.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE (-1)

typedef struct {
    Py_buffer buffer;
    Py_ssize_t length;
    int width;
    int is_open;
} Column;

static int column_open(PyObject *object, Column *column) {
    memset(column, 0, sizeof *column);
    if (object == Py_None) return 0;
    if (PyTuple_Check(object)) return 0; /* the empty column of a trace */
    if (PyObject_GetBuffer(object, &column->buffer, PyBUF_ND | PyBUF_FORMAT) < 0) return -1;
    column->is_open = 1;
    column->width = (int)column->buffer.itemsize;
    if (column->width != 1 && column->width != 2 && column->width != 4 && column->width != 8) {
        PyErr_SetString(PyExc_ValueError, "a column has items of an unknown size");
        return -1;
    }
    column->length = column->buffer.len / column->width;
    return 0;
}

static void column_close(Column *column) {
    if (column->is_open) PyBuffer_Release(&column->buffer);
    column->is_open = 0;
}

static inline int64_t at(const Column *column, Py_ssize_t index) {
    switch (column->width) {
    case 1: return ((const int8_t *)column->buffer.buf)[index];
    case 2: return ((const int16_t *)column->buffer.buf)[index];
    case 4: return ((const int32_t *)column->buffer.buf)[index];
    default: return ((const int64_t *)column->buffer.buf)[index];
    }
}

static PyObject *out_of_range(void) {
    PyErr_SetString(PyExc_IndexError, "an entry is out of range");
    return NULL;
}

/* ---- lengths and positions ------------------------------------------------------------------------ */

/* lengths(process, processes): how many events each process has, as 32-bit integers. */
static PyObject *lengths(PyObject *self, PyObject *args) {
    PyObject *object, *found = NULL;
    Py_ssize_t processes;
    Column process;
    if (!PyArg_ParseTuple(args, "On", &object, &processes)) return NULL;
    if (column_open(object, &process) < 0) goto done;
    found = PyBytes_FromStringAndSize(NULL, processes * 4);
    if (found == NULL) goto done;
    int32_t *count = (int32_t *)PyBytes_AS_STRING(found);
    memset(count, 0, (size_t)processes * 4);
    for (Py_ssize_t event = 0; event < process.length; event++) {
        int64_t p = at(&process, event);
        if (p < 0 || p >= processes) {
            Py_CLEAR(found);
            out_of_range();
            goto done;
        }
        count[p]++;
    }
done:
    column_close(&process);
    return found;
}

/* positions(process, processes): each event is the how-manieth of its process, from 1. */
static PyObject *positions(PyObject *self, PyObject *args) {
    PyObject *object, *found = NULL;
    Py_ssize_t processes;
    Column process;
    int32_t *count = NULL;
    if (!PyArg_ParseTuple(args, "On", &object, &processes)) return NULL;
    if (column_open(object, &process) < 0) goto done;
    found = PyBytes_FromStringAndSize(NULL, process.length * 4);
    count = calloc((size_t)processes + 1, 4);
    if (found == NULL || count == NULL) {
        Py_CLEAR(found);
        PyErr_NoMemory();
        goto done;
    }
    int32_t *position = (int32_t *)PyBytes_AS_STRING(found);
    for (Py_ssize_t event = 0; event < process.length; event++) {
        int64_t p = at(&process, event);
        if (p < 0 || p >= processes) {
            Py_CLEAR(found);
            out_of_range();
            goto done;
        }
        position[event] = ++count[p];
    }
done:
    free(count);
    column_close(&process);
    return found;
}

/* events(process, processes): the events of each process, as a list of 32-bit integers. */
static PyObject *events(PyObject *self, PyObject *args) {
    PyObject *object, *found = NULL;
    Py_ssize_t processes;
    Column process;
    int32_t *count = NULL, **next = NULL;
    if (!PyArg_ParseTuple(args, "On", &object, &processes)) return NULL;
    if (column_open(object, &process) < 0) goto done;
    count = calloc((size_t)processes + 1, 4);
    next = calloc((size_t)processes + 1, sizeof *next);
    found = PyList_New(processes);
    if (count == NULL || next == NULL || found == NULL) goto failed;
    for (Py_ssize_t event = 0; event < process.length; event++) {
        int64_t p = at(&process, event);
        if (p < 0 || p >= processes) {
            out_of_range();
            goto failed;
        }
        count[p]++;
    }
    for (Py_ssize_t p = 0; p < processes; p++) {
        PyObject *chain = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count[p] * 4);
        if (chain == NULL) goto failed;
        next[p] = (int32_t *)PyBytes_AS_STRING(chain);
        PyList_SET_ITEM(found, p, chain);
    }
    for (Py_ssize_t event = 0; event < process.length; event++) *next[at(&process, event)]++ = (int32_t)event;
    goto done;
failed:
    Py_CLEAR(found);
    if (!PyErr_Occurred()) PyErr_NoMemory();
done:
    free(count);
    free(next);
    column_close(&process);
    return found;
}

/* ---- links --------------------------------------------------------------------------------------------- */

typedef struct {
    int32_t position;
    uint64_t end;
} Link;

static int by_position(const void *first, const void *second) {
    const Link *one = first, *two = second;
    if (one->position != two->position) return one->position < two->position ? -1 : 1;
    return one->end < two->end ? -1 : one->end > two->end;
}

/* links(process, position, processes, near, far, shift, width): for each pair of events (near, far) of
 * different processes, by the process of the near one and its position: the far one as
 * process << shift | position in `width` bytes. Pairs with NONE are left out.
 * Returns (start, position, end) as bytes. */
static PyObject *links(PyObject *self, PyObject *args) {
    PyObject *objects[4], *start_bytes = NULL, *position_bytes = NULL, *end_bytes = NULL, *found = NULL;
    Py_ssize_t processes;
    int shift, width;
    Column columns[4];
    Link *link = NULL;
    if (!PyArg_ParseTuple(args, "OOnOOii", &objects[0], &objects[1], &processes, &objects[2], &objects[3],
                          &shift, &width))
        return NULL;
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < 4; i++)
        if (column_open(objects[i], &columns[i]) < 0) goto done;
    const Column *process = &columns[0], *position = &columns[1], *near = &columns[2], *far = &columns[3];
    Py_ssize_t total = near->length, kept = 0, count = process->length;
    start_bytes = PyBytes_FromStringAndSize(NULL, (processes + 1) * 4);
    if (start_bytes == NULL) goto done;
    int32_t *start = (int32_t *)PyBytes_AS_STRING(start_bytes);
    memset(start, 0, ((size_t)processes + 1) * 4);
    for (Py_ssize_t i = 0; i < total; i++) {
        int64_t a = at(near, i), b = at(far, i);
        if (a == NONE || b == NONE) continue;
        if (a < 0 || a >= count || b < 0 || b >= count || at(process, a) >= processes || at(process, a) < 0) {
            out_of_range();
            goto done;
        }
        if (at(process, a) == at(process, b)) continue;
        start[at(process, a) + 1]++;
        kept++;
    }
    for (Py_ssize_t p = 0; p < processes; p++) start[p + 1] += start[p];
    link = malloc(((size_t)kept + 1) * sizeof *link);
    position_bytes = PyBytes_FromStringAndSize(NULL, kept * 4);
    end_bytes = PyBytes_FromStringAndSize(NULL, kept * width);
    if (link == NULL || position_bytes == NULL || end_bytes == NULL) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = total; i-- > 0;) { /* backwards, so that `start` ends up as it was */
        int64_t a = at(near, i), b = at(far, i);
        if (a == NONE || b == NONE || at(process, a) == at(process, b)) continue;
        Link *here = &link[--start[at(process, a) + 1]];
        here->position = (int32_t)at(position, a);
        here->end = (uint64_t)at(process, b) << shift | (uint64_t)at(position, b);
    }
    for (Py_ssize_t p = 0; p < processes; p++) start[p] = start[p + 1];
    start[processes] = (int32_t)kept;
    int32_t *places = (int32_t *)PyBytes_AS_STRING(position_bytes);
    char *ends = PyBytes_AS_STRING(end_bytes);
    for (Py_ssize_t p = 0; p < processes; p++) {
        Py_ssize_t first = start[p], last = start[p + 1];
        int is_sorted = 1;
        for (Py_ssize_t i = first + 1; i < last && is_sorted; i++)
            is_sorted = by_position(&link[i - 1], &link[i]) <= 0;
        if (!is_sorted) qsort(link + first, (size_t)(last - first), sizeof *link, by_position);
        for (Py_ssize_t i = first; i < last; i++) {
            places[i] = link[i].position;
            if (width == 4) ((uint32_t *)ends)[i] = (uint32_t)link[i].end;
            else ((uint64_t *)ends)[i] = link[i].end;
        }
    }
    found = PyTuple_Pack(3, start_bytes, position_bytes, end_bytes);
done:
    free(link);
    Py_XDECREF(start_bytes);
    Py_XDECREF(position_bytes);
    Py_XDECREF(end_bytes);
    for (int i = 0; i < 4; i++) column_close(&columns[i]);
    return found;
}

/* ---- courses ------------------------------------------------------------------------------------------ */

typedef struct {
    int32_t process, variable;
    Py_ssize_t count;  /* how often it is set */
    int32_t *position; /* NULL: one number an event */
    char *number;
    Py_ssize_t filled;
    PyObject *positions, *numbers;
} Course;

typedef struct {
    Course *course;
    Py_ssize_t used, room;
    Py_ssize_t *slot; /* course + 1, 0 if free */
    size_t mask;
} Courses;

static size_t hashed(int64_t process, int64_t variable) {
    uint64_t key = (uint64_t)process << 32 ^ (uint64_t)variable;
    key *= 0x9E3779B97F4A7C15u;
    return (size_t)(key ^ key >> 29);
}

static int courses_grow(Courses *courses) {
    size_t size = courses->slot == NULL ? 64 : (courses->mask + 1) * 2;
    Py_ssize_t *slot = calloc(size, sizeof *slot);
    if (slot == NULL) return -1;
    for (Py_ssize_t i = 0; i < courses->used; i++) {
        size_t h = hashed(courses->course[i].process, courses->course[i].variable) & (size - 1);
        while (slot[h]) h = (h + 1) & (size - 1);
        slot[h] = i + 1;
    }
    free(courses->slot);
    courses->slot = slot;
    courses->mask = size - 1;
    return 0;
}

static Course *course_of(Courses *courses, int64_t process, int64_t variable, int create) {
    size_t h = hashed(process, variable) & courses->mask;
    for (; courses->slot[h]; h = (h + 1) & courses->mask) {
        Course *found = &courses->course[courses->slot[h] - 1];
        if (found->process == process && found->variable == variable) return found;
    }
    if (!create) return NULL;
    if (courses->used == courses->room) {
        Py_ssize_t room = courses->room ? courses->room * 2 : 64;
        Course *grown = realloc(courses->course, (size_t)room * sizeof *grown);
        if (grown == NULL) return NULL;
        courses->course = grown;
        courses->room = room;
    }
    Course *made = &courses->course[courses->used++];
    memset(made, 0, sizeof *made);
    made->process = (int32_t)process;
    made->variable = (int32_t)variable;
    courses->slot[h] = courses->used;
    if ((size_t)courses->used * 2 > courses->mask && courses_grow(courses) < 0) return NULL;
    return &courses->course[courses->used - 1];
}

static inline void put(Course *course, int width, Py_ssize_t index, int64_t number) {
    if (width == 1) ((int8_t *)course->number)[index] = (int8_t)number;
    else if (width == 2) ((int16_t *)course->number)[index] = (int16_t)number;
    else ((int32_t *)course->number)[index] = (int32_t)number;
}

static void fill(Course *course, int width, Py_ssize_t until) {
    int64_t last = NONE;
    if (course->filled) {
        Py_ssize_t i = course->filled - 1;
        last = width == 1   ? ((int8_t *)course->number)[i]
               : width == 2 ? ((int16_t *)course->number)[i]
                            : ((int32_t *)course->number)[i];
    }
    while (course->filled < until) put(course, width, course->filled++, last);
}

/* courses(process, processes, start, variable, value, width): the values of each local variable along its
 * process, as a list of (process, variable, positions or None, numbers); see `Course` in `index.py`. */
static PyObject *courses(PyObject *self, PyObject *args) {
    PyObject *objects[4], *found = NULL;
    Py_ssize_t processes;
    int width;
    Column columns[4];
    Courses all = {0};
    int32_t *position = NULL;
    if (!PyArg_ParseTuple(args, "OnOOOi", &objects[0], &processes, &objects[1], &objects[2], &objects[3], &width))
        return NULL;
    memset(columns, 0, sizeof columns);
    for (int i = 0; i < 4; i++)
        if (column_open(objects[i], &columns[i]) < 0) goto done;
    const Column *process = &columns[0], *start = &columns[1], *variable = &columns[2], *value = &columns[3];
    position = calloc((size_t)processes + 1, 4);
    if (position == NULL || courses_grow(&all) < 0) goto memory;
    if (start->length != process->length + 1 || variable->length != value->length) {
        out_of_range();
        goto done;
    }
    for (Py_ssize_t event = 0; event < process->length; event++) {
        int64_t p = at(process, event), first = at(start, event), last = at(start, event + 1);
        if (p < 0 || p >= processes || first < 0 || last > variable->length) {
            out_of_range();
            goto done;
        }
        position[p]++;
        for (int64_t i = first; i < last; i++) {
            Course *course = course_of(&all, p, at(variable, i), 1);
            if (course == NULL) goto memory;
            course->count++;
        }
    }
    for (Py_ssize_t i = 0; i < all.used; i++) {
        Course *course = &all.course[i];
        Py_ssize_t length = position[course->process];
        int is_dense = width * length <= (4 + width) * course->count;
        course->numbers = PyBytes_FromStringAndSize(NULL, width * (is_dense ? length : course->count));
        course->positions = is_dense ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(NULL, 4 * course->count);
        if (course->numbers == NULL || course->positions == NULL) goto memory;
        course->number = PyBytes_AS_STRING(course->numbers);
        if (!is_dense) course->position = (int32_t *)PyBytes_AS_STRING(course->positions);
    }
    memset(position, 0, ((size_t)processes + 1) * 4);
    for (Py_ssize_t event = 0; event < process->length; event++) {
        int64_t p = at(process, event), last = at(start, event + 1);
        position[p]++;
        for (int64_t i = at(start, event); i < last; i++) {
            Course *course = course_of(&all, p, at(variable, i), 0);
            if (course->position == NULL) {
                fill(course, width, position[p] - 1);
                if (course->filled == position[p]) course->filled--; /* set twice by one event */
                put(course, width, course->filled++, at(value, i));
            } else {
                course->position[course->filled] = position[p];
                put(course, width, course->filled++, at(value, i));
            }
        }
    }
    found = PyList_New(all.used);
    if (found == NULL) goto done;
    for (Py_ssize_t i = 0; i < all.used; i++) {
        Course *course = &all.course[i];
        if (course->position == NULL) fill(course, width, position[course->process]);
        PyObject *item = Py_BuildValue("iiOO", course->process, course->variable, course->positions, course->numbers);
        if (item == NULL) {
            Py_CLEAR(found);
            goto done;
        }
        PyList_SET_ITEM(found, i, item);
    }
    goto done;
memory:
    if (!PyErr_Occurred()) PyErr_NoMemory();
done:
    for (Py_ssize_t i = 0; i < all.used; i++) {
        Py_XDECREF(all.course[i].positions);
        Py_XDECREF(all.course[i].numbers);
    }
    free(all.course);
    free(all.slot);
    free(position);
    for (int i = 0; i < 4; i++) column_close(&columns[i]);
    return found;
}

static PyMethodDef methods[] = {
    {"lengths", lengths, METH_VARARGS, "How many events each process has."},
    {"positions", positions, METH_VARARGS, "The position of each event in its process."},
    {"events", events, METH_VARARGS, "The events of each process."},
    {"links", links, METH_VARARGS, "Pairs of events by the process of one of them."},
    {"courses", courses, METH_VARARGS, "The values of each local variable along its process."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_columns", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__columns(void) { return PyModule_Create(&module); }
