FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY web/package.json web/
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

# One image for the api and the workers. To run your own agents, start from it and add their programs.
FROM node:24.21.0-bookworm-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 # Mounted repositories belong to a user of the host, which git refuses to touch otherwise.
 && git config --system --add safe.directory '*' \
 # A new volume takes its owner from here.
 && install --directory --owner node --group node /data /repositories
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
ENV NODE_ENV=production BOARD_DATA_DIR=/data BOARD_HOST=0.0.0.0
USER node
VOLUME /data
EXPOSE 3001
CMD ["node", "--enable-source-maps", "dist/api/main.js"]
