"""Builds both examples in place: python setup.py build_ext --inplace"""

from Cython.Build import cythonize
from setuptools import Extension, setup

import dmlcore

include = [dmlcore.get_include()]
extensions = [
    Extension("rows", ["rows.c"], include_dirs=include, py_limited_api=True),
    Extension("histogram", ["histogram.pyx"], include_dirs=include),
]
setup(name="dmlcore-c-api-examples", ext_modules=cythonize(extensions))
