"""Files in the formats that users bring: tables, lists of ids, YAML; and tables for a terminal."""
