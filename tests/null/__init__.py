"""What the package says where there is nothing."""
