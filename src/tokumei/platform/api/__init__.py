"""The API that programs talk to."""
