"""What every request passes: connections, limits, access, formats, problems and replies."""
