"""What every web server of the package needs: a port, limits on clients, and a guard before the application."""
