"""Markup."""
