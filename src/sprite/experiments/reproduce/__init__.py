"""The paper's experiments, repeated: recovery of a known truth, prediction, learned orders, and information.

Each experiment lists its units of work and makes tables of whatever has been found so far, so that a study can be
stopped, gone on with and extended at any time. Charts are drawn by `sprite.plots`, from the same tables.
"""
