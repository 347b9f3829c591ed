/* Lines that can be taken in at once: the twin of `Growing._is_ready`, `_checked` and `_line` in `growing`.
 *
 * It works on the tables of the growing computation itself, so that the two may take turns line by line. A line
 * that is not of the usual form, that has to wait, that somebody waits for, or that is wrong, is left to Python:
 * nothing has changed then. What is taken in is kept as columns until the next call:
 *
 *     process, position   of each line
 *     start, needs        the direct predecessors on other processes, as pairs of process and position
 *     relevant            the numbers of the lines that set a variable that somebody reads
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define DEPTH 200 /* as in trace/intern.py */

typedef struct {
    char *items;
    Py_ssize_t length, room;
} Bytes;

static int append(Bytes *self, const void *item, Py_ssize_t size) {
    if (self->length + size > self->room) {
        Py_ssize_t room = self->room ? 2 * self->room : 4096;
        char *grown = realloc(self->items, (size_t)room);
        if (grown == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        self->items = grown;
        self->room = room;
    }
    memcpy(self->items + self->length, item, (size_t)size);
    self->length += size;
    return 0;
}

static int append_32(Bytes *self, Py_ssize_t number) {
    int32_t item = (int32_t)number;
    return append(self, &item, sizeof item);
}

typedef struct {
    PyObject_HEAD
    PyObject *processes, *names, *odd, *messages, *last_write, *reads, *early, *early_names, *filed, *addressed;
    PyTypeObject *line, *sent, *flight;
    int is_causal;
    Bytes process, position, start, needs, relevant;
} Taker;

/* Attributes of a process, and names of fields. */
static PyObject *text_number, *text_length, *text_stack, *text_to, *text_read, *text_after;
static PyObject *text_order, *text_event, *text_message;

enum { DONE, GIVE_UP, FAILED };

typedef struct {
    PyObject *p, *id, *kind, *msg, *tag, *fn, *to, *read, *after, *set, *write, *k;
    PyObject *process; /* owned */
    PyObject *flight;  /* owned: the message that it receives */
    Py_ssize_t number, position;
    int is_send, is_receive, is_enter, is_exit;
} Line;

/* ---- the form of a line -------------------------------------------------------------------------------- */

static int is_text(PyObject *value) {
    if (!PyUnicode_CheckExact(value)) return 0;
    if (PyUnicode_IS_ASCII(value)) return 1;
    if (PyUnicode_AsUTF8(value) != NULL) return 1;
    PyErr_Clear(); /* half a surrogate pair */
    return 0;
}

static int is_name(PyObject *value) { return is_text(value) && PyUnicode_GET_LENGTH(value) > 0; }

static int is_finite(PyObject *value) {
    double number = PyFloat_AS_DOUBLE(value);
    return number - number == 0.0;
}

static int is_value(PyObject *value, int depth) {
    if (value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value)) return 1;
    if (PyUnicode_CheckExact(value)) return is_text(value);
    if (PyFloat_CheckExact(value)) return is_finite(value);
    if (depth >= DEPTH - 2) return 0; /* Python says how deep is too deep */
    if (PyList_CheckExact(value)) {
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); i++)
            if (!is_value(PyList_GET_ITEM(value, i), depth + 1)) return 0;
        return 1;
    }
    if (PyDict_CheckExact(value)) {
        PyObject *key, *part;
        Py_ssize_t at = 0;
        while (PyDict_Next(value, &at, &key, &part))
            if (!is_text(key) || !is_value(part, depth + 1)) return 0;
        return 1;
    }
    return 0;
}

static int is_names(PyObject *value) {
    if (PyUnicode_CheckExact(value)) return is_text(value);
    if (!PyList_CheckExact(value)) return 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(value); i++)
        if (!is_text(PyList_GET_ITEM(value, i))) return 0;
    return 1;
}

static int is_assignment(PyObject *value) { return PyDict_CheckExact(value) && is_value(value, 1); }

