/* The direct order between processes: the compiled twin of `order/edges.py`.
 *
 * One pass over the events in the order of the lines. What an event comes directly after is gathered, sorted and
 * told once, so that the edges come out ascending without being sorted as a whole. Of each variable the last
 * write and the reads since are kept, each reader once, in one table by variable and process. Columns are
 * buffers of integers of 1, 2 or 4 bytes, and everything in them is checked before it is used as an index.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE (-1)

typedef struct {
    Py_buffer buffer;
    int is_there;
    Py_ssize_t length;
} Column;

typedef struct {
    int32_t *items;
    Py_ssize_t length, room;
} Numbers;

typedef struct {
    int32_t variable, process;
    int32_t event, next; /* its last read; the next reader of the variable */
    int32_t round;       /* it counts if this is that of the variable */
} Reader;

enum { PROCESS, SENDS, RECEIVES, AFTER_START, AFTER, READ_START, READ, WRITE_START, WRITE, COLUMNS };

typedef struct {
    Column column[COLUMNS];
    Py_buffer more; /* other edges: later << 32 | earlier, ascending */
    int64_t events, variables;
    int32_t *sent, *next;  /* by receive its last send, by send the one before */
    int32_t *last_write;   /* by variable */
    int32_t *first, *turn; /* by variable its last reader since, and how often it was written */
    Reader *readers;
    Py_ssize_t count, room;
    int32_t *table; /* places in `readers`, found by hashing */
    Py_ssize_t slots;
    Numbers near, later, earlier;
} Work;

static int64_t at(const Column *column, Py_ssize_t index) {
    switch (column->buffer.itemsize) {
    case 1: return ((const int8_t *)column->buffer.buf)[index];
    case 2: return ((const int16_t *)column->buffer.buf)[index];
    default: return ((const int32_t *)column->buffer.buf)[index];
    }
}

static int wrong(void) {
    PyErr_SetString(PyExc_IndexError, "an event or a variable is out of range");
    return -1;
}

static int no_room(void) {
    PyErr_NoMemory();
    return -1;
}

static int open_column(PyObject *given, Column *column) {
    if (given == Py_None) return 0;
    if (PyObject_GetBuffer(given, &column->buffer, PyBUF_ND | PyBUF_FORMAT) < 0) return -1;
    column->is_there = 1;
    Py_ssize_t width = column->buffer.itemsize;
    if (width != 1 && width != 2 && width != 4) return wrong();
    column->length = column->buffer.len / width;
    return 0;
}

static int put(Numbers *numbers, int32_t number) {
    if (numbers->length == numbers->room) {
        Py_ssize_t room = numbers->room ? numbers->room + numbers->room / 2 : 1024;
        int32_t *items = realloc(numbers->items, (size_t)room * 4);
        if (items == NULL) return no_room();
        numbers->items = items;
        numbers->room = room;
    }
    numbers->items[numbers->length++] = number;
    return 0;
}

static int comes_before(Work *work, int64_t earlier, int64_t event) {
    if (earlier < 0 || earlier >= work->events) return wrong();
    if (at(&work->column[PROCESS], (Py_ssize_t)earlier) == at(&work->column[PROCESS], (Py_ssize_t)event)) return 0;
    return put(&work->near, (int32_t)earlier);
}

/* ---- readers ------------------------------------------------------------------------------------------- */

