"""What several measures read from a trained model: losses, answers, hidden states, attention."""
