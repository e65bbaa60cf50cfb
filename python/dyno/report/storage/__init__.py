"""A storage profile as the sheet, the summary and the document tell it."""
