"""What remembering and recalling cost at size, beside the least that the same work could cost."""
