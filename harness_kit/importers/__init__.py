"""Result files become our results: one module a format."""
