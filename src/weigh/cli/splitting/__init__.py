"""How rows are copied and ordered for `weigh split`."""
