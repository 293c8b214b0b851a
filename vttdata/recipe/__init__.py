"""Recipes: YAML files that say what to build, checked before any work starts."""
