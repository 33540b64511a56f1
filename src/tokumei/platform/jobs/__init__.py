"""Jobs: every kind of work that runs beside the pages, in processes with limits."""