static int says(PyObject *text, const char *word, Py_ssize_t length) {
    return PyUnicode_IS_ASCII(text) && PyUnicode_GET_LENGTH(text) == length &&
           !memcmp(PyUnicode_1BYTE_DATA(text), word, (size_t)length);
}

#define SAYS(text, word) says(text, word, sizeof word - 1)

static int field(Line *line, PyObject *key, PyObject *value) {
    if (!PyUnicode_CheckExact(key) || !PyUnicode_IS_ASCII(key)) return 0;
    switch (PyUnicode_GET_LENGTH(key)) {
    case 1:
        if (SAYS(key, "p")) return (line->p = value, is_name(value));
        if (SAYS(key, "t")) return PyLong_CheckExact(value) || (PyFloat_CheckExact(value) && is_finite(value));
        if (SAYS(key, "k")) return (line->k = value, PyLong_CheckExact(value));
        break;
    case 2:
        if (SAYS(key, "to")) return (line->to = value, is_names(value));
        if (SAYS(key, "id")) return (line->id = value, is_text(value));
        if (SAYS(key, "fn")) return (line->fn = value, is_text(value));
        if (SAYS(key, "at")) return is_text(value);
        break;
    case 3:
        if (SAYS(key, "set")) return (line->set = value, is_assignment(value));
        if (SAYS(key, "msg")) return (line->msg = value, is_text(value));
        if (SAYS(key, "tag")) return (line->tag = value, is_text(value));
        break;
    case 4:
        if (SAYS(key, "kind")) return (line->kind = value, is_text(value));
        if (SAYS(key, "read")) return (line->read = value, is_names(value));
        if (SAYS(key, "meet")) return 0;
        break;
    case 5:
        if (SAYS(key, "label")) return is_text(value);
        if (SAYS(key, "write")) return (line->write = value, is_assignment(value));
        if (SAYS(key, "after")) return (line->after = value, is_names(value));
        break;
    case 6:
        if (SAYS(key, "parent")) return is_text(value);
        if (SAYS(key, "format")) return 0;
        break;
    case 7:
        if (SAYS(key, "parties")) return 0;
        break;
    }
    return is_value(value, 1);
}

/* The n-th of one name or a list of names. */
static Py_ssize_t count_of(PyObject *names) {
    if (names == NULL) return 0;
    return PyList_CheckExact(names) ? PyList_GET_SIZE(names) : 1;
}

static PyObject *nth(PyObject *names, Py_ssize_t n) {
    return PyList_CheckExact(names) ? PyList_GET_ITEM(names, n) : names;
}

/* ---- what it needs is there ------------------------------------------------------------------------------ */

static Py_ssize_t integer_attribute(PyObject *object, PyObject *name) {
    PyObject *found = PyObject_GetAttr(object, name);
    if (found == NULL) return -1;
    Py_ssize_t number = PyLong_AsSsize_t(found);
    Py_DECREF(found);
    return number;
}

static int has(PyObject *table, PyObject *key) { return PyDict_GET_SIZE(table) ? PyDict_Contains(table, key) : 0; }

/* Whether the text may be the default name of an event, which Python takes apart. */
static int looks_default(PyObject *text) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (!length) return 0;
    Py_UCS4 last = PyUnicode_READ_CHAR(text, length - 1);
    return last >= '0' && last <= '9' && PyUnicode_FindChar(text, ':', 0, length, -1) >= 0;
}

