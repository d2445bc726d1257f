"""What each stack would compute from one config: readings, how they differ, and what makes them agree."""
