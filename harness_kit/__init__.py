"""Teaching and analysis kit for agent harnesses."""