/* The place of an event that has been taken in, by name. */
static int place_of(Taker *self, PyObject *name, int64_t *place) {
    PyObject *found = PyDict_GetItemWithError(self->names, name);
    if (found != NULL) {
        place[0] = PyLong_AsLongLong(PyTuple_GET_ITEM(found, 0));
        place[1] = PyLong_AsLongLong(PyTuple_GET_ITEM(found, 1));
        return DONE;
    }
    if (PyErr_Occurred()) return FAILED;
    Py_ssize_t length = PyUnicode_GET_LENGTH(name), colon = PyUnicode_FindChar(name, ':', 0, length, -1);
    if (colon < 0 || colon + 1 >= length || length - colon > 18) return GIVE_UP;
    int64_t position = 0;
    for (Py_ssize_t i = colon + 1; i < length; i++) {
        Py_UCS4 digit = PyUnicode_READ_CHAR(name, i);
        if (digit < '0' || digit > '9' || (digit == '0' && i == colon + 1)) return GIVE_UP;
        position = 10 * position + (digit - '0');
    }
    PyObject *owner = PyUnicode_Substring(name, 0, colon);
    if (owner == NULL) return FAILED;
    PyObject *process = PyDict_GetItemWithError(self->processes, owner);
    Py_DECREF(owner);
    if (process == NULL) return PyErr_Occurred() ? FAILED : GIVE_UP;
    place[0] = integer_attribute(process, text_number);
    place[1] = position;
    Py_ssize_t there = integer_attribute(process, text_length);
    if (PyErr_Occurred()) return FAILED;
    return position <= there ? DONE : GIVE_UP;
}

/* Whether a line waits for this one, or another has its name. */
static int is_awaited(Taker *self, const Line *line) {
    int is_odd = PySet_GET_SIZE(self->odd) > 0 || PyDict_GET_SIZE(self->early_names) > 0;
    if (!is_odd && !PyDict_GET_SIZE(self->filed)) return DONE;
    PyObject *name = PyUnicode_FromFormat("%U:%zd", line->p, line->position);
    if (name == NULL) return FAILED;
    int found = 0;
    if (is_odd) {
        found = PySet_Contains(self->odd, name);
        if (!found) found = PyDict_Contains(self->early_names, name);
    }
    PyObject *keys[][2] = {{text_order, name}, {text_event, name}, {text_event, line->id}, {text_message, line->msg}};
    for (int i = 0; i < 4 && !found; i++) {
        if (keys[i][1] == NULL) continue;
        PyObject *key = PyTuple_Pack(2, keys[i][0], keys[i][1]);
        found = key == NULL ? -1 : PyDict_Contains(self->filed, key);
        Py_XDECREF(key);
    }
    Py_DECREF(name);
    return found < 0 ? FAILED : found ? GIVE_UP : DONE;
}

static int check_place(Taker *self, Line *line) {
    line->process = PyDict_GetItemWithError(self->processes, line->p);
    if (line->process == NULL) return PyErr_Occurred() ? FAILED : GIVE_UP;
    Py_INCREF(line->process);
    line->number = integer_attribute(line->process, text_number);
    line->position = integer_attribute(line->process, text_length) + 1;
    if (PyErr_Occurred()) return FAILED;
    if (line->k != NULL) {
        int overflow;
        long long k = PyLong_AsLongLongAndOverflow(line->k, &overflow);
        if (overflow || k != line->position) return GIVE_UP;
    }
    PyObject *early = PyDict_GET_SIZE(self->early) ? PyDict_GetItemWithError(self->early, line->p) : NULL;
    if (early == NULL) return PyErr_Occurred() ? FAILED : DONE;
    return PyObject_IsTrue(early) ? GIVE_UP : DONE;
}

static int check_id(Taker *self, Line *line) {
    if (line->id == NULL) return DONE;
    int found = has(self->names, line->id);
    if (!found) found = has(self->early_names, line->id);
    if (found) return found < 0 ? FAILED : GIVE_UP;
    if (!looks_default(line->id)) return DONE;
    PyObject *own = PyUnicode_FromFormat("%U:%zd", line->p, line->position);
    if (own == NULL) return FAILED;
    int is_own = PyUnicode_Compare(own, line->id) == 0;
    Py_DECREF(own);
    if (is_own) line->id = NULL; /* it says no more than the default */
    return is_own ? DONE : GIVE_UP;
}

