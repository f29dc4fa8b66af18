"""Runs that outlive a page: a store of what was asked and what happened, and the processes that
train.
"""
