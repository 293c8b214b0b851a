from __future__ import annotations

import pytest

from vttdata.dataset.licences import find_licence_address


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("cc-by-4.0", "https://creativecommons.org/licenses/by/4.0/"),
        ("cc-by-nc-sa-3.0", "https://creativecommons.org/licenses/by-nc-sa/3.0/"),
        ("CC-BY-NC-ND-4.0", "https://creativecommons.org/licenses/by-nc-nd/4.0/"),
        ("cc0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("mit", "https://spdx.org/licenses/MIT.html"),
        ("unknown", None),
        ("our own terms", None),
    ],
)
def test_licences_of_the_hub_have_the_addresses_of_their_makers(name: str, address: str | None) -> None:
    assert find_licence_address(name) == address
