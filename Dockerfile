# `docker build -t referee .` makes an image that plays Python bots, without compilers or npm.
# `docker build -t referee-all --target all .` adds every language's compiler and library, and the extras for contests.
#
#     docker run --rm -v "$PWD:/work" referee --game tictactoe ./my_bot @random
#
# Bots are isolated inside too. `docker run --rm referee doctor` says what the container allows.

FROM node:22-bookworm-slim AS viewer
WORKDIR /src/viewer
COPY viewer/package.json viewer/package-lock.json ./
RUN npm ci --silent --ignore-scripts
COPY viewer ./
RUN npm run --silent build

FROM python:3.12-slim-bookworm AS wheel
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
WORKDIR /src
COPY . .
COPY --from=viewer /src/addons/web/static addons/web/static
RUN python -m pip wheel --quiet --no-deps --wheel-dir /dist .

FROM python:3.12-slim-bookworm AS python
RUN --mount=from=wheel,source=/dist,target=/dist \
    python -m pip install --quiet --no-cache-dir "$(echo /dist/*.whl)[web]"
WORKDIR /work
ENTRYPOINT ["referee"]
CMD ["--help"]

FROM python AS all
COPY --from=golang:1.23-bookworm /usr/local/go /usr/local/go
ENV PATH=/usr/local/go/bin:$PATH
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc g++ make cmake libc6-dev libjson-c-dev libmsgpack-dev \
        nlohmann-json3-dev default-jdk-headless maven cargo rustc nodejs npm ruby perl git \
    && rm -rf /var/lib/apt/lists/*
RUN --mount=from=wheel,source=/dist,target=/dist \
    python -m pip install --quiet --no-cache-dir "$(echo /dist/*.whl)[cluster,oidc,tournament]"

# Without --target, the small image.
FROM python
