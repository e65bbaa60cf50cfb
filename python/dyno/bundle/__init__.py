"""The run record: data model, writer and reader."""
