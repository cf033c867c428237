"""Text analysis: comparing statements, extracting facts, parsing questions and dates. Pure: no store."""
