"""Programs that let foreign bots play: they translate the protocol into the bot's own interface."""
