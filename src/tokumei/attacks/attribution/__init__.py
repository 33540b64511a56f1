"""Whose purchases the rows of a release are: finding known ones again, groups that share pseudonyms, and habits."""
