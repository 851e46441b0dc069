import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { adminKey, agentKey, startSecuredStack } from '../../support/stack/secured-stack';
import type { Stack } from '../../support/stack/stack';

const root = join(__dirname, '..', '..', '..');
/** It looks for its version one folder above the one that it is started in. */
const inspectorFolder = join(root, 'node_modules', '@modelcontextprotocol', 'inspector-cli', 'build');

let stack: Stack;
beforeAll(async () => {
  ({ stack } = await startSecuredStack());
});
afterAll(() => stack.close());

/** Runs the command line of the official inspector, as a person does who examines a server. */
async function inspect(target: string[], environment: Record<string, string>, ...args: string[]) {
  const inspector = spawn(process.execPath, ['index.js', ...target, ...args], {
    cwd: inspectorFolder,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([
    text(inspector.stdout),
    text(inspector.stderr),
    once(inspector, 'close') as Promise<[number]>,
  ]);
  return { code, output, errors };
}

const overHttp =
  (key: string) =>
  (...args: string[]) =>
    inspect([`${stack.url}/mcp`], {}, '--transport', 'http', '--header', `X-API-Key: ${key}`, ...args);

const overStdio =
  (key: string) =>
  (...args: string[]) =>
    inspect(
      [process.execPath, join(root, 'dist', 'cli', 'main.js'), 'mcp'],
      { XDG_CONFIG_HOME: stack.dir, RUNBOARD_URL: stack.url, RUNBOARD_KEY: key },
      ...args,
    );

describe.each([
  ['over HTTP', overHttp],
  ['over standard streams', overStdio],
])('the tools of the board for the official inspector %s', (title, withKey) => {
  const json = async (...args: string[]) => {
    const { code, output, errors } = await withKey(adminKey)(...args);
    expect([code, errors]).toEqual([0, '']);
    return JSON.parse(output);
  };

  it('are listed with their schemas and annotations', async () => {
    const { tools } = await json('--method', 'tools/list');
    const find = (name: string) => tools.find((tool: { name: string }) => tool.name === name);
    expect(find('list_tasks')).toMatchObject({ inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
    expect(find('stop_run')).toMatchObject({ annotations: { destructiveHint: true } });
  });

  it('are called: what one creates is listed, found and refused as it should be', async () => {
    const project = title.replaceAll(' ', '-');
    const create = ['--tool-arg', 'title=Mend the door', `project=${project}`];
    const created = await json('--method', 'tools/call', '--tool-name', 'create_task', ...create);
    const { id } = JSON.parse(created.content[0].text);
    const listed = await json(
      '--method',
      'tools/call',
      '--tool-name',
      'list_tasks',
      '--tool-arg',
      `project=${project}`,
    );
    expect(JSON.parse(listed.content[0].text)).toMatchObject({ total: 1, tasks: [{ id, title: 'Mend the door' }] });
    const absent = ['--tool-arg', 'taskId=task_20260101_absent'];
    const refused = await json('--method', 'tools/call', '--tool-name', 'get_task', ...absent);
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('NOT_FOUND') }] });

    const { resources } = await json('--method', 'resources/list');
    const uri = `runboard://tasks/${id}`;
    expect(resources).toContainEqual(expect.objectContaining({ uri, title: 'Mend the door' }));
    const read = await json('--method', 'resources/read', '--uri', uri);
    expect(JSON.parse(read.contents[0].text)).toMatchObject({ id, project });
    const { resourceTemplates } = await json('--method', 'resources/templates/list');
    expect(resourceTemplates).toHaveLength(2);
  });

  it('have prompts beside them', async () => {
    const { prompts } = await json('--method', 'prompts/list');
    expect(prompts.map(({ name }: { name: string }) => name)).toContain('pick_up_next_task');
    const { messages } = await json('--method', 'prompts/get', '--prompt-name', 'pick_up_next_task');
    expect(messages[0].content).toMatchObject({ type: expect.stringMatching(/text|resource/) });
  });

  it('do nothing without a key that the board accepts', async () => {
    const list = ['--method', 'tools/call', '--tool-name', 'list_tasks'];
    const refused = await withKey('not-a-key-of-this-board-at-all-0123')(...list);
    expect(refused.code !== 0 || JSON.parse(refused.output).isError).toBe(true);
    expect((await withKey(agentKey)(...list)).code).toBe(0);
  });
});
