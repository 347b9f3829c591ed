/* Pairs of tasks under which a formula with one temporal operator cannot fail: a sieve before `tasks.fibers`.
 *
 * Here belongs one loop over pairs of tasks and the regions of their cells (`tasks.cells`), with the steps
 * that `Fibers._fails_in` makes in Python, but for one: where the truth of the temporal operator differs
 * between the slices of a cell, both truths are tried. So a pair that is let through may still hold, which
 * `fibers` then finds out; a pair that is kept back cannot fail. There are no joint events.
 *
 * A clock is looked up by bisection among the rows of a task. What a task says is a table with a byte for
 * each of its counts; `fails` has a byte for each combination of what is said and of the operator's truth.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAYS 8
#define MOST_TERMS 64
#define LOOK_EVERY 64

enum { NEXT, LATER, UNTIL };
enum { NEVER, ALWAYS, SOMETIMES };

typedef struct {
    const uint8_t *bytes;
    Py_ssize_t length;
} Table;

typedef struct {
    const Table *of[2]; /* by place a table for each task; NULL: all is allowed */
} Term;

typedef struct {
    int32_t at[2];
} Cell;

typedef struct {
    Py_ssize_t tasks;
    const int32_t *lengths;
    const Table *positions, *rows;
    int width;
    int says;
    int place[MOST_SAYS];
    const Table *said[MOST_SAYS];
    const uint8_t *fails;
    int operator;
    int all_goals, all_bad;
    Term all_goal[MOST_TERMS], all_bads[MOST_TERMS];
    int goals, bad; /* those that have a cell of the two tasks */
    Term goal[MOST_TERMS], bads[MOST_TERMS];
    const Table *firsts[2], *lasts[2];
    int32_t task[2];
} Question;

/* ---- the order ---------------------------------------------------------------------------------------- */

/* How many events of the other task come before that count of the task at a place. */
static int32_t known(const Question *q, int place, int32_t count) {
    int32_t task = q->task[place], other = q->task[1 - place];
    const int32_t *positions = (const int32_t *)q->positions[task].bytes;
    Py_ssize_t low = 0, high = q->positions[task].length / 4;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (positions[middle] <= count)
            low = middle + 1;
        else
            high = middle;
    }
    Py_ssize_t at = (low - 1) * q->tasks + other;
    const uint8_t *rows = q->rows[task].bytes;
    return q->width == 2 ? ((const uint16_t *)rows)[at] : ((const int32_t *)rows)[at];
}

static int allows(const Question *q, const Term *term, int place, int32_t count) {
    return !term->of[place] || term->of[place][q->task[place]].bytes[count] == 1;
}

static int has(const Question *q, const Term *terms, int count, const Cell *cell) {
    for (int i = 0; i < count; i++)
        if (allows(q, &terms[i], 0, cell->at[0]) && allows(q, &terms[i], 1, cell->at[1])) return 1;
    return 0;
}

static int raised(const Question *q, const Term *term, int place, int32_t *count) {
    if (!term || !term->of[place]) return 1;
    const Table *table = &term->of[place][q->task[place]];
    const uint8_t *found = memchr(table->bytes + *count, 1, (size_t)(table->length - *count));
    if (!found) return 0;
    *count = (int32_t)(found - table->bytes);
    return 1;
}

/* The least cell of the term that is not below this one; 0 if there is none. */
static int least(const Question *q, const Term *term, Cell *cell) {
    for (int moved = 1; moved;) {
        moved = 0;
        if (!raised(q, term, 0, &cell->at[0]) || !raised(q, term, 1, &cell->at[1])) return 0;
        for (int place = 0; place < 2; place++) {
            int32_t more = known(q, place, cell->at[place]);
            if (more > cell->at[1 - place]) {
                cell->at[1 - place] = more;
                moved = 1;
            }
        }
    }
    return 1;
}

