from sweeping import scheduler  # noqa: F401  a fixture
