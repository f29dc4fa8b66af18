"""Features that look at no data: each is a fixed function of one example; nothing is learned."""
