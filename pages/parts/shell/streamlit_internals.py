"""All that the pages use of Streamlit beside its documented interface, written for 1.67; requirements.txt pins that."""

from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

FIRST_REQUESTS = "/_stcore/"  # the beginning of the addresses that a page asks for before it opens its connection
XSRF_COOKIE = XSRF_COOKIE_NAME


def is_own_token(token: str, cookie: str | None) -> bool:
    """Whether this server gave the token that a page's connection carries to the browser with this XSRF cookie."""
    return validate_xsrf_token(token, cookie)
