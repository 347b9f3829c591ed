/* Reading event lines: the compiled twin of `TraceBuilder.add_fields` for lines of the usual form.
 *
 * Here belongs the way from the text of a line to numbers in columns, for lines that need no thought: objects
 * whose strings are plain ASCII without escapes, whose values are scalars, that speak of processes which
 * exist already, whose messages are new when sent and awaited when received. At the first line that is
 * otherwise (or wrong) the reader stops, and `compiled.py` hands that line to the builder, which knows
 * everything and says what is wrong. So nothing is decided here that is not decided there in the same way:
 * a test reads the same texts with and without this file and compares the traces.
 *
 * The tables of strings and values are those of the builder; the hash tables here only remember, by the bytes
 * of a token, what those tables said. New strings are appended to the builder's list; its dictionary catches
 * up before it is used next (`Strings.catch_up`). A line that is given up leaves no trace but interned strings
 * and values, which the builder would intern next, in the same order.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE (-1)
#define MOST_ASSIGNMENTS 16

/* ---- vectors -------------------------------------------------------------------------------------- */

typedef struct {
    int32_t *items;
    Py_ssize_t length, room;
} Vector;

static int vector_reserve(Vector *vector, Py_ssize_t room) {
    if (room <= vector->room) return 0;
    Py_ssize_t more = vector->room ? vector->room * 2 : 1024;
    if (more < room) more = room;
    int32_t *grown = realloc(vector->items, (size_t)more * 4);
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    vector->items = grown;
    vector->room = more;
    return 0;
}

static inline int push(Vector *vector, int32_t item) {
    if (vector->length == vector->room && vector_reserve(vector, vector->length + 1) < 0) return -1;
    vector->items[vector->length++] = item;
    return 0;
}

/* Sets the item at an index, with NONE in every gap before it. */
static int put(Vector *vector, Py_ssize_t index, int32_t item) {
    if (vector_reserve(vector, index + 1) < 0) return -1;
    while (vector->length <= index) vector->items[vector->length++] = NONE;
    vector->items[index] = item;
    return 0;
}

static inline int32_t get(const Vector *vector, Py_ssize_t index) {
    return index < vector->length ? vector->items[index] : NONE;
}

static PyObject *vector_bytes(const Vector *vector) {
    if (!vector->length) Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)vector->items, vector->length * 4);
}

/* ---- tables of tokens ------------------------------------------------------------------------------- */

typedef struct {
    const char *text; /* of the Python string, which its table keeps alive */
    int32_t length, number;
    uint64_t hash, head;
} Entry;

typedef struct {
    Entry *entries;
    size_t mask, used;
} Table;

typedef struct {
    const char *text;
    Py_ssize_t length;
} Token;

/* The first eight bytes; a shorter text is told apart from all others of its length. */
static inline uint64_t head_of(const char *text, Py_ssize_t length) {
    uint64_t word = 0;
    uint32_t half;
    uint16_t quarter;
    if (length >= 8) {
        memcpy(&word, text, 8);
        return word;
    }
    if (length & 4) {
        memcpy(&half, text, 4);
        word = half;
        text += 4;
    }
    if (length & 2) {
        memcpy(&quarter, text, 2);
        word = word << 16 | quarter;
        text += 2;
    }
    return length & 1 ? word << 8 | (uint8_t)*text : word;
}

static inline uint64_t hash_of(const char *text, Py_ssize_t length) {
    uint64_t hash = 0x9E3779B97F4A7C15u ^ (uint64_t)length;
    for (;;) {
        hash = (hash ^ head_of(text, length)) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
        if (length <= 8) return hash;
        text += 8;
        length -= 8;
    }
}

static int table_grow(Table *table) {
    size_t size = table->entries == NULL ? 256 : (table->mask + 1) * 2;
    Entry *entries = calloc(size, sizeof *entries);
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; table->entries != NULL && i <= table->mask; i++) {
        if (table->entries[i].text == NULL) continue;
        size_t at = table->entries[i].hash & (size - 1);
        while (entries[at].text != NULL) at = (at + 1) & (size - 1);
        entries[at] = table->entries[i];
    }
    free(table->entries);
    table->entries = entries;
    table->mask = size - 1;
    return 0;
}

