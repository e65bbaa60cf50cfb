"""The stages that write the record. None imports another."""
