"""Files in the formats that users bring: tables, lists of ids, strict YAML; and tables for a terminal."""
