"""The papers, recomputed: what each prints, what comes out here, and what holds.

With 005, on better features, stand the recipes of the best accuracy that was found here.
"""
