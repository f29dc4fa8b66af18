"""Runs that other programs recorded, in a table: read, recounted, kept as imported, and priced."""
