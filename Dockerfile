# An image with the kernel, JupyterLab and the default model:
#
#   docker build -t branchbook .
#   docker run --rm -p 8888:8888 branchbook
#
# Without a model: --build-arg MODEL= . For x86-64 processors older than 2013:
# --build-arg MARCH=x86-64-v2 . Binder builds the same file, binder/Dockerfile.

FROM golang:1.26-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install -y --no-install-recommends g++ libzmq3-dev pkg-config && \
    rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY kernel kernel
COPY lib lib
COPY cmd cmd
# Native code would run only on processors like the builder's. x86-64-v3 has
# AVX2 and FMA, which llama.cpp gains most from.
ARG MARCH=x86-64-v3
RUN if [ "$(uname -m)" = x86_64 ]; then flags="-march=$MARCH"; fi && \
    export CGO_CFLAGS="-O3 -g0 -w ${flags-}" CGO_CXXFLAGS="-O3 -g0 -w ${flags-}" && \
    go build -ldflags=-s -o /usr/local/bin/branchbook ./cmd/branchbook

FROM debian:12
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install -y --no-install-recommends ca-certificates libstdc++6 libzmq5 python3 python3-venv && \
    rm -rf /var/lib/apt/lists/*
ENV VIRTUAL_ENV=/opt/jupyter PATH=/opt/jupyter/bin:$PATH BRANCHBOOK_MODELS=/opt/models
COPY requirements /opt/requirements
RUN python3 -m venv /opt/jupyter && \
    pip install --no-cache-dir -r /opt/requirements/lab.txt -c /opt/requirements/constraints.txt
COPY --from=build /usr/local/bin/branchbook /usr/local/bin/branchbook
# Binder names the user that it runs as.
ARG NB_USER=jovyan
ARG NB_UID=1000
RUN branchbook install && \
    useradd --create-home --no-log-init --uid "$NB_UID" "$NB_USER" && \
    install -d -o "$NB_UID" /opt/models
USER ${NB_UID}
ARG MODEL=smollm2-135m
RUN if [ -n "$MODEL" ]; then branchbook models get "$MODEL"; fi
WORKDIR /home/${NB_USER}
COPY --chown=${NB_UID} notebooks notebooks
EXPOSE 8888
HEALTHCHECK --start-period=30s \
    CMD ["python3", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8888/api', timeout=5)"]
CMD ["jupyter", "lab", "--ip=0.0.0.0", "--no-browser"]
