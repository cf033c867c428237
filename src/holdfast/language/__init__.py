"""What texts say: statements compared, conversations read, questions and days understood. Pure: no store."""
