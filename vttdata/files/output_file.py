"""Write files that users name: checked before the work begins, and whole or not there."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from vttdata.errors import DescribeOSErrors, VttdataError
from vttdata.files.own_folder import check_own_file, replace_own_files
from vttdata.partial_file import partial_file

HTML = (".html", ".htm")
MARKDOWN = (".md", ".markdown")
# What `vttdata.media.pictures.save_png` writes.
_PICTURE_MARK = b"tEXtSoftware\0vttdata"
# Of pages for browsers, and of audits in Markdown.
_PAGE_BEGINNING = re.compile(
    rb'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="vttdata">'
    rb"|# Audit of .*\n\n```console\n(?:\$ .*\n)+```\n\nThe same files give the same page\."
)


def check_output_file(path: Path, suffixes: tuple[str, ...]) -> None:
    """Check that a page can be written to a path, and make its folder.

    Its name must have one of the suffixes, so that no table or video is replaced by mistake; the first is suggested.

    Raises:
        VttdataError: when the name ends otherwise, is a folder's or that of a file which is no page of vttdata, or its
            folder cannot be made.
    """
    if path.suffix.lower() not in suffixes:
        raise VttdataError(f"{path}: cannot take a page; name a file that ends in {suffixes[0]}.")
    if path.is_dir():
        raise VttdataError(f"{path}: is a folder; name a file.")
    make_output_folder(path.parent)
    check_own_file(path, lambda: _PAGE_BEGINNING.match(path.read_bytes()))


def check_output_picture(path: Path) -> None:
    """Check that a picture can be written to a path.

    Raises:
        VttdataError: when a file would be replaced that is no picture of vttdata.
    """
    check_own_file(path, lambda: _PICTURE_MARK in path.read_bytes())


def make_output_folder(folder: Path) -> None:
    """Make a folder for results, unless it is there.

    Raises:
        VttdataError: when it cannot be made, such as where a file has its name.
    """
    with DescribeOSErrors(f"{folder}: cannot be a folder for results"):
        folder.mkdir(parents=True, exist_ok=True)


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write text files into a folder, which is made if need be, each in one step.

    Raises:
        VttdataError: when one cannot be written, or would replace one that is not of vttdata.
    """
    with DescribeOSErrors(f"{folder}: cannot be written"), replace_own_files(folder, texts):
        for name, text in texts.items():
            write_whole(folder / name, text)


def link_file(file: Path, target: Path) -> None:
    """Give a file a second name by a hard link, or copy it where links are not possible.

    Raises:
        OSError: when it cannot be written.
    """
    try:
        os.link(file, target)
    except OSError:
        shutil.copyfile(file, target)


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step: a reader, or a full disk, sees the old content or the new one.

    A file that is replaced keeps who may read it.

    Raises:
        OSError: when it cannot be written; it names the file.
    """
    try:
        with partial_file(path) as partial:
            partial.write_text(text, encoding="utf-8", newline="")
            if path.exists():
                partial.chmod(path.stat().st_mode & 0o777)
    except OSError as error:
        # A full disk is an error of the write, which names no file.
        raise OSError(error.errno, error.strerror, str(path)) from error
