"""What can be pulled out."""
