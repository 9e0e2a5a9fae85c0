"""The web process: HTTP/1.1 and WebSockets for an ASGI application, read and written by a process of its own.

How an application, such as one of Starlette, is served:

    listening = limits.listen("127.0.0.1", 8080)
    async with link.open_link(app, listening, RequestLimits(...), Pages(...), access_log) as web:
        ...

The application runs here, on trio, in the process that may also play matches; `open_link` runs the web process and
starts another one if it ends. `start.started` starts it earlier, while the application is still being imported.

- **Requests** arrive whole, within `RequestLimits`: head, body, time, connections, connections of an address.
  `request.arrived_at` tells when the last byte was read, by a clock that leaves out what was no client's fault.
- **Uploads** do not cross the link: an application that takes them and plays no matches runs in a web process of its
  own, as that of `referee host` does. `uvicorn_server.make_server` gives it the same server and the same limits of
  connections; it reads bodies by `request.stream()`, writes them to disk as they come, and limits them itself.
- **Host, Origin and security headers**: wrap the application into `web.guard.Guarded`, or call `guard.is_foreign` where
  only the `Origin` is to be checked. `guard.HEADERS` are the headers; a response's own ones take precedence.
- **Tokens and sessions**: `secrets.token_urlsafe(32)`, and `guard.bearer` to compare in constant time. The web process
  knows none: a cookie is a header like any other.
- **Pages that never change**: `pages.page` makes one, with an ETag and gzip. The web process answers for those in
  `Pages` itself, also with 304, and the application sees nothing of it.
- **Event streams and JSON lines**: a response in pieces (`StreamingResponse`) sends its next piece when the client's
  socket has taken the one before. An endless one ends when the client leaves. If the application fails or ends, an
  event stream gets a last event with the member `error`, and any other response stays without its end. A client that
  comes back says where to go on, by `Last-Event-ID` or a query, and the application begins there.
- **The same for many clients**: `WebLink.channel` opens a channel, and `request.follow` adds the client of a response
  that has begun. Each text crosses to the web process once, and each client
  gets the newest one.
- `/health`, `/metrics` (for this machine only) and the **access log** belong to the web process.
"""
