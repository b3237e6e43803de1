"""The compiled loops; nothing is compiled anywhere else.

Numba keeps compiled code in ``__pycache__`` and renews it when the file of the outermost function changes, not when a
file that it calls into does: after a change to `lanes`, `grid` or `vexp`, delete that folder.
"""