static inline Entry *table_find(const Table *table, Token token, uint64_t hash) {
    size_t at = hash & table->mask;
    for (; table->entries[at].text != NULL; at = (at + 1) & table->mask) {
        Entry *entry = &table->entries[at];
        if (entry->hash == hash && entry->length == token.length &&
            entry->head == head_of(token.text, token.length) &&
            (token.length <= 8 || !memcmp(entry->text + 8, token.text + 8, (size_t)token.length - 8)))
            return entry;
    }
    return &table->entries[at];
}

static int table_add(Table *table, PyObject *string, uint64_t hash, int32_t number) {
    if ((table->used + 1) * 2 > table->mask + 1 && table_grow(table) < 0) return -1;
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(string, &length);
    if (text == NULL) return -1;
    Token token = {text, length};
    Entry *entry = table_find(table, token, hash);
    *entry = (Entry){text, (int32_t)length, number, hash, head_of(text, length)};
    table->used++;
    return 0;
}

/* Numbers of integers. */
typedef struct {
    int64_t *keys;
    int32_t *numbers; /* number + 1, 0 if free */
    size_t mask, used;
} Integers;

static inline size_t integer_slot(const Integers *table, int64_t key) {
    uint64_t hash = (uint64_t)key * 0x9E3779B97F4A7C15u;
    size_t at = (hash ^ hash >> 32) & table->mask;
    while (table->numbers[at] && table->keys[at] != key) at = (at + 1) & table->mask;
    return at;
}

static int integers_grow(Integers *table) {
    Integers grown = {NULL, NULL, table->keys == NULL ? 255 : table->mask * 2 + 1, table->used};
    grown.keys = malloc((grown.mask + 1) * sizeof *grown.keys);
    grown.numbers = calloc(grown.mask + 1, sizeof *grown.numbers);
    if (grown.keys == NULL || grown.numbers == NULL) {
        free(grown.keys);
        free(grown.numbers);
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; table->keys != NULL && i <= table->mask; i++) {
        if (!table->numbers[i]) continue;
        size_t at = integer_slot(&grown, table->keys[i]);
        grown.keys[at] = table->keys[i];
        grown.numbers[at] = table->numbers[i];
    }
    free(table->keys);
    free(table->numbers);
    *table = grown;
    return 0;
}

/* ---- the reader --------------------------------------------------------------------------------------- */

enum { MSG, TAG, FN, AT, LABEL, TEXTS };
enum { SET, WRITE, READ, AFTER, LISTS };

typedef struct {
    Vector start, number, value;
    Py_ssize_t before; /* entries that the builder has already */
} Entries;

typedef struct {
    PyObject_HEAD
    PyObject *process_numbers, *texts, *values, *number_of;
    PyObject *kept; /* the names of processes whose text a table points to */
    Table processes, strings, string_values;
    Integers integers;
    int32_t constants[3]; /* value numbers of false, true and null; NONE until asked */
    Vector row_of;        /* by string number of a message that was sent here: its row */
    Vector *chains;       /* by process its events, for names P:k */
    Py_ssize_t chain_count, chained;
    Py_ssize_t known; /* how many of the texts the table of strings has */
    /* What was read and not taken yet; indices of events count from `base`. */
    Py_ssize_t base, old_rows, old_strings;
    Vector process, kind, text[TEXTS];
    Entries lists[LISTS];
    Vector send, receive, to, send_of;
    double *time;
    Py_ssize_t time_length, time_room;
    int32_t *old_receive, *old_to;
    const int32_t *old_process;
    int may_name; /* no event has a name of its own, so P:k is the k-th event of P */
} Reader;

/* What a line says, before it is taken over. */
typedef struct {
    int32_t process, kind, text[TEXTS];
    int is_new_message;
    int has_kind, has_to, has_msg, has_time;
    Token kind_token;
    int32_t to;
    double time;
    Py_ssize_t lengths[LISTS];
} Line;

enum { DONE, GIVE_UP, FAILED };

static const unsigned char PLAIN[256] = { /* characters that may stand in a string as they are */
    [0x20] = 1, [0x21] = 1, [0x23 ... 0x5B] = 1, [0x5D ... 0x7F] = 1,
};

static inline const char *blank(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\r') at++;
    return at;
}

/* A string token; NULL if it is not a plain one. */
static inline const char *string_at(const char *at, Token *token) {
    if (*at != '"') return NULL;
    token->text = ++at;
    while (PLAIN[(unsigned char)*at]) at++;
    token->length = at - token->text;
    return *at == '"' ? at + 1 : NULL;
}

