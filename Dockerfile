# One image for the api and the workers, of any architecture that the base has: docs/operate/install.md.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY web/package.json web/
COPY clients/typescript/package.json clients/typescript/
RUN npm ci
COPY . .
RUN npm run build

# What runs needs neither the compilers nor the packages of the page, which is built.
FROM node:24.21.0-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
COPY web/package.json web/
COPY clients/typescript/package.json clients/typescript/
RUN npm ci --omit=dev --workspaces=false
COPY --from=build /app/dist ./dist
# Where a module of a package is found, recorded for these packages: those of the build are laid out otherwise.
RUN node dist/scripts/record-compile-cache.js

# To run your own agents, start from it and add their programs.
FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title=runboard \
      org.opencontainers.image.description="A task board whose agent runs cannot be lost." \
      org.opencontainers.image.licenses=MIT
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git tini \
 && rm -rf /var/lib/apt/lists/* \
 # Mounted repositories belong to a user of the host, which git refuses to touch otherwise.
 && git config --system --add safe.directory '*' \
 # A new volume takes its owner from here.
 && install --directory --owner node --group node /data /repositories
WORKDIR /app
COPY --from=modules /app/package.json ./
COPY --from=modules /app/node_modules ./node_modules
COPY --from=build /app/LICENSE ./
COPY --from=modules /app/dist ./dist
ENV NODE_ENV=production BOARD_DATA_DIR=/data BOARD_HOST=0.0.0.0
# The user `node`, by the number that Kubernetes knows to be no root.
USER 1000:1000
VOLUME /data
EXPOSE 3001
# Of the api. A worker ends by itself when it cannot go on: run it with `--no-healthcheck`.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BOARD_PORT || 3001}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Reaps what agents leave behind, and passes signals on.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "--enable-source-maps", "dist/api/main.js"]