/* The greatest cell that is not above this one. */
static void greatest(const Question *q, Cell *cell) {
    for (int moved = 1; moved;) {
        moved = 0;
        for (int place = 0; place < 2; place++) {
            int32_t low = 0, high = cell->at[place];
            if (known(q, place, high) <= cell->at[1 - place]) continue;
            while (low < high) { /* the last count that knows no more; 0 knows nothing */
                int32_t middle = low + (high - low + 1) / 2;
                if (known(q, place, middle) <= cell->at[1 - place])
                    low = middle;
                else
                    high = middle - 1;
            }
            cell->at[place] = low;
            moved = 1;
        }
    }
}

/* The minimal cells of the terms strictly above one, two a term at most. */
static int above(const Question *q, const Term *terms, int count, const Cell *cell, Cell *found) {
    int many = 0;
    for (int i = 0; i < count; i++)
        for (int place = 0; place < 2; place++)
            if (cell->at[place] < q->lengths[q->task[place]]) {
                found[many] = *cell;
                found[many].at[place]++;
                many += least(q, &terms[i], &found[many]);
            }
    return many;
}

static int is_below(const Cell *one, const Cell *other) {
    return one->at[0] <= other->at[0] && one->at[1] <= other->at[1];
}

static int are_same(const Cell *one, const Cell *other) {
    return one->at[0] == other->at[0] && one->at[1] == other->at[1];
}

/* ---- truth -------------------------------------------------------------------------------------------- */

static int next_truth(const Question *q, const Cell *cell) {
    int steps = 0, stops = 0, is_here = has(q, q->goal, q->goals, cell);
    for (int place = 0; place < 2; place++) {
        Cell step = *cell;
        if (++step.at[place] > q->lengths[q->task[place]]) continue;
        if (known(q, place, step.at[place]) > step.at[1 - place]) continue;
        steps++;
        stops += has(q, q->goal, q->goals, &step);
    }
    if (is_here && steps && steps == stops) return ALWAYS;
    return is_here || stops ? SOMETIMES : NEVER;
}

static int later_truth(const Question *q, const Cell *cell) {
    Cell found[2 * MOST_TERMS];
    if (above(q, q->goal, q->goals, cell, found)) return ALWAYS;
    return has(q, q->goal, q->goals, cell) ? SOMETIMES : NEVER;
}

static int until_truth(const Question *q, const Cell *cell) {
    Cell goals[2 * MOST_TERMS], bad[2 * MOST_TERMS];
    int many = above(q, q->goal, q->goals, cell, goals), undisturbed = 0;
    int bads = many ? above(q, q->bads, q->bad, cell, bad) : 0;
    for (int i = 0; i < many; i++) {
        int is_free = 1;
        for (int j = 0; j < bads && is_free; j++)
            is_free = are_same(&bad[j], &goals[i]) || !is_below(&bad[j], &goals[i]);
        undisturbed += is_free;
    }
    if (undisturbed && !has(q, q->bads, q->bad, cell)) return ALWAYS;
    return undisturbed || has(q, q->goal, q->goals, cell) ? SOMETIMES : NEVER;
}

static int may_fail(const Question *q, const Cell *cell) {
    Py_ssize_t at = 0;
    for (int i = q->says - 1; i >= 0; i--)
        at = 3 * at + q->said[i][q->task[q->place[i]]].bytes[cell->at[q->place[i]]];
    int fails_without = q->fails[2 * at], fails_with = q->fails[2 * at + 1];
    if (fails_without == fails_with) return fails_without;
    int truth = q->operator == NEXT    ? next_truth(q, cell)
                : q->operator == LATER ? later_truth(q, cell)
                                       : until_truth(q, cell);
    return truth == SOMETIMES || (truth == ALWAYS ? fails_with : fails_without);
}

/* ---- regions ------------------------------------------------------------------------------------------ */

