"""Features that look at no data: each is a fixed function of one example alone, and nothing of it is learned."""
