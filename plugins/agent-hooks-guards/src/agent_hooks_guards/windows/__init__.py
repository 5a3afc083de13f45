"""PowerShell and cmd, translated to text for a Unix shell."""
