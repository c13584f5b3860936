"""The effects of the terms of linear models: heights by cell, their importance and their shape."""
