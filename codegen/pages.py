"""Turns the specification into the operator pages of the documentation."""

from .model import Spec


def render_pages(spec: Spec) -> dict[str, str]:
    """docs/operators/*.md: path -> text."""
    return {}
