"""The lab as one HTML file that needs neither a server nor a network.

Every number in it is computed and rounded beforehand, at stops of the lab's own sliders. The page
only looks up.
"""
