"""What the servers of original contests share."""
