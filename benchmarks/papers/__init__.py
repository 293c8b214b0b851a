"""What the five papers behind vttdata say beside what comes out here: a module a paper, and the page from them all."""