static size_t slot_of(const Work *work, int32_t variable, int32_t process) {
    uint64_t key = ((uint64_t)(uint32_t)variable << 32 | (uint32_t)process) * 0x9E3779B97F4A7C15u;
    size_t mask = (size_t)work->slots - 1, slot = (size_t)(key >> 20) & mask;
    while (work->table[slot] != NONE) {
        const Reader *reader = &work->readers[work->table[slot]];
        if (reader->variable == variable && reader->process == process) break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

static int more_slots(Work *work) {
    Py_ssize_t slots = work->slots ? work->slots * 2 : 1024;
    int32_t *table = malloc((size_t)slots * 4);
    if (table == NULL) return no_room();
    free(work->table);
    work->table = table;
    work->slots = slots;
    memset(table, 0xFF, (size_t)slots * 4);
    for (Py_ssize_t i = 0; i < work->count; i++)
        table[slot_of(work, work->readers[i].variable, work->readers[i].process)] = (int32_t)i;
    return 0;
}

/* The place of the reader of a variable, a new one if it has read no such variable before. */
static Py_ssize_t reader_of(Work *work, int32_t variable, int32_t process) {
    if (work->count * 3 >= work->slots * 2 && more_slots(work) < 0) return -1;
    size_t slot = slot_of(work, variable, process);
    if (work->table[slot] != NONE) return work->table[slot];
    if (work->count == work->room) {
        Py_ssize_t room = work->room ? work->room + work->room / 2 : 1024;
        Reader *readers = realloc(work->readers, (size_t)room * sizeof *readers);
        if (readers == NULL) return no_room();
        work->readers = readers;
        work->room = room;
    }
    work->readers[work->count] = (Reader){variable, process, NONE, NONE, NONE};
    work->table[slot] = (int32_t)work->count;
    return work->count++;
}

/* ---- the order of one event ---------------------------------------------------------------------------- */

static int is_written(const Work *work, int64_t variable, Py_ssize_t from, Py_ssize_t until) {
    for (Py_ssize_t i = from; i < until; i++)
        if (at(&work->column[WRITE], i) == variable) return 1;
    return 0;
}

static int read_one(Work *work, int64_t event, int32_t own, int64_t variable, int is_overwritten) {
    if (variable < 0 || variable >= work->variables) return wrong();
    Py_ssize_t place = reader_of(work, (int32_t)variable, own);
    if (place < 0) return -1;
    Reader *reader = &work->readers[place];
    int is_first = reader->round != work->turn[variable];
    if (is_first && work->last_write[variable] != NONE && comes_before(work, work->last_write[variable], event) < 0)
        return -1;
    if (is_overwritten) return 0;
    reader->event = (int32_t)event;
    if (is_first) {
        reader->round = work->turn[variable];
        reader->next = work->first[variable];
        work->first[variable] = (int32_t)place;
    }
    return 0;
}

static int write_one(Work *work, int64_t event, int64_t variable) {
    if (variable < 0 || variable >= work->variables) return wrong();
    for (int32_t place = work->first[variable]; place != NONE; place = work->readers[place].next)
        if (comes_before(work, work->readers[place].event, event) < 0) return -1;
    if (work->last_write[variable] != NONE && comes_before(work, work->last_write[variable], event) < 0) return -1;
    work->first[variable] = NONE;
    work->turn[variable]++;
    work->last_write[variable] = (int32_t)event;
    return 0;
}

static int range_of(const Work *work, int start, int64_t event, Py_ssize_t *from, Py_ssize_t *until) {
    const Column *column = &work->column[start];
    *from = *until = 0;
    if (!column->is_there) return 0;
    *from = (Py_ssize_t)at(column, (Py_ssize_t)event);
    *until = (Py_ssize_t)at(column, (Py_ssize_t)event + 1);
    return *from < 0 || *until > work->column[start + 1].length || *from > *until ? wrong() : 0;
}

static int accesses(Work *work, int64_t event) {
    Py_ssize_t reads[2], writes[2];
    if (range_of(work, READ_START, event, &reads[0], &reads[1]) < 0) return -1;
    if (range_of(work, WRITE_START, event, &writes[0], &writes[1]) < 0) return -1;
    int32_t own = (int32_t)at(&work->column[PROCESS], (Py_ssize_t)event);
    for (Py_ssize_t i = reads[0]; i < reads[1]; i++) {
        int64_t variable = at(&work->column[READ], i);
        if (read_one(work, event, own, variable, is_written(work, variable, writes[0], writes[1])) < 0) return -1;
    }
    for (Py_ssize_t i = writes[0]; i < writes[1]; i++)
        if (write_one(work, event, at(&work->column[WRITE], i)) < 0) return -1;
    return 0;
}

static int ascending(const void *one, const void *other) {
    int32_t first = *(const int32_t *)one, second = *(const int32_t *)other;
    return (first > second) - (first < second);
}

static int tell(Work *work, int64_t event) {
    Numbers *near = &work->near;
    if (near->length > 1) qsort(near->items, (size_t)near->length, 4, ascending);
    for (Py_ssize_t i = 0; i < near->length; i++) {
        if (i && near->items[i] == near->items[i - 1]) continue;
        if (put(&work->later, (int32_t)event) < 0 || put(&work->earlier, near->items[i]) < 0) return -1;
    }
    near->length = 0;
    return 0;
}

static int pass(Work *work) {
    const uint64_t *more = work->more.buf;
    Py_ssize_t others = work->more.len / 8, other = 0, from, until;
    int has_conflicts = work->column[WRITE_START].is_there;
    for (int64_t event = 0; event < work->events; event++) {
        for (int32_t row = work->sent[event]; row != NONE; row = work->next[row])
            if (comes_before(work, at(&work->column[SENDS], row), event) < 0) return -1;
        if (range_of(work, AFTER_START, event, &from, &until) < 0) return -1;
        for (Py_ssize_t i = from; i < until; i++)
            if (comes_before(work, at(&work->column[AFTER], i), event) < 0) return -1;
        for (; other < others && (int64_t)(more[other] >> 32) == event; other++)
            if (comes_before(work, (int64_t)(more[other] & 0xFFFFFFFFu), event) < 0) return -1;
        if (has_conflicts && accesses(work, event) < 0) return -1;
        if (tell(work, event) < 0) return -1;
        if (!(event & 0xFFFF) && PyErr_CheckSignals() < 0) return -1;
    }
    return 0;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static int32_t *filled(int64_t count, int with) {
    int32_t *found = malloc((size_t)(count + 1) * 4);
    if (found != NULL) memset(found, with, (size_t)(count + 1) * 4);
    return found;
}

static int prepare(Work *work) {
    const Column *column = work->column;
    work->events = column[PROCESS].length;
    Py_ssize_t messages = column[SENDS].length;
    if (column[RECEIVES].length != messages) return wrong();
    for (int start = AFTER_START; start < COLUMNS; start += 2)
        if (column[start].is_there && column[start].length != work->events + 1) return wrong();
    work->sent = filled(work->events, 0xFF);
    work->next = filled(messages, 0xFF);
    if (work->sent == NULL || work->next == NULL) return no_room();
    for (Py_ssize_t row = 0; row < messages; row++) {
        int64_t receive = at(&column[RECEIVES], row);
        if (receive == NONE) continue;
        if (receive < 0 || receive >= work->events) return wrong();
        work->next[row] = work->sent[receive];
        work->sent[receive] = (int32_t)row;
    }
    if (!column[WRITE_START].is_there) return 0;
    work->last_write = filled(work->variables, 0xFF);
    work->first = filled(work->variables, 0xFF);
    work->turn = filled(work->variables, 0);
    return work->last_write && work->first && work->turn ? 0 : no_room();
}

static void finish(Work *work) {
    for (int i = 0; i < COLUMNS; i++)
        if (work->column[i].is_there) PyBuffer_Release(&work->column[i].buffer);
    PyBuffer_Release(&work->more);
    int32_t *all[] = {work->sent, work->next, work->last_write, work->first, work->turn, work->table};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(work->readers);
    free(work->near.items);
    free(work->later.items);
    free(work->earlier.items);
}

/* edges(variables, more, process, sends, receives, after_start, after, read_start, read, write_start, write): the
 * later and the earlier event of every edge, as bytes of 32-bit integers; a column that is not there is None. */
static PyObject *edges(PyObject *self, PyObject *args) {
    Work work;
    PyObject *given[COLUMNS], *found = NULL;
    memset(&work, 0, sizeof work);
    if (!PyArg_ParseTuple(args, "Ly*OOOOOOOOO", &work.variables, &work.more, &given[0], &given[1], &given[2], &given[3],
                          &given[4], &given[5], &given[6], &given[7], &given[8]))
        return NULL;
    int is_well = 1;
    for (int i = 0; i < COLUMNS && is_well; i++) is_well = open_column(given[i], &work.column[i]) == 0;
    if (is_well && prepare(&work) == 0 && pass(&work) == 0)
        found = Py_BuildValue("y#y#", work.later.length ? (char *)work.later.items : "", work.later.length * 4,
                              work.earlier.length ? (char *)work.earlier.items : "", work.earlier.length * 4);
    finish(&work);
    return found;
}

static PyMethodDef functions[] = {
    {"edges", edges, METH_VARARGS, "Every direct edge between processes."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_edges", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__edges(void) { return PyModule_Create(&module); }