static int check_message(Taker *self, Line *line) {
    int found;
    if (line->is_send) {
        if (count_of(line->to) > 1 || (line->to != NULL && !count_of(line->to))) return GIVE_UP;
        if (line->to != NULL) found = has(self->processes, nth(line->to, 0)) ? 0 : 1;
        else found = PySet_GET_SIZE(self->addressed) ? PySet_Contains(self->addressed, line->p) : 0;
        if (!found && line->msg != NULL) found = has(self->messages, line->msg);
        return found < 0 ? FAILED : found ? GIVE_UP : DONE;
    }
    if (line->to != NULL) return GIVE_UP;
    if (!line->is_receive || line->msg == NULL) return DONE;
    line->flight = PyDict_GetItemWithError(self->messages, line->msg);
    if (line->flight == NULL) return PyErr_Occurred() ? FAILED : GIVE_UP;
    Py_INCREF(line->flight);
    PyObject *to = PyTuple_GET_ITEM(PyTuple_GET_ITEM(line->flight, 0), 1), *left = PyTuple_GET_ITEM(line->flight, 1);
    if (to != Py_None && (found = PySequence_Contains(to, line->p)) != 1) return found < 0 ? FAILED : GIVE_UP;
    if (left == Py_None) return DONE;
    found = PySet_Contains(left, line->p);
    return found < 0 ? FAILED : found ? DONE : GIVE_UP;
}

static int check_stack(Line *line) {
    if (!line->is_exit) return DONE;
    PyObject *stack = PyObject_GetAttr(line->process, text_stack);
    if (stack == NULL) return FAILED;
    Py_ssize_t depth = PyList_GET_SIZE(stack);
    int is_same = depth && PyUnicode_Compare(PyList_GET_ITEM(stack, depth - 1), line->fn) == 0;
    Py_DECREF(stack);
    return is_same ? DONE : GIVE_UP;
}

static int check(Taker *self, Line *line, PyObject *fields) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    int state;
    if (!PyDict_CheckExact(fields)) return GIVE_UP;
    while (PyDict_Next(fields, &at, &key, &value))
        if (!field(line, key, value)) return GIVE_UP;
    if (line->p == NULL) return GIVE_UP;
    if (line->kind != NULL) {
        line->is_send = SAYS(line->kind, "send");
        line->is_receive = SAYS(line->kind, "receive");
        line->is_enter = SAYS(line->kind, "enter");
        line->is_exit = SAYS(line->kind, "exit");
    }
    if (line->msg != NULL && (line->kind == NULL || SAYS(line->kind, "internal"))) return GIVE_UP;
    if ((line->is_enter || line->is_exit) && line->fn == NULL) return GIVE_UP;
    if ((state = check_place(self, line)) != DONE) return state;
    if ((state = check_id(self, line)) != DONE) return state;
    if ((state = check_message(self, line)) != DONE) return state;
    if ((state = check_stack(line)) != DONE) return state;
    return is_awaited(self, line);
}

/* ---- taking in --------------------------------------------------------------------------------------------- */

/* Puts what a line needs into the column, once, and nothing of its own process. */
static int need(Taker *self, const Line *line, Py_ssize_t first, int64_t process, int64_t position) {
    int64_t pair[2] = {process, position};
    if (process == line->number) return 0;
    for (Py_ssize_t at = first; at < self->needs.length; at += (Py_ssize_t)sizeof pair)
        if (!memcmp(self->needs.items + at, pair, sizeof pair)) return 0;
    return append(&self->needs, pair, sizeof pair);
}

static int need_place(Taker *self, const Line *line, Py_ssize_t first, PyObject *place) {
    int64_t process = PyLong_AsLongLong(PyTuple_GET_ITEM(place, 0));
    return need(self, line, first, process, PyLong_AsLongLong(PyTuple_GET_ITEM(place, 1)));
}

static int need_last_write(Taker *self, const Line *line, Py_ssize_t first, PyObject *variable) {
    PyObject *place = PyDict_GetItemWithError(self->last_write, variable);
    if (place == NULL) return PyErr_Occurred() ? -1 : 0;
    return need_place(self, line, first, place);
}

