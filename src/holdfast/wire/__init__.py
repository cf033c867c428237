"""The JSON of every interface, both ways: values, errors and cursors. Knows no framework."""
