"""Parts that several builders and commands share: official files, foils, degraded captions, packaging."""