static int written(Taker *self, const Line *line, Py_ssize_t first, PyObject *variable, PyObject *place) {
    PyObject *reads = PyDict_GetItemWithError(self->reads, variable);
    if (reads == NULL && PyErr_Occurred()) return -1;
    if (reads != NULL) {
        PyObject *process, *position;
        Py_ssize_t at = 0;
        while (PyDict_Next(reads, &at, &process, &position))
            if (need(self, line, first, PyLong_AsLongLong(process), PyLong_AsLongLong(position)) < 0) return -1;
        if (PyDict_DelItem(self->reads, variable) < 0) return -1;
    }
    return PyDict_SetItem(self->last_write, variable, place);
}

static int was_read(Taker *self, PyObject *variable, PyObject *place) {
    PyObject *reads = PyDict_GetItemWithError(self->reads, variable);
    if (reads != NULL) return PyDict_SetItem(reads, PyTuple_GET_ITEM(place, 0), PyTuple_GET_ITEM(place, 1));
    if (PyErr_Occurred() || (reads = PyDict_New()) == NULL) return -1;
    int state = PyDict_SetItem(reads, PyTuple_GET_ITEM(place, 0), PyTuple_GET_ITEM(place, 1));
    if (state == 0) state = PyDict_SetItem(self->reads, variable, reads);
    Py_DECREF(reads);
    return state;
}

static int conflicts(Taker *self, const Line *line, Py_ssize_t first, PyObject *place) {
    PyObject *variable, *value;
    Py_ssize_t at = 0, count = count_of(line->read);
    for (Py_ssize_t i = 0; i < count; i++)
        if (need_last_write(self, line, first, nth(line->read, i)) < 0) return -1;
    while (line->write != NULL && PyDict_Next(line->write, &at, &variable, &value))
        if (need_last_write(self, line, first, variable) < 0) return -1;
    at = 0;
    while (line->write != NULL && PyDict_Next(line->write, &at, &variable, &value))
        if (written(self, line, first, variable, place) < 0) return -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        int is_written = line->write == NULL ? 0 : PyDict_Contains(line->write, nth(line->read, i));
        if (is_written < 0 || (!is_written && was_read(self, nth(line->read, i), place) < 0)) return -1;
    }
    return 0;
}

/* A named tuple of Python, without its constructor. */
static PyObject *tuple_of(PyTypeObject *type, Py_ssize_t count, PyObject **items) {
    PyObject *found = type->tp_alloc(type, count);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (found == NULL) break;
        Py_INCREF(items[i]);
        PyTuple_SET_ITEM(found, i, items[i]);
    }
    return found;
}

/* The message that it sends; a new reference. */
static PyObject *send(Taker *self, const Line *line, PyObject *place) {
    PyObject *to = Py_None, *left = Py_None, *sent = NULL, *flight;
    if (line->to != NULL) {
        PyObject *name = nth(line->to, 0);
        to = PyTuple_Pack(1, name);
        left = to == NULL ? NULL : PySet_New(to);
    } else {
        Py_INCREF(to);
        Py_INCREF(left);
    }
    if (to != NULL && left != NULL) {
        PyObject *items[] = {place, to, line->tag == NULL ? Py_None : line->tag};
        sent = tuple_of(self->sent, 3, items);
    }
    if (sent != NULL && line->msg != NULL) {
        PyObject *items[] = {sent, left};
        flight = tuple_of(self->flight, 2, items);
        if (flight == NULL || PyDict_SetItem(self->messages, line->msg, flight) < 0) Py_CLEAR(sent);
        Py_XDECREF(flight);
    }
    Py_XDECREF(to);
    Py_XDECREF(left);
    return sent;
}

