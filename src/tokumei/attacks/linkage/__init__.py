"""What the linkage attack is made of: comparing rows, counting them, knowing habits, matching one to one."""