/* A number as the JSON grammar has it; NULL if it is none. */
static const char *number_at(const char *at, int *is_integer) {
    *is_integer = 1;
    if (*at == '-') at++;
    if (*at == '0') at++;
    else if (*at >= '1' && *at <= '9') while (*at >= '0' && *at <= '9') at++;
    else return NULL;
    if (*at == '.') {
        *is_integer = 0;
        if (!(*++at >= '0' && *at <= '9')) return NULL;
        while (*at >= '0' && *at <= '9') at++;
    }
    if (*at == 'e' || *at == 'E') {
        *is_integer = 0;
        at++;
        if (*at == '+' || *at == '-') at++;
        if (!(*at >= '0' && *at <= '9')) return NULL;
        while (*at >= '0' && *at <= '9') at++;
    }
    return at;
}

static PyObject *unicode_of(Token token) { return PyUnicode_FromStringAndSize(token.text, token.length); }

static int process_of(Reader *reader, Token token, int32_t *number) {
    uint64_t hash = hash_of(token.text, token.length);
    Entry *entry = table_find(&reader->processes, token, hash);
    if (entry->text != NULL) {
        *number = entry->number;
        return DONE;
    }
    PyObject *name = unicode_of(token);
    if (name == NULL) return FAILED;
    PyObject *found = PyDict_GetItemWithError(reader->process_numbers, name);
    int state = found != NULL ? DONE : PyErr_Occurred() ? FAILED : GIVE_UP;
    if (state == DONE) {
        *number = (int32_t)PyLong_AsLong(found);
        if (PyList_Append(reader->kept, name) < 0 || table_add(&reader->processes, name, hash, *number) < 0)
            state = FAILED;
    }
    Py_DECREF(name);
    return state;
}

/* The number of a string in the builder's table; `is_new` if it was not there. */
static int interned(Reader *reader, Token token, int32_t *number, int *is_new) {
    uint64_t hash = hash_of(token.text, token.length);
    Entry *entry = table_find(&reader->strings, token, hash);
    *is_new = 0;
    if (entry->text != NULL) {
        *number = entry->number;
        return DONE;
    }
    PyObject *text = unicode_of(token);
    if (text == NULL) return FAILED;
    *is_new = 1;
    *number = (int32_t)PyList_GET_SIZE(reader->texts);
    int failed = PyList_Append(reader->texts, text) < 0 || table_add(&reader->strings, text, hash, *number) < 0;
    reader->known++;
    Py_DECREF(text);
    return failed ? FAILED : DONE;
}

/* Learns the strings that the builder has interned meanwhile. */
static int learn(Reader *reader) {
    for (; reader->known < PyList_GET_SIZE(reader->texts); reader->known++) {
        Py_ssize_t length;
        PyObject *string = PyList_GET_ITEM(reader->texts, reader->known);
        const char *text = PyUnicode_AsUTF8AndSize(string, &length);
        if (text == NULL || table_add(&reader->strings, string, hash_of(text, length), (int32_t)reader->known) < 0)
            return -1;
    }
    return 0;
}

/* The number of a value that the tables here do not know. */
static int new_value(Reader *reader, PyObject *value, int32_t *number) {
    if (value == NULL) return FAILED;
    PyObject *found = PyObject_CallOneArg(reader->number_of, value);
    if (found == NULL) return FAILED;
    *number = (int32_t)PyLong_AsLong(found);
    Py_DECREF(found);
    return DONE;
}

static int integer_value(Reader *reader, const char *text, const char *end, int32_t *number) {
    if (end - text > 18) return GIVE_UP;
    int64_t key = 0;
    for (const char *at = text + (*text == '-'); at < end; at++) key = key * 10 + (*at - '0');
    if (*text == '-') key = -key;
    size_t slot = integer_slot(&reader->integers, key);
    if (reader->integers.numbers[slot]) {
        *number = reader->integers.numbers[slot] - 1;
        return DONE;
    }
    PyObject *value = PyLong_FromLongLong(key);
    int state = new_value(reader, value, number);
    Py_XDECREF(value);
    if (state != DONE) return state;
    if ((reader->integers.used + 1) * 2 > reader->integers.mask) {
        if (integers_grow(&reader->integers) < 0) return FAILED;
        slot = integer_slot(&reader->integers, key);
    }
    reader->integers.keys[slot] = key;
    reader->integers.numbers[slot] = *number + 1;
    reader->integers.used++;
    return DONE;
}

