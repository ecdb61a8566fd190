"""What A2A v1.0 says: model, requests, states, errors, codec, version, card. No I/O, no clock."""
