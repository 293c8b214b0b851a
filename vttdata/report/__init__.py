"""Pages that people look at: reports of builds and datasets as self-contained HTML, made with Jinja2 and inline SVG."""
