# An image for projects with Lambda functions: ebb, Python with boto3, and Node.js.
#
#   docker build --file functions.Dockerfile --tag ebb-functions .
#   docker run --rm --publish 127.0.0.1:8083:8083 --volume .:/project:ro ebb-functions \
#     emulate /project --listen 0.0.0.0:8083
ARG VERSION=0.1.0
FROM ghcr.io/ebbflow/ebb:${VERSION} AS ebb
FROM debian:13-slim
RUN apt-get update \
	&& apt-get install --yes --no-install-recommends ca-certificates nodejs python3 python3-boto3 \
	&& rm -rf /var/lib/apt/lists/* \
	&& groupadd --gid 65532 ebb \
	&& useradd --uid 65532 --gid 65532 --home-dir /data --no-create-home ebb \
	&& install --directory --owner=65532 --group=65532 --mode=750 /data
COPY --from=ebb /usr/bin/ebb /usr/bin/ebb
ENV EBB_LOG_LEVEL=info
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8083/tcp
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/ebb"]
CMD ["emulate", "--listen", "0.0.0.0:8083"]
