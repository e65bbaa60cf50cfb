"""The accelerator: a flash device in front of a slow volume."""
