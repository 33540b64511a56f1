"""The workbench: somebody's own file, from its columns to a release with its report, in the browser."""
