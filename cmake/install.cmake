# How the library is installed and found again.