static int region_may_fail(const Question *q, const Cell *first, const Cell *last, const Cell *start) {
    if (may_fail(q, start)) return 1;
    if (are_same(first, last)) return 0;
    for (int some = 0; q->operator == NEXT && some < 4; some++) {
        Cell cell = {{some & 1 ? last->at[0] : first->at[0], some & 2 ? last->at[1] : first->at[1]}};
        if (least(q, NULL, &cell) && is_below(&cell, last) && may_fail(q, &cell)) return 1;
    }
    Cell top = *last;
    greatest(q, &top);
    return may_fail(q, &top);
}

/* The terms that have a cell: else each search for one would go to the end of the run. */
static int possible(const Question *q, const Term *terms, int count, Term *found) {
    int many = 0;
    for (int i = 0; i < count; i++) {
        Cell cell = {{0, 0}};
        if (least(q, &terms[i], &cell)) found[many++] = terms[i];
    }
    return many;
}

static int pair_may_fail(Question *q) {
    q->goals = possible(q, q->all_goal, q->all_goals, q->goal);
    q->bad = possible(q, q->all_bads, q->all_bad, q->bads);
    const int32_t *first[2], *last[2];
    Py_ssize_t many[2], start = 0;
    for (int place = 0; place < 2; place++) {
        first[place] = (const int32_t *)q->firsts[place][q->task[place]].bytes;
        last[place] = (const int32_t *)q->lasts[place][q->task[place]].bytes;
        many[place] = q->firsts[place][q->task[place]].length / 4;
    }
    for (Py_ssize_t one = 0; one < many[0]; one++) {
        int32_t low = known(q, 0, first[0][one]);
        while (start < many[1] && last[1][start] < low) start++;
        for (Py_ssize_t two = start; two < many[1]; two++) {
            Cell from = {{first[0][one], first[1][two]}}, to = {{last[0][one], last[1][two]}}, cell = from;
            if (known(q, 1, low > from.at[1] ? low : from.at[1]) > to.at[0]) break;
            if (!least(q, NULL, &cell) || !is_below(&cell, &to)) continue;
            if (region_may_fail(q, &from, &to, &cell)) return 1;
        }
    }
    return 0;
}

/* ---- what Python hands over --------------------------------------------------------------------------- */

/* The bytes of each object of a list, one a task; they live as long as the list. */
static Table *tables(PyObject *list, Py_ssize_t tasks, const int32_t *counts) {
    if (!PyList_Check(list) || PyList_GET_SIZE(list) != tasks) {
        PyErr_SetString(PyExc_ValueError, "a list of one table a task is needed");
        return NULL;
    }
    Table *found = PyMem_Malloc((size_t)(tasks ? tasks : 1) * sizeof(Table));
    if (!found) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < tasks; i++) {
        PyObject *bytes = PyList_GET_ITEM(list, i);
        if (!PyBytes_Check(bytes) || (counts && PyBytes_GET_SIZE(bytes) != counts[i] + 1)) {
            PyErr_SetString(PyExc_ValueError, "a table of one byte a count is needed");
            PyMem_Free(found);
            return NULL;
        }
        found[i].bytes = (const uint8_t *)PyBytes_AS_STRING(bytes);
        found[i].length = PyBytes_GET_SIZE(bytes);
    }
    return found;
}

#define MOST_TABLES (MOST_SAYS + 4 * MOST_TERMS + 6)

typedef struct {
    Table *kept[MOST_TABLES];
    int many;
} Kept;

static const Table *kept(Kept *all, PyObject *list, Py_ssize_t tasks, const int32_t *counts) {
    Table *found = tables(list, tasks, counts);
    if (found) all->kept[all->many++] = found;
    return found;
}

static int read_terms(Question *q, Kept *all, PyObject *list, Term *terms) {
    if (!PyList_Check(list) || PyList_GET_SIZE(list) > MOST_TERMS) {
        PyErr_SetString(PyExc_ValueError, "a list of few terms is needed");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *places[2];
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "OO", &places[0], &places[1])) return -1;
        for (int place = 0; place < 2; place++) {
            terms[i].of[place] = NULL;
            if (places[place] == Py_None) continue;
            terms[i].of[place] = kept(all, places[place], q->tasks, q->lengths);
            if (!terms[i].of[place]) return -1;
        }
    }
    return (int)PyList_GET_SIZE(list);
}

