"""What a web server calls."""

from __future__ import annotations

from django.core.wsgi import get_wsgi_application

from tokumei.platform.start import configure

configure()
application = get_wsgi_application()
