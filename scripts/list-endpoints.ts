import { writeFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import { startApi } from '../api/start';
import { endpointList } from '../api/system/openapi/endpoint-list';
import { roleList } from '../api/system/openapi/role-list';
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

/** Where the roles are, from the root of the project. */
export const rolesPage = 'docs/use/identity/roles.md';

const rolesIntroduction = `# Roles

Which role has which permission, which permission each operation needs, and so which roles may call it; \`npm run docs:endpoints\` writes this page.

A caller has one role in a workspace. Its permissions are those of the role, fewer where its credential was approved for less. An
operation declares one permission (\`x-permission\` in the OpenAPI document), and a test calls each with every role.

- A caller of the role \`read-only\` calls nothing but \`GET\`: anything else is 403 \`WRITE_FORBIDDEN\` whatever its permissions. A person with that
  role may still change what is its own: its name, its workspace, its token, and accept an invitation ([people](people.md#what-is-your-own)).
- Without the permission: 403 \`FORBIDDEN\` with \`details {required, currentRole, currentPermissions}\`.
- Some operations need more for some requests: \`GET /api/notifications\` needs \`admin:manage\` for those of all agents, and
  \`DELETE /api/agents/register/{id}\` needs \`agent:write\` for another agent than the caller.
- Permissions that no operation needs are reserved for operations that are not there yet.
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

/** The pages that are made from the OpenAPI document, as they should be, by where they are. */
export async function describeOperations(): Promise<Record<string, string>> {
  const document = await readOpenApi();
  return {
    [endpointsPage]: `${introduction}\n${endpointList(document)}\n`,
    [rolesPage]: `${rolesIntroduction}\n${roleList(document)}\n`,
  };
}

async function writePages(): Promise<void> {
  for (const [path, page] of Object.entries(await describeOperations())) {
    await writeFile(path, page);
  }
}

if (require.main === module) {
  void writePages();
}
