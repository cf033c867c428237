"""The JSON of every interface, both ways: values and their schemas, errors and cursors."""
