"""The demo: made-up teams in contests at every stage, for `tokumei serve --demo`."""
