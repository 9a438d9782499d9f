"""Turns the YAML files of spec/ into everything that is derived from them: validators, loops, stubs, tables and pages.

Run `python -m codegen` in the root of the repository; spec/README.md says what the files mean.
"""
