"""Settings of the guards: layers, exceptions, commands."""
