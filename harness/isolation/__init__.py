"""What keeps a bot's processes together and ends them, one file a layer."""