static int string_value(Reader *reader, Token token, int32_t *number) {
    uint64_t hash = hash_of(token.text, token.length);
    Entry *entry = table_find(&reader->string_values, token, hash);
    if (entry->text != NULL) {
        *number = entry->number;
        return DONE;
    }
    PyObject *text = unicode_of(token);
    int state = new_value(reader, text, number);
    if (state == DONE && table_add(&reader->string_values, PyList_GET_ITEM(reader->values, *number), hash, *number) < 0)
        state = FAILED;
    Py_XDECREF(text);
    return state;
}

/* The text of a number, ended by a zero, for the correctly rounded conversion; and its value. */
static int double_of(const char *text, const char *end, double *value) {
    char copy[64];
    if (end - text >= (Py_ssize_t)sizeof copy) return GIVE_UP;
    memcpy(copy, text, (size_t)(end - text));
    copy[end - text] = 0;
    *value = PyOS_string_to_double(copy, NULL, NULL);
    if (*value == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return GIVE_UP;
    }
    return *value - *value == 0.0 ? DONE : GIVE_UP;
}

static int constant_value(Reader *reader, int which, int32_t *number) {
    if (reader->constants[which] == NONE) {
        PyObject *value = which == 0 ? Py_False : which == 1 ? Py_True : Py_None;
        int state = new_value(reader, value, &reader->constants[which]);
        if (state != DONE) return state;
    }
    *number = reader->constants[which];
    return DONE;
}

/* The value at a place: its number, and where it ends. */
static int value_at(Reader *reader, const char **place, int32_t *number) {
    const char *at = *place, *end;
    Token token;
    int is_integer, state;
    switch (*at) {
    case '"':
        end = string_at(at, &token);
        state = end == NULL ? GIVE_UP : string_value(reader, token, number);
        break;
    case 't':
        end = at + 4;
        state = strncmp(at, "true", 4) ? GIVE_UP : constant_value(reader, 1, number);
        break;
    case 'f':
        end = at + 5;
        state = strncmp(at, "false", 5) ? GIVE_UP : constant_value(reader, 0, number);
        break;
    case 'n':
        end = at + 4;
        state = strncmp(at, "null", 4) ? GIVE_UP : constant_value(reader, 2, number);
        break;
    default:
        end = number_at(at, &is_integer);
        if (end == NULL) return GIVE_UP;
        if (is_integer) {
            state = integer_value(reader, at, end, number);
        } else {
            double value;
            state = double_of(at, end, &value);
            if (state == DONE) {
                PyObject *object = PyFloat_FromDouble(value);
                state = new_value(reader, object, number);
                Py_XDECREF(object);
            }
        }
    }
    *place = end;
    return state;
}

/* ---- fields ------------------------------------------------------------------------------------------- */

/* {"x": 1, "y": 2} */
static int assignments(Reader *reader, const char **place, Entries *entries) {
    const char *at = blank(*place);
    Py_ssize_t first = entries->number.length;
    if (*at++ != '{') return GIVE_UP;
    at = blank(at);
    if (*at == '}') {
        *place = at + 1;
        return DONE;
    }
    for (;;) {
        Token token;
        int32_t variable, value;
        int is_new, state;
        if ((at = string_at(at, &token)) == NULL) return GIVE_UP;
        if ((state = interned(reader, token, &variable, &is_new)) != DONE) return state;
        for (Py_ssize_t i = first; i < entries->number.length; i++)
            if (entries->number.items[i] == variable) return GIVE_UP; /* of two the last counts */
        if (entries->number.length - first >= MOST_ASSIGNMENTS) return GIVE_UP;
        at = blank(at);
        if (*at++ != ':') return GIVE_UP;
        at = blank(at);
        if ((state = value_at(reader, &at, &value)) != DONE) return state;
        if (push(&entries->number, variable) < 0 || push(&entries->value, value) < 0) return FAILED;
        at = blank(at);
        if (*at == ',') {
            at = blank(at + 1);
            continue;
        }
        if (*at != '}') return GIVE_UP;
        *place = at + 1;
        return DONE;
    }
}

