"""The API behind both bindings, deployed once for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.both_bindings.stage import BINDINGS, Binding, Deployment, deployments


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Binding, Deployment]]:
    with deployments(tmp_path_factory.mktemp("cards")) as found:
        yield found


@pytest.fixture(params=BINDINGS)
def deployment(request: pytest.FixtureRequest, deployed: dict[Binding, Deployment]) -> Deployment:
    """One of the two."""
    found: Deployment = deployed[request.param]
    return found