static int read_says(Question *q, Kept *all, PyObject *list, Py_ssize_t fails) {
    Py_ssize_t many = PyList_Check(list) ? PyList_GET_SIZE(list) : MOST_SAYS + 1, combinations = 2;
    if (many > MOST_SAYS) {
        PyErr_SetString(PyExc_ValueError, "a list of little that is said is needed");
        return -1;
    }
    for (int i = 0; i < many; i++, combinations *= 3) {
        PyObject *said;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "iO", &q->place[i], &said)) return -1;
        q->said[i] = kept(all, said, q->tasks, q->lengths);
        if (!q->said[i]) return -1;
    }
    q->says = (int)many;
    if (fails == combinations) return 0;
    PyErr_SetString(PyExc_ValueError, "a byte for each combination of what is said is needed");
    return -1;
}

static PyObject *answered(Question *q, const Py_buffer *pairs, PyObject *look) {
    Py_ssize_t many = pairs->len / 8;
    const int32_t *task = pairs->buf;
    PyObject *result = PyBytes_FromStringAndSize(NULL, many);
    if (!result) return NULL;
    for (Py_ssize_t i = 0; i < many; i++) {
        q->task[0] = task[2 * i];
        q->task[1] = task[2 * i + 1];
        if (i % LOOK_EVERY == 0) {
            PyObject *done = PyObject_CallNoArgs(look);
            if (!done) {
                Py_DECREF(result);
                return NULL;
            }
            Py_DECREF(done);
        }
        PyBytes_AS_STRING(result)[i] = (char)pair_may_fail(q);
    }
    return result;
}

static PyObject *may_fail_of(PyObject *Py_UNUSED(self), PyObject *arguments) {
    PyObject *positions, *rows, *says, *goals, *bad, *firsts[2], *lasts[2], *look, *result = NULL;
    Py_buffer lengths, fails, pairs;
    Question q;
    Kept all = {{NULL}, 0};
    if (!PyArg_ParseTuple(arguments, "y*OOiOy*iOOOOOOy*O", &lengths, &positions, &rows, &q.width, &says,
                          &fails, &q.operator, &goals, &bad, &firsts[0], &lasts[0], &firsts[1], &lasts[1],
                          &pairs, &look))
        return NULL;
    q.tasks = lengths.len / 4;
    q.lengths = lengths.buf;
    q.fails = fails.buf;
    if (!(q.positions = kept(&all, positions, q.tasks, NULL))) goto done;
    if (!(q.rows = kept(&all, rows, q.tasks, NULL))) goto done;
    if (read_says(&q, &all, says, fails.len) < 0) goto done;
    if ((q.all_goals = read_terms(&q, &all, goals, q.all_goal)) < 0) goto done;
    if ((q.all_bad = read_terms(&q, &all, bad, q.all_bads)) < 0) goto done;
    for (int place = 0; place < 2; place++) {
        if (!(q.firsts[place] = kept(&all, firsts[place], q.tasks, NULL))) goto done;
        if (!(q.lasts[place] = kept(&all, lasts[place], q.tasks, NULL))) goto done;
    }
    result = answered(&q, &pairs, look);
done:
    for (int i = 0; i < all.many; i++) PyMem_Free(all.kept[i]);
    PyBuffer_Release(&lengths);
    PyBuffer_Release(&fails);
    PyBuffer_Release(&pairs);
    return result;
}

static PyMethodDef methods[] = {
    {"may_fail", may_fail_of, METH_VARARGS, "For each pair of tasks whether the formula may fail under it."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_passing", NULL, -1, methods, NULL, NULL,
                                    NULL, NULL};

PyMODINIT_FUNC PyInit__passing(void) { return PyModule_Create(&module); }
