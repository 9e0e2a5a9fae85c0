"""Programs that let foreign bots play, by translating the protocol into the bot's own interface."""
