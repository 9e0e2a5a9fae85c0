"""A contest that runs itself: teams sign in and upload, games are played at once, and the table moves."""
