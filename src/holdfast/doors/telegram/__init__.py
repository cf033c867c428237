"""The Telegram door: `/memory` by a bot, for the people that its owner names, and for nobody else."""
