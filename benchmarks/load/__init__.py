"""Services under load: how they are started, asked and measured."""
