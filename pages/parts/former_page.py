"""The address of the former page Train, which leads on to its runs on Runs, or to the Lab.

GET /train?...   a redirect
"""

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from pages.parts.train.run_picker import PARAMETER, WHOLE


async def lead_on(request: Request) -> Response:
    """The way to one run, to several, or to the settings in the address."""
    query = request.query_params
    runs = query.getlist(PARAMETER)
    names = {"batches": "sampler"}
    if len(runs) == 1:
        names[PARAMETER] = WHOLE.name
    fields = [(names.get(name, name), value) for name, value in query.multi_items()]
    page = "runs" if runs else ""
    return RedirectResponse(f"./{page}?{urlencode(fields)}")


FORMER_PAGE = Route("/train", lead_on)