static int receive(Taker *self, const Line *line, int remember) {
    PyObject *left = PyTuple_GET_ITEM(line->flight, 1);
    if (left == Py_None) {
        if (!remember) return PyDict_DelItem(self->messages, line->msg);
        PyObject *empty = PySet_New(NULL), *items[] = {PyTuple_GET_ITEM(line->flight, 0), empty};
        PyObject *flight = empty == NULL ? NULL : tuple_of(self->flight, 2, items);
        int state = flight == NULL ? -1 : PyDict_SetItem(self->messages, line->msg, flight);
        Py_XDECREF(empty);
        Py_XDECREF(flight);
        return state;
    }
    if (PySet_Discard(left, line->p) < 0) return -1;
    return !remember && !PySet_GET_SIZE(left) ? PyDict_DelItem(self->messages, line->msg) : 0;
}

static int set_length(const Line *line) {
    PyObject *length = PyLong_FromSsize_t(line->position);
    int state = length == NULL ? -1 : PyObject_SetAttr(line->process, text_length, length);
    Py_XDECREF(length);
    return state;
}

static int push_or_pop(const Line *line) {
    PyObject *stack = PyObject_GetAttr(line->process, text_stack);
    if (stack == NULL) return -1;
    Py_ssize_t depth = PyList_GET_SIZE(stack);
    int state = line->is_enter ? PyList_Append(stack, line->fn) : PyList_SetSlice(stack, depth - 1, depth, NULL);
    Py_DECREF(stack);
    return state;
}

/* Whether it sets a variable that somebody reads; `watched` has an entry a process. */
static int is_relevant(const Line *line, PyObject *watched) {
    if (line->number >= PyList_GET_SIZE(watched)) return 0;
    PyObject *variables = PyList_GET_ITEM(watched, line->number), *key, *value;
    Py_ssize_t at = 0;
    if (variables == Py_None) return 0;
    if (variables == Py_True) return 1;
    while (line->set != NULL && PyDict_Next(line->set, &at, &key, &value)) {
        int found = PySet_Contains(variables, key);
        if (found) return found;
    }
    return 0;
}

/* One name made a list of one, as Python does it. */
static PyObject *listed(PyObject *fields, const Line *line) {
    PyObject *names[] = {text_to, text_read, text_after}, *values[] = {line->to, line->read, line->after};
    PyObject *found = NULL;
    for (int i = 0; i < 3; i++) {
        if (values[i] == NULL || PyList_CheckExact(values[i])) continue;
        if (found == NULL && (found = PyDict_Copy(fields)) == NULL) return NULL;
        PyObject *list = PyList_New(1);
        if (list == NULL) {
            Py_DECREF(found);
            return NULL;
        }
        Py_INCREF(values[i]);
        PyList_SET_ITEM(list, 0, values[i]);
        int state = PyDict_SetItem(found, names[i], list);
        Py_DECREF(list);
        if (state < 0) {
            Py_DECREF(found);
            return NULL;
        }
    }
    if (found != NULL) return found;
    Py_INCREF(fields);
    return fields;
}

static PyObject *needs_of(const Taker *self, Py_ssize_t first) {
    Py_ssize_t count = (self->needs.length - first) / 16;
    PyObject *found = PyTuple_New(count);
    for (Py_ssize_t i = 0; found != NULL && i < count; i++) {
        int64_t pair[2];
        memcpy(pair, self->needs.items + first + 16 * i, sizeof pair);
        PyObject *place = Py_BuildValue("LL", (long long)pair[0], (long long)pair[1]);
        if (place == NULL) Py_CLEAR(found);
        else PyTuple_SET_ITEM(found, i, place);
    }
    return found;
}

static int put_step(Taker *self, const Line *line, PyObject *fields, PyObject *place, PyObject *sent, Py_ssize_t first,
                    PyObject *given, PyObject *steps) {
    PyObject *name, *needs = needs_of(self, first), *own = listed(fields, line), *step = NULL;
    if (given != NULL) Py_INCREF(name = given);
    else name = PyUnicode_FromFormat("%U:%zd", line->p, line->position);
    if (name != NULL && needs != NULL && own != NULL) {
        PyObject *items[] = {name,
                             PyTuple_GET_ITEM(place, 0),
                             PyTuple_GET_ITEM(place, 1),
                             needs,
                             own,
                             sent == NULL ? Py_None : sent,
                             line->flight == NULL ? Py_None : PyTuple_GET_ITEM(line->flight, 0)};
        PyObject *found = tuple_of(self->line, 7, items);
        step = found == NULL ? NULL : PyTuple_Pack(1, found);
        Py_XDECREF(found);
    }
    Py_XDECREF(name);
    Py_XDECREF(needs);
    Py_XDECREF(own);
    int state = step == NULL ? -1 : PyList_Append(steps, step);
    Py_XDECREF(step);
    return state;
}

