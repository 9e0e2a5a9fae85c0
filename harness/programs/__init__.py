"""From what the user typed to a command that starts a bot: bot specs, languages, builds and archives."""
