"""What every web server of the package needs: a port, limits to clients, and a guard before the application."""
