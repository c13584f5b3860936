"""Programs made of what the other packages offer: their first users."""