static int commit(Taker *self, const Line *line, PyObject *fields, PyObject *given, int remember, PyObject *watched,
                  PyObject *steps, const int64_t *after, Py_ssize_t index) {
    Py_ssize_t first = self->needs.length;
    PyObject *sent = NULL, *place = Py_BuildValue("nn", line->number, line->position);
    int64_t position = line->position;
    int state = place == NULL ? -1 : set_length(line);
    if (state == 0 && line->id != NULL) state = PyDict_SetItem(self->names, line->id, place);
    for (Py_ssize_t i = 0; state == 0 && i < count_of(line->after); i++)
        state = need(self, line, first, after[2 * i], after[2 * i + 1]);
    if (state == 0 && line->is_send && (sent = send(self, line, place)) == NULL) state = -1;
    if (state == 0 && line->flight != NULL) {
        state = need_place(self, line, first, PyTuple_GET_ITEM(PyTuple_GET_ITEM(line->flight, 0), 0));
        if (state == 0) state = receive(self, line, remember);
    }
    if (state == 0 && (line->is_enter || line->is_exit)) state = push_or_pop(line);
    if (state == 0 && self->is_causal && (line->read != NULL || line->write != NULL))
        state = conflicts(self, line, first, place);
    if (state == 0) state = append_32(&self->process, line->number);
    if (state == 0) state = append(&self->position, &position, sizeof position);
    if (state == 0) state = append_32(&self->start, self->needs.length / 16);
    if (state == 0 && (state = is_relevant(line, watched)) > 0) state = append_32(&self->relevant, index);
    if (state == 0 && steps != Py_None) state = put_step(self, line, fields, place, sent, first, given, steps);
    Py_XDECREF(sent);
    Py_XDECREF(place);
    return state;
}

#define MOST_AFTER 32

static int take_line(Taker *self, PyObject *fields, int remember, PyObject *watched, PyObject *steps, Py_ssize_t index) {
    Line line = {0};
    int64_t after[2 * MOST_AFTER];
    int state = check(self, &line, fields);
    if (state == DONE && count_of(line.after) > MOST_AFTER) state = GIVE_UP;
    for (Py_ssize_t i = 0; state == DONE && i < count_of(line.after); i++)
        state = place_of(self, nth(line.after, i), after + 2 * i);
    if (state == DONE && commit(self, &line, fields, line.id, remember, watched, steps, after, index) < 0)
        state = FAILED;
    Py_XDECREF(line.process);
    Py_XDECREF(line.flight);
    return state;
}

/* take(lines, first, remember, watched, steps): how many lines from the first on were taken in. */
static PyObject *taker_take(Taker *self, PyObject *args) {
    PyObject *lines, *watched, *steps;
    Py_ssize_t first;
    int remember, state = DONE;
    if (!PyArg_ParseTuple(args, "O!npO!O", &PyList_Type, &lines, &first, &remember, &PyList_Type, &watched, &steps))
        return NULL;
    self->process.length = self->position.length = self->start.length = self->needs.length = 0;
    self->relevant.length = 0;
    if (append_32(&self->start, 0) < 0) return NULL;
    Py_ssize_t at = first;
    while (at < PyList_GET_SIZE(lines)) {
        PyObject *fields = PyList_GET_ITEM(lines, at);
        Py_INCREF(fields);
        state = take_line(self, fields, remember, watched, steps, at - first);
        Py_DECREF(fields);
        if (state != DONE) break;
        at++;
    }
    return state == FAILED ? NULL : PyLong_FromSsize_t(at - first);
}

