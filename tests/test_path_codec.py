import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askcode.path_codec import decode_path, encode_path


@given(st.binary(max_size=40))
def test_every_name_comes_back(data):
    path = os.fsdecode(data)

    written = encode_path(path)

    assert written.encode("utf-8").decode("utf-8") == written
    assert decode_path(written) == path


@given(st.text(alphabet="a\udc80\udcff\U0010ff80\U0010fffe\U0010ffff", max_size=6))
def test_names_with_the_code_points_in_use_come_back(path):
    data = os.fsencode(path)

    assert os.fsencode(decode_path(encode_path(os.fsdecode(data)))) == data


@pytest.mark.parametrize("path", ["src/a.py", "日本語.py", "it's.py", "\ue000.py"])
def test_ordinary_names_stay_as_they_are(path):
    assert encode_path(path) == path
