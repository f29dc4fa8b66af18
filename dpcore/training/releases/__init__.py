"""What a run releases once, before its first step."""
