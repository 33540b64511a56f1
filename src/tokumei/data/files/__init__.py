"""Reading and writing: CSV, Parquet, workbooks, JSON, Arrow, statistics programs, and the files of contests."""