static PyObject *bytes_of(const Bytes *self) { return PyBytes_FromStringAndSize(self->items, self->length); }

/* columns(): process, position, start, needs, relevant of the lines that the last call took in. */
static PyObject *taker_columns(Taker *self, PyObject *none) {
    return Py_BuildValue("NNNNN", bytes_of(&self->process), bytes_of(&self->position), bytes_of(&self->start),
                         bytes_of(&self->needs), bytes_of(&self->relevant));
}

static PyObject *taker_new(PyTypeObject *type, PyObject *args, PyObject *named_args) {
    Taker *self = (Taker *)type->tp_alloc(type, 0);
    PyObject *d[8], *odd, *addressed, *line, *sent, *flight;
    int is_causal;
    if (self == NULL) return NULL;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!O!O!O!O!O!O!O!O!p", &PyDict_Type, &d[0], &PyDict_Type, &d[1], &PySet_Type, &odd,
                          &PyDict_Type, &d[2], &PyDict_Type, &d[3], &PyDict_Type, &d[4], &PyDict_Type, &d[5],
                          &PyDict_Type, &d[6], &PyDict_Type, &d[7], &PySet_Type, &addressed, &PyType_Type, &line,
                          &PyType_Type, &sent, &PyType_Type, &flight, &is_causal)) {
        Py_DECREF(self);
        return NULL;
    }
    PyObject **places[] = {&self->processes, &self->names,       &self->messages, &self->last_write,
                           &self->reads,     &self->early,       &self->early_names, &self->filed};
    for (int i = 0; i < 8; i++) Py_INCREF(*places[i] = d[i]);
    Py_INCREF(self->odd = odd);
    Py_INCREF(self->addressed = addressed);
    Py_INCREF(self->line = (PyTypeObject *)line);
    Py_INCREF(self->sent = (PyTypeObject *)sent);
    Py_INCREF(self->flight = (PyTypeObject *)flight);
    self->is_causal = is_causal;
    return (PyObject *)self;
}

static void taker_dealloc(Taker *self) {
    PyObject *all[] = {self->processes, self->names,     self->odd,   self->messages,
                       self->last_write, self->reads,    self->early, self->early_names,
                       self->filed,     self->addressed, (PyObject *)self->line, (PyObject *)self->sent,
                       (PyObject *)self->flight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) Py_XDECREF(all[i]);
    Bytes *columns[] = {&self->process, &self->position, &self->start, &self->needs, &self->relevant};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) free(columns[i]->items);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMethodDef taker_methods[] = {
    {"take", (PyCFunction)taker_take, METH_VARARGS, "Takes in lines that nothing is missing for."},
    {"columns", (PyCFunction)taker_columns, METH_NOARGS, "What was taken in by the last call."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot taker_slots[] = {
    {Py_tp_new, taker_new},
    {Py_tp_dealloc, taker_dealloc},
    {Py_tp_methods, taker_methods},
    {0, NULL},
};

static PyType_Spec taker_spec = {"possibly.order.growing._growing.Taker", sizeof(Taker), 0, Py_TPFLAGS_DEFAULT, taker_slots};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_growing", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__growing(void) {
    struct {
        PyObject **place;
        const char *text;
    } texts[] = {{&text_number, "number"}, {&text_length, "length"}, {&text_stack, "stack"},
                 {&text_to, "to"},         {&text_read, "read"},     {&text_after, "after"},
                 {&text_order, "order"},   {&text_event, "event"},   {&text_message, "message"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if ((*texts[i].place = PyUnicode_InternFromString(texts[i].text)) == NULL) return NULL;
    PyObject *found = PyModule_Create(&module), *type;
    if (found == NULL) return NULL;
    type = PyType_FromSpec(&taker_spec);
    if (type == NULL || PyModule_AddObject(found, "Taker", type) < 0) {
        Py_XDECREF(type);
        Py_DECREF(found);
        return NULL;
    }
    return found;
}
