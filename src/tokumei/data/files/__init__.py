"""Reading and writing: CSV, Parquet, Excel and the files of the PWSCUP contests."""
