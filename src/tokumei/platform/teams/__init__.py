"""Teams: members, captains, invitations."""
