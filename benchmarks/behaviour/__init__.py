"""What the engines do with types, negative and bad indices, and repeated targets: asked, kept, and printed as a page.

`python -m benchmarks.behaviour` asks every engine that is installed and makes docs/comparison.md anew; engines that are
not installed keep the answers they gave before.
"""
