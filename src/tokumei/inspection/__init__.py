"""What a file holds before anything is done to it: its columns, who they single out, and the roles they may have."""
