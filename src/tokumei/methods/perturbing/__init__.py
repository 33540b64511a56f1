"""What the methods share that change values, leave rows out or average them."""
