# Debian's etcd, for docker/compose.yaml.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends etcd-server=3.4.* \
    && rm -rf /var/lib/apt/lists/*
USER 65532:65532
EXPOSE 2379
ENTRYPOINT ["etcd"]
