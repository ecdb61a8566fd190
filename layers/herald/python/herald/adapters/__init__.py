"""The only room that imports boto3 or urllib3."""