static int catch_up(Reader *reader) {
    Py_ssize_t processes = PyDict_GET_SIZE(reader->process_numbers);
    if (processes > reader->chain_count) {
        Vector *grown = realloc(reader->chains, (size_t)processes * sizeof *grown);
        if (grown == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        memset(grown + reader->chain_count, 0, (size_t)(processes - reader->chain_count) * sizeof *grown);
        reader->chains = grown;
        reader->chain_count = processes;
    }
    Py_ssize_t now = reader->base + reader->process.length;
    for (; reader->chained < now; reader->chained++) {
        Py_ssize_t event = reader->chained;
        int32_t process = event < reader->base ? reader->old_process[event]
                                               : reader->process.items[event - reader->base];
        if (push(&reader->chains[process], (int32_t)event) < 0) return -1;
    }
    return 0;
}

/* The event that is called P:k because it is the k-th of P. */
static int named(Reader *reader, Token token, int32_t *event) {
    const char *end = token.text + token.length, *at = end;
    int64_t position = 0, scale = 1;
    if (!reader->may_name) return GIVE_UP;
    while (at > token.text && at[-1] >= '0' && at[-1] <= '9' && end - at < 10) {
        position += (*--at - '0') * scale;
        scale *= 10;
    }
    if (at == end || *at == '0' || at == token.text || at[-1] != ':') return GIVE_UP;
    Token owner = {token.text, at - 1 - token.text};
    int32_t process;
    int state = process_of(reader, owner, &process);
    if (state != DONE) return state;
    if (catch_up(reader) < 0) return FAILED;
    if (position > reader->chains[process].length) return GIVE_UP;
    *event = reader->chains[process].items[position - 1];
    return DONE;
}

/* A name or a list of names. */
static int names(Reader *reader, const char **place, Entries *entries, int are_events) {
    const char *at = *place;
    int is_list = *at == '[';
    if (is_list) at = blank(at + 1);
    if (is_list && *at == ']') {
        *place = at + 1;
        return DONE;
    }
    for (;;) {
        Token token;
        int32_t number;
        int is_new, state;
        if ((at = string_at(at, &token)) == NULL) return GIVE_UP;
        state = are_events ? named(reader, token, &number) : interned(reader, token, &number, &is_new);
        if (state != DONE) return state;
        if (push(&entries->number, number) < 0) return FAILED;
        if (!is_list) break;
        at = blank(at);
        if (*at == ',') {
            at = blank(at + 1);
            continue;
        }
        if (*at != ']') return GIVE_UP;
        at++;
        break;
    }
    *place = at;
    return DONE;
}

/* The fields that this file knows; each has a bit, so that none is taken twice. */
enum { F_NONE, F_P, F_T, F_TO, F_FN, F_AT, F_SET, F_MSG, F_TAG, F_KIND, F_READ, F_LABEL, F_WRITE, F_AFTER };

static int field_of(Token key) {
    switch (key.length) {
    case 1: return *key.text == 'p' ? F_P : *key.text == 't' ? F_T : F_NONE;
    case 2:
        if (!memcmp(key.text, "to", 2)) return F_TO;
        if (!memcmp(key.text, "at", 2)) return F_AT;
        return memcmp(key.text, "fn", 2) ? F_NONE : F_FN;
    case 3:
        if (!memcmp(key.text, "set", 3)) return F_SET;
        if (!memcmp(key.text, "msg", 3)) return F_MSG;
        return memcmp(key.text, "tag", 3) ? F_NONE : F_TAG;
    case 4:
        if (!memcmp(key.text, "kind", 4)) return F_KIND;
        return memcmp(key.text, "read", 4) ? F_NONE : F_READ;
    case 5:
        if (!memcmp(key.text, "label", 5)) return F_LABEL;
        if (!memcmp(key.text, "write", 5)) return F_WRITE;
        return memcmp(key.text, "after", 5) ? F_NONE : F_AFTER;
    }
    return F_NONE;
}

static int text_field(Reader *reader, const char **place, int32_t *number, int *is_new, Token *token) {
    *place = string_at(*place, token);
    return *place == NULL ? GIVE_UP : interned(reader, *token, number, is_new);
}

static int field(Reader *reader, Line *line, int which, const char **place) {
    Token token;
    int is_new, is_integer;
    const char *at = *place;
    switch (which) {
    case F_P:
        if ((*place = string_at(at, &token)) == NULL) return GIVE_UP;
        return process_of(reader, token, &line->process);
    case F_T:
        line->has_time = 1;
        if ((*place = number_at(at, &is_integer)) == NULL) return GIVE_UP;
        return double_of(at, *place, &line->time);
    case F_TO:
        line->has_to = 1;
        if ((*place = string_at(at, &token)) == NULL) return GIVE_UP;
        return process_of(reader, token, &line->to);
    case F_KIND:
        line->has_kind = 1;
        return text_field(reader, place, &line->kind, &is_new, &line->kind_token);
    case F_MSG:
        line->has_msg = 1;
        return text_field(reader, place, &line->text[MSG], &line->is_new_message, &token);
    case F_TAG: return text_field(reader, place, &line->text[TAG], &is_new, &token);
    case F_FN: return text_field(reader, place, &line->text[FN], &is_new, &token);
    case F_AT: return text_field(reader, place, &line->text[AT], &is_new, &token);
    case F_LABEL: return text_field(reader, place, &line->text[LABEL], &is_new, &token);
    case F_SET: return assignments(reader, place, &reader->lists[SET]);
    case F_WRITE: return assignments(reader, place, &reader->lists[WRITE]);
    case F_READ: return names(reader, place, &reader->lists[READ], 0);
    case F_AFTER: return names(reader, place, &reader->lists[AFTER], 1);
    }
    return GIVE_UP;
}

static inline int is_kind(const Line *line, const char *word, Py_ssize_t length) {
    return line->kind_token.length == length && !memcmp(line->kind_token.text, word, (size_t)length);
}

/* What follows from the kind: messages. */
static int act(Reader *reader, Line *line, Py_ssize_t event) {
    int32_t message = line->text[MSG];
    if (line->has_kind && is_kind(line, "send", 4)) {
        if (line->has_msg && !line->is_new_message) return GIVE_UP; /* perhaps it is sent already */
        Py_ssize_t row = reader->old_rows + reader->send.length;
        if (push(&reader->send, (int32_t)event) < 0 || push(&reader->receive, NONE) < 0 ||
            push(&reader->to, line->has_to ? line->to : NONE) < 0)
            return FAILED;
        if (line->has_msg && (put(&reader->row_of, message, (int32_t)row) < 0 ||
                              put(&reader->send_of, message - reader->old_strings, (int32_t)event) < 0))
            return FAILED;
        return DONE;
    }
    if (line->has_to) return GIVE_UP;
    if (line->has_kind && (is_kind(line, "enter", 5) || is_kind(line, "exit", 4))) return GIVE_UP;
    if (line->has_kind && is_kind(line, "receive", 7)) {
        if (!line->has_msg) return DONE;
        Py_ssize_t row = get(&reader->row_of, message);
        if (row == NONE) return GIVE_UP;
        int is_old = row < reader->old_rows;
        int32_t *receive = is_old ? &reader->old_receive[row] : &reader->receive.items[row - reader->old_rows];
        int32_t *to = is_old ? &reader->old_to[row] : &reader->to.items[row - reader->old_rows];
        if (*receive != NONE || (*to != NONE && *to != line->process)) return GIVE_UP;
        *receive = (int32_t)event;
        *to = line->process;
        return DONE;
    }
    if (line->has_msg && (!line->has_kind || is_kind(line, "internal", 8))) return GIVE_UP;
    return DONE;
}

static void forget(Reader *reader, const Line *line) {
    for (int i = 0; i < LISTS; i++) {
        reader->lists[i].number.length = line->lengths[i];
        if (i == SET || i == WRITE) reader->lists[i].value.length = line->lengths[i];
    }
}

/* Takes a line over whose fields are known. */
static int commit(Reader *reader, Line *line) {
    Py_ssize_t index = reader->process.length;
    int state = act(reader, line, reader->base + index);
    if (state != DONE) return state;
    if (push(&reader->process, line->process) < 0) return FAILED;
    if (line->has_kind && line->kind) {
        if (vector_reserve(&reader->kind, index + 1) < 0) return FAILED;
        while (reader->kind.length < index) reader->kind.items[reader->kind.length++] = 0;
        reader->kind.items[reader->kind.length++] = line->kind;
    }
    for (int i = 0; i < TEXTS; i++)
        if (line->text[i] != NONE && put(&reader->text[i], index, line->text[i]) < 0) return FAILED;
    for (int i = 0; i < LISTS; i++) {
        Entries *entries = &reader->lists[i];
        if (entries->number.length == line->lengths[i]) continue;
        /* All events up to here begin where this one's entries begin. */
        if (vector_reserve(&entries->start, index + 1) < 0) return FAILED;
        while (entries->start.length <= index)
            entries->start.items[entries->start.length++] = (int32_t)(entries->before + line->lengths[i]);
    }
    if (line->has_time) {
        if (index + 1 > reader->time_room) {
            Py_ssize_t room = (index + 1) * 2;
            double *grown = realloc(reader->time, (size_t)room * sizeof *grown);
            if (grown == NULL) {
                PyErr_NoMemory();
                return FAILED;
            }
            reader->time = grown;
            reader->time_room = room;
        }
        while (reader->time_length < index) reader->time[reader->time_length++] = Py_NAN;
        reader->time[reader->time_length++] = line->time;
    }
    return DONE;
}

/* One line, up to its end; `*place` moves past its newline if it is taken over. */
static int read_line(Reader *reader, const char **place, const char *end) {
    Line line = {.process = NONE, .to = NONE};
    uint32_t seen = 0;
    int state;
    const char *at = blank(*place);
    for (int i = 0; i < TEXTS; i++) line.text[i] = NONE;
    for (int i = 0; i < LISTS; i++) line.lengths[i] = reader->lists[i].number.length;
    if (*at++ != '{') return GIVE_UP;
    at = blank(at);
    for (;;) {
        Token key;
        if ((at = string_at(at, &key)) == NULL) goto give_up;
        int which = field_of(key);
        if (which == F_NONE || seen >> which & 1) goto give_up;
        seen |= (uint32_t)1 << which;
        at = blank(at);
        if (*at++ != ':') goto give_up;
        at = blank(at);
        if ((state = field(reader, &line, which, &at)) != DONE) {
            forget(reader, &line);
            return state;
        }
        at = blank(at);
        if (*at == ',') {
            at = blank(at + 1);
            continue;
        }
        if (*at != '}') goto give_up;
        break;
    }
    at = blank(at + 1);
    if (line.process == NONE || (at != end && *at != '\n')) goto give_up;
    if ((state = commit(reader, &line)) != DONE) {
        forget(reader, &line);
        return state;
    }
    *place = at == end ? at : at + 1;
    return DONE;
give_up:
    forget(reader, &line);
    return GIVE_UP;
}

/* ---- the Python type --------------------------------------------------------------------------------- */

static void reader_reset(Reader *self) {
    Vector *vectors[] = {&self->process, &self->kind, &self->send, &self->receive, &self->to, &self->send_of};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) vectors[i]->length = 0;
    for (int i = 0; i < TEXTS; i++) self->text[i].length = 0;
    for (int i = 0; i < LISTS; i++)
        self->lists[i].start.length = self->lists[i].number.length = self->lists[i].value.length = 0;
    self->time_length = 0;
}

