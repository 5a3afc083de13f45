"""Command lines of PowerShell and cmd."""
