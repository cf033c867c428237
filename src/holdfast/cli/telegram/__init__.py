"""The Telegram door: a bot that answers `/memory` for allowed users."""
