"""PWSCUP 2020: census records; attackers tell which of many were drawn."""
