"""Parts that several builders share: official files, foils, degraded captions, packaging."""
