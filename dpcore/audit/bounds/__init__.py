"""The statistics of auditing: what scores of canaries, noise and batches that were seen show of a claim of privacy.

Needs no trainer and no torch: arrays come in, and each function returns a `Finding`.
"""
