/* rows.c: an extension module in C that looks rows up in a table, through dmlcore's C interface.
 *
 *     >>> rows.take(table, ids, out)      # float32 (n, width), int64 (k,), float32 (k, width)
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "dmlcore.h"

static const dmlcore_api *dml;
static dmlcore_data_type float32, int64;

/* Ctrl-C ends a long move: dmlcore asks now and then, on the thread that called. */
static int interrupted(void)
{
    PyGILState_STATE state = PyGILState_Ensure();
    int stop = PyErr_CheckSignals();
    PyGILState_Release(state);
    return stop;
}

static PyObject *finish(int status, const dml_run *run)
{
    switch (status) {
    case DML_OK: Py_RETURN_NONE;
    case DML_OUT_OF_RANGE:
        return PyErr_Format(PyExc_IndexError, "ids[%lld] is %lld, the table has %lld rows", (long long)run->bad_position,
                            (long long)run->bad_value, (long long)run->bad_bound);
    case DML_NO_MEMORY: return PyErr_NoMemory();
    case DML_INTERRUPTED: return NULL;      /* the exception is set */
    default: return PyErr_Format(PyExc_ValueError, "dmlcore cannot run this");
    }
}

static PyObject *take_rows(const Py_buffer *table, const Py_buffer *ids, const Py_buffer *out)
{
    if (table->ndim != 2 || ids->ndim != 1 || out->ndim != 2 || table->itemsize != 4 || ids->itemsize != 8 ||
        out->itemsize != 4 || out->shape[0] != ids->shape[0] || out->shape[1] != table->shape[1])
        return PyErr_Format(PyExc_ValueError, "expected float32 (n, width), int64 (k,), float32 (k, width)");

    /* one position for each id; at each, a slice of one row goes from the table to the stream */
    int64_t positions[] = {ids->shape[0]}, index_strides[] = {ids->strides[0]};
    int64_t bounds[] = {table->shape[0]}, steps[] = {table->strides[0]}, stream_strides[] = {out->strides[0]};
    int64_t slice[] = {table->shape[1]}, slice_table[] = {table->strides[1]};
    int64_t slice_stream[] = {out->strides[1]};
    dml_move move = {0};
    move.positions = (dml_list){positions, 1};
    move.index_strides = (dml_list){index_strides, 1};
    move.stream_strides = (dml_list){stream_strides, 1};
    move.bounds = (dml_list){bounds, 1};
    move.steps = (dml_list){steps, 1};
    move.slice = (dml_list){slice, 1};
    move.slice_table_strides = (dml_list){slice_table, 1};
    move.slice_stream_strides = (dml_list){slice_stream, 1};
    move.table = table->buf;
    move.stream = out->buf;
    move.indices = ids->buf;

    dml_run run = {0};    /* mode DML_RAISE, and as many threads as dmlcore.get_num_threads() */
    run.storage = float32.storage;
    run.index = int64.index;
    run.check_first = 1;  /* out stays as it is when an id is wrong */
    run.poll = interrupted;

    int status;
    Py_BEGIN_ALLOW_THREADS
    status = dml->gather(&move, &run);
    Py_END_ALLOW_THREADS
    return finish(status, &run);
}

static PyObject *take(PyObject *self, PyObject *args)
{
    PyObject *objects[3], *result = NULL;
    Py_buffer views[3];
    int got = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "OOO:take", &objects[0], &objects[1], &objects[2]))
        return NULL;
    while (got < 3 && PyObject_GetBuffer(objects[got], &views[got], got == 2 ? PyBUF_STRIDED : PyBUF_STRIDED_RO) == 0)
        got++;
    if (got == 3)
        result = take_rows(&views[0], &views[1], &views[2]);
    while (got > 0)
        PyBuffer_Release(&views[--got]);
    return result;
}

static PyMethodDef methods[] = {
    {"take", take, METH_VARARGS, "take(table, ids, out): copies the rows of the table that the ids name to out."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "rows", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_rows(void)
{
    dml = dmlcore_import();
    if (!dml)
        return NULL;
    if (dml->find_data_type("FLOAT32", &float32) || dml->find_data_type("INT64", &int64))
        return PyErr_Format(PyExc_ImportError, "dmlcore lacks a data type");
    return PyModule_Create(&module);
}
