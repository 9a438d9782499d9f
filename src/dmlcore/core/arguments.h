/* arguments.h: reads the arguments of a call into slots, one for each parameter, and makes such a function.
 * Included by core/door.pxi. Python's own calling convention (METH_FASTCALL) is part of the stable ABI since 3.10, but
 * Cython does not use it there before 3.12; through tuples and dictionaries a tiny call would take half as long again. */
#ifndef DMLCORE_ARGUMENTS_H
#define DMLCORE_ARGUMENTS_H

#include <Python.h>

#define DML_PARAMETERS_MAX 16

typedef struct {
    PyMethodDef method;
    int positional;                            /* how many may be given by position */
    int required;                              /* how many must be given */
    int count;
    PyObject *names[DML_PARAMETERS_MAX];       /* interned, so that most keywords are found by their address */
} dml_function;

static int dml_parameter(const dml_function *f, PyObject *name)
{
    for (int i = 0; i < f->count; i++)
        if (f->names[i] == name)
            return i;
    for (int i = 0; i < f->count; i++)
        if (PyUnicode_Compare(f->names[i], name) == 0)
            return i;
    return -1;
}

/* Fills `slots` with borrowed references, NULL where nothing was given. -1 with an exception set: the call does not fit. */
static int dml_arguments(const dml_function *f, PyObject *const *args, Py_ssize_t n, PyObject *keywords, PyObject **slots)
{
    const char *function = f->method.ml_name;
    if (n > f->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", function, f->positional, n);
        return -1;
    }
    for (int i = 0; i < f->count; i++)
        slots[i] = i < n ? args[i] : NULL;
    for (Py_ssize_t k = 0, given = keywords ? PyTuple_Size(keywords) : 0; k < given; k++) {
        PyObject *name = PyTuple_GetItem(keywords, k);
        int i = dml_parameter(f, name);
        if (i < 0) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, name);
            return -1;
        }
        if (slots[i]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", function, name);
            return -1;
        }
        slots[i] = args[n + k];
    }
    for (int i = 0; i < f->required; i++) {
        if (!slots[i]) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%U' (pos %d)", function, f->names[i], i + 1);
            return -1;
        }
    }
    return 0;
}

/* A Python function of the package from its implementation; `names` and `doc` live as long as the function. */
static PyObject *dml_new_function(dml_function *f, const char *name, void *implementation, PyObject *names, int positional,
                                  int required, const char *doc)
{
    PyObject *module, *function;
    f->count = (int)PyTuple_Size(names);
    f->positional = positional;
    f->required = required;
    for (int i = 0; i < f->count; i++) {
        f->names[i] = PyTuple_GetItem(names, i);
        Py_INCREF(f->names[i]);
        PyUnicode_InternInPlace(&f->names[i]);
    }
    f->method.ml_name = name;
    f->method.ml_meth = (PyCFunction)implementation;
    f->method.ml_flags = METH_FASTCALL | METH_KEYWORDS;
    f->method.ml_doc = doc;
    module = PyUnicode_InternFromString("dmlcore");
    if (!module)
        return NULL;
    function = PyCFunction_NewEx(&f->method, NULL, module);
    Py_DECREF(module);
    return function;
}

#endif
