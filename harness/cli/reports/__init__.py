"""What people read, as rich renderables. Nothing here prints."""
