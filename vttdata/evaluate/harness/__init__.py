"""What exported tasks call inside other people's evaluation harnesses, so that scores are those of `vttdata evaluate`.

`vttdata.evaluate.harness.scoring` scores the answers of a task; each other module speaks to one harness, which it
imports, and is imported by nothing but the files of an export.
"""
