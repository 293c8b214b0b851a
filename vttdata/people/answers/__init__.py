"""Read the answers of assessors from the layouts of crowd platforms, assessment pages and WMT, and check them."""