static PyObject *entries_bytes(const Entries *entries) {
    if (!entries->number.length) Py_RETURN_NONE;
    return Py_BuildValue("NNN", vector_bytes(&entries->start), vector_bytes(&entries->number),
                         vector_bytes(&entries->value));
}

/* take(): the columns of all events that were read since it was called last. */
static PyObject *reader_take(Reader *self, PyObject *none) {
    PyObject *time = Py_None, *found;
    if (self->time_length) {
        time = PyBytes_FromStringAndSize((const char *)self->time, self->time_length * (Py_ssize_t)sizeof(double));
        if (time == NULL) return NULL;
    } else {
        Py_INCREF(time);
    }
    found = Py_BuildValue(
        "nnNN(NNNNN)(NNNN)(NNNN)N", self->process.length, self->old_strings, vector_bytes(&self->process),
        vector_bytes(&self->kind), vector_bytes(&self->text[MSG]), vector_bytes(&self->text[TAG]),
        vector_bytes(&self->text[FN]), vector_bytes(&self->text[AT]), vector_bytes(&self->text[LABEL]),
        entries_bytes(&self->lists[SET]), entries_bytes(&self->lists[WRITE]), entries_bytes(&self->lists[READ]),
        entries_bytes(&self->lists[AFTER]), vector_bytes(&self->send), vector_bytes(&self->receive),
        vector_bytes(&self->to), vector_bytes(&self->send_of), time);
    if (found != NULL) reader_reset(self);
    return found;
}

