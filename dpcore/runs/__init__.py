"""Runs that outlive a page: a store of requests and events, and the processes that train."""
