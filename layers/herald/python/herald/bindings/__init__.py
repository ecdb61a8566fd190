"""HTTP in and out: JSON-RPC, HTTP+JSON, well-known documents. The only room that knows status codes."""