/* read(block, start, process, receive, to, may_name, numbers of entries so far): as many lines from `start` on as are of the usual
 * form. Returns how far it came and how many events that were; their columns are kept for `take`, before which
 * the builder's columns must not change. */
static PyObject *reader_read(Reader *self, PyObject *args) {
    PyObject *block, *found = NULL;
    Py_ssize_t start, before;
    Py_buffer process, receive, to;
    Entries *lists = self->lists;
    if (!PyArg_ParseTuple(args, "O!ny*w*w*p(nnnn)", &PyBytes_Type, &block, &start, &process, &receive, &to,
                          &self->may_name, &lists[SET].before, &lists[WRITE].before, &lists[READ].before,
                          &lists[AFTER].before))
        return NULL;
    const char *first = PyBytes_AS_STRING(block), *end = first + PyBytes_GET_SIZE(block), *at = first + start;
    before = self->process.length;
    self->base = process.len / 4;
    self->old_process = process.buf;
    self->old_rows = receive.len / 4;
    self->old_receive = receive.buf;
    self->old_to = to.buf;
    if (!before) self->old_strings = PyList_GET_SIZE(self->texts);
    int state = learn(self) < 0 ? FAILED : DONE;
    while (state == DONE && at < end && (state = read_line(self, &at, end)) == DONE) {}
    if (state != FAILED) found = Py_BuildValue("nn", at - first, self->process.length - before);
    PyBuffer_Release(&process);
    PyBuffer_Release(&receive);
    PyBuffer_Release(&to);
    return found;
}

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *named_args) {
    Reader *self = (Reader *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    if (!PyArg_ParseTuple(args, "O!O!O!O", &PyDict_Type, &self->process_numbers, &PyList_Type, &self->texts,
                          &PyList_Type, &self->values, &self->number_of)) {
        self->process_numbers = self->texts = self->values = self->number_of = NULL;
        Py_DECREF(self);
        return NULL;
    }
    Py_INCREF(self->process_numbers);
    Py_INCREF(self->texts);
    Py_INCREF(self->values);
    Py_INCREF(self->number_of);
    self->constants[0] = self->constants[1] = self->constants[2] = NONE;
    self->kept = PyList_New(0);
    if (self->kept == NULL || table_grow(&self->processes) < 0 || table_grow(&self->strings) < 0 ||
        table_grow(&self->string_values) < 0 || integers_grow(&self->integers) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void reader_dealloc(Reader *self) {
    Vector *vectors[] = {&self->process, &self->kind,    &self->send,   &self->receive,
                         &self->to,      &self->send_of, &self->row_of};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) free(vectors[i]->items);
    for (int i = 0; i < TEXTS; i++) free(self->text[i].items);
    for (int i = 0; i < LISTS; i++) {
        free(self->lists[i].start.items);
        free(self->lists[i].number.items);
        free(self->lists[i].value.items);
    }
    for (Py_ssize_t i = 0; i < self->chain_count; i++) free(self->chains[i].items);
    free(self->chains);
    free(self->time);
    free(self->processes.entries);
    free(self->strings.entries);
    free(self->string_values.entries);
    free(self->integers.keys);
    free(self->integers.numbers);
    Py_XDECREF(self->process_numbers);
    Py_XDECREF(self->texts);
    Py_XDECREF(self->values);
    Py_XDECREF(self->number_of);
    Py_XDECREF(self->kept);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMethodDef reader_methods[] = {
    {"read", (PyCFunction)reader_read, METH_VARARGS, "Reads lines of the usual form."},
    {"take", (PyCFunction)reader_take, METH_NOARGS, "What was read."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_new, reader_new},
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, reader_methods},
    {0, NULL},
};

static PyType_Spec reader_spec = {"possibly.trace._jsonl.Reader", sizeof(Reader), 0, Py_TPFLAGS_DEFAULT, reader_slots};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_jsonl", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__jsonl(void) {
    PyObject *found = PyModule_Create(&module);
    if (found == NULL) return NULL;
    PyObject *type = PyType_FromSpec(&reader_spec);
    if (type == NULL || PyModule_AddObject(found, "Reader", type) < 0) {
        Py_XDECREF(type);
        Py_DECREF(found);
        return NULL;
    }
    return found;
}
