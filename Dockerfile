# The model server and the review page as images; docs/serving.md says how to run them.
#
#   docker build --target serve -t bayesift-serve .
#   docker build --target review -t bayesift-review .

FROM python:3.11-slim AS base
# What is compiled when the image is built has to fit every processor that it runs on, and serves every user ("--user").
ENV NUMBA_CACHE_DIR=/var/cache/bayesift NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES="" PYTHONUNBUFFERED=1
WORKDIR /opt/bayesift
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir --constraint constraints.txt '.[review]' \
    && useradd --create-home --uid 10001 bayesift \
    && install --directory --owner bayesift /data /var/cache/bayesift
USER 10001
RUN bayesift warm && chmod --recursive a+rwX /var/cache/bayesift
WORKDIR /data
# Requests under way are answered before the server ends.
STOPSIGNAL SIGTERM

FROM base AS review
EXPOSE 8787
HEALTHCHECK --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8787/health')"]
ENTRYPOINT ["bayesift", "review", "--no-browser", "--host", "0.0.0.0", "--port", "8787"]

FROM base AS serve
EXPOSE 8788
HEALTHCHECK --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8788/health')"]
ENTRYPOINT ["bayesift", "serve", "--host", "0.0.0.0", "--port", "8788"]
