"""The rules of the advisor, one file each; the file's name is the rule's."""
