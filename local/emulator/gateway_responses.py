"""Gateway responses of an OpenAPI definition: AWS imports x-amazon-apigateway-gateway-responses.

MiniStack drops them.
"""

from __future__ import annotations

from typing import Any

from ministack.services import apigateway_v1


def apply() -> None:
    load = apigateway_v1._import_rest_api

    def load_all(spec: dict[str, Any], base_data: Any = None) -> Any:
        api_id = load(spec, base_data)
        for kind, response in (spec.get("x-amazon-apigateway-gateway-responses") or {}).items():
            apigateway_v1._put_gateway_response(api_id, kind, response)
        return api_id

    apigateway_v1._import_rest_api = load_all
