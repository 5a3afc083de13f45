"""SQL and the commands of Redis and MongoDB, as database clients take them."""
