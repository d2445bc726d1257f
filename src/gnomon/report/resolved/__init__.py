"""What every stack makes of one config: the document, and how it is written for readers."""
