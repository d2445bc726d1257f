"""Why several checks failed at once: findings that share a cause are joined under one headline."""
