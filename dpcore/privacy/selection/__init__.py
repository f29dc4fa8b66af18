"""The price of publishing the best of several private runs."""
