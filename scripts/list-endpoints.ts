import { writeFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import { startApi } from '../api/start';
import { endpointList } from '../api/system/openapi/endpoint-list';
import { readEnvironment } from '../platform/config/env';
import type { OpenApiDocument } from '../platform/http/routing/openapi';
import { createLog } from '../platform/log/log';
import { makeTempDir } from '../platform/testing/temp-dir';

/** Where the list is, from the root of the project. */
export const endpointsPage = 'docs/use/endpoints.md';

const introduction = `# Endpoints

Every endpoint with the permission it needs, from the contracts that validate it; \`npm run docs:endpoints\` writes this page.
What each takes and answers is in \`GET /api/openapi.json\`; what they have in common in [http.md](http.md).
`;

/** Reads the OpenAPI document from an API that is started for it; no Temporal is needed to describe what uses it. */
export async function readOpenApi(): Promise<OpenApiDocument> {
  const directory = await makeTempDir('endpoints');
  const connection = Connection.lazy({ address: '127.0.0.1:1' });
  try {
    const settings = { BOARD_PORT: '0', BOARD_AUTH_ENABLED: 'false', NODE_ENV: 'test' };
    const env = readEnvironment({ ...settings, BOARD_DATA_DIR: directory.path });
    const api = await startApi(env, createLog({ name: 'endpoints', level: 'silent' }), {
      client: new Client({ connection }),
    });
    try {
      return (await (await fetch(`${api.url}/api/openapi.json`)).json()) as OpenApiDocument;
    } finally {
      await api.close();
    }
  } finally {
    await connection.close();
    await directory.remove();
  }
}

/** Writes the page of endpoints as it should be. */
export async function describeEndpoints(): Promise<string> {
  return `${introduction}\n${endpointList(await readOpenApi())}\n`;
}

if (require.main === module) {
  void describeEndpoints().then((page) => writeFile(endpointsPage, page));
}
