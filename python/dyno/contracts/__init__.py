"""What plug-ins implement and stages rely on. Nothing here imports a plug-in."""
