import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { openToolServer } from '../../../providers/tool-servers/open-tool-server';
import type { ToolServerConnection } from '../../../providers/tool-servers/tool-server';
import { aToolServer, programOf } from '../../support/factories/tool-server';
import { anEnvironment } from '../../support/tool-servers/environment';

const { signal } = new AbortController();
const timeoutMs = 20_000;
const open: ToolServerConnection[] = [];

const start = async (...definition: Parameters<typeof aToolServer>): Promise<ToolServerConnection> => {
  const connection = await openToolServer(aToolServer(...definition), anEnvironment());
  open.push(connection);
  return connection;
};

let directory: TempDir;
beforeEach(async () => {
  directory = await makeTempDir('tool-servers');
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close()));
  await directory.remove();
});

describe('real tool servers', () => {
  it('lists and calls the tools of the server "everything"', async () => {
    const connection = await start({ deniedTools: ['get-env'], approvalRequiredTools: ['get-sum'] });

    const { tools, truncated } = await connection.listTools(signal);
    expect(connection.server.name).toMatch(/everything/);
    expect(truncated).toBe(false);
    const policies = Object.fromEntries(tools.map(({ name, policy }) => [name, policy]));
    expect(policies).toMatchObject({ echo: 'allowed', 'get-env': 'denied', 'get-sum': 'approval-required' });
    expect(tools.find(({ name }) => name === 'echo')?.inputSchema).toMatchObject({ type: 'object' });

    const echoed = await connection.callTool({ name: 'echo', arguments: { message: 'hello' }, signal, timeoutMs });
    expect(echoed).toEqual({ content: [{ type: 'text', text: 'Echo: hello' }], isError: false, truncated: false });
    const failed = await connection.callTool({ name: 'get-sum', arguments: { a: 'x' }, signal, timeoutMs });
    expect(failed.isError).toBe(true);
  });

  it('calls the server "filesystem" within its directory only', async () => {
    writeFileSync(join(directory.path, 'note.txt'), 'remember');
    const connection = await start({ transport: programOf('filesystem', directory.path) });

    const read = (path: string) =>
      connection.callTool({ name: 'read_text_file', arguments: { path }, signal, timeoutMs });
    expect((await read(join(directory.path, 'note.txt'))).content).toEqual([{ type: 'text', text: 'remember' }]);
    expect(await read('/etc/hostname')).toMatchObject({ isError: true });
  });

  it('stores with the server "memory" and reads it again', async () => {
    const file = join(directory.path, 'memory.jsonl');
    const definition = { transport: { ...programOf('memory'), environmentKeys: ['MEMORY_FILE_PATH'] } };
    const environment = anEnvironment({ MEMORY_FILE_PATH: file });
    const call = async (name: string, given: Record<string, unknown>) => {
      const connection = await openToolServer(aToolServer(definition), environment);
      open.push(connection);
      return connection.callTool({ name, arguments: given, signal, timeoutMs });
    };

    await call('create_entities', { entities: [{ name: 'bee', entityType: 'insect', observations: ['hums'] }] });
    const { structuredContent } = await call('read_graph', {});
    expect(structuredContent).toMatchObject({ entities: [{ name: 'bee', observations: ['hums'] }] });
  });
});
