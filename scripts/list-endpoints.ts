import { writeFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import { endpointList } from '../api/openapi/endpoint-list';
import { startApi } from '../api/start';
import { readEnvironment } from '../platform/config/env';
import type { OpenApiDocument } from '../platform/http/openapi';
import { createLog } from '../platform/log/log';
import { makeTempDir } from '../platform/testing/temp-dir';

/** Where the list is, from the root of the project. */
export const endpointsPage = 'docs/endpoints.md';

const introduction = `# Endpoints

Every endpoint with the permission it needs, from the contracts that validate it; \`npm run docs:endpoints\` writes this page.
What each takes and answers is in \`GET /api/openapi.json\`; what they have in common in [http.md](http.md).
`;

/** The page as it should be, from an API that is started for it; no Temporal is needed to describe what does. */
export async function describeEndpoints(): Promise<string> {
  const directory = await makeTempDir('endpoints');
  const connection = Connection.lazy({ address: '127.0.0.1:1' });
  try {
    const settings = { BOARD_PORT: '0', BOARD_AUTH_ENABLED: 'false', NODE_ENV: 'test' };
    const env = readEnvironment({ ...settings, BOARD_DATA_DIR: directory.path });
    const api = await startApi(env, createLog({ name: 'endpoints', level: 'silent' }), new Client({ connection }));
    try {
      const document = (await (await fetch(`${api.url}/api/openapi.json`)).json()) as OpenApiDocument;
      return `${introduction}\n${endpointList(document)}\n`;
    } finally {
      await api.close();
    }
  } finally {
    await connection.close();
    await directory.remove();
  }
}

if (require.main === module) void describeEndpoints().then((page) => writeFile(endpointsPage, page));
