"""Read the captions of a dataset folder with DuckDB: the captions of each clip by ascending number, with SQL."""

import json
import sys

import duckdb

QUERY = """
    SELECT video_id, list(caption ORDER BY sen_id) FROM read_parquet(?)
    WHERE author = 'human' GROUP BY video_id
"""
print(json.dumps(dict(duckdb.execute(QUERY, [f"{sys.argv[1]}/captions/*.parquet"]).fetchall())))
