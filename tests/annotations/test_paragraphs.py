from __future__ import annotations

from pathlib import Path

from builders.activitynet_captions import read
from tests.helpers.official_files import write_activitynet
from vttdata.annotations.model import join_paragraphs


def test_paragraphs_join_the_sentences_of_each_annotator(tmp_path: Path) -> None:
    joined = join_paragraphs(read(write_activitynet(tmp_path)))
    assert [(clip.video_id, clip.start, clip.end, clip.split) for clip in joined.clips] == [
        ("v_zzzzzzzzzz1", 0.0, 30.0, "train"),
        ("v_aaaaaaaaaa2", 0.0, 20.0, "train"),
        ("v_bbbbbbbbb-3", 0.0, 40.0, "test"),
        ("v_ccccccccc_4", 0.0, 9.0, "test"),
    ]
    texts = {(caption.video_id, caption.sen_id): (caption.caption, caption.annotator) for caption in joined.captions}
    assert texts["v_bbbbbbbbb-3", 0] == ("A woman swims. She waves at a man.", "1")
    assert texts["v_bbbbbbbbb-3", 1] == ("A swimmer in a pool.", "2")
    assert joined.protocols["annotator-2"] == {"test": ["v_bbbbbbbbb-3"]}
    assert joined.concepts == ()


def test_real_activitynet_has_one_clip_for_each_video(shared: Path) -> None:
    joined = join_paragraphs(read(shared / "data" / "activitynet"))
    test = joined.protocols
    assert len(joined.clips) == len({clip.source_id for clip in joined.clips}) == 12_466
    assert (len(test["annotator-1"]["test"]), len(test["annotator-2"]["test"])) == (2_457, 2_444)
