"""iPWS Cup 2023: a health survey of which a sample is published."""
