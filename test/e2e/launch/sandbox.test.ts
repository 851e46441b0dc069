import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { scriptAgent } from '../../support/caller';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let server: Server;
let port: number;

/** Asks for a URL by the proxy of the sandbox, if it has one. */
const asking = String.raw`
const target = process.argv[1];
const proxy = process.env.HTTP_PROXY ? new URL(process.env.HTTP_PROXY) : new URL(target);
require('node:http')
  .get({ host: proxy.hostname, port: proxy.port, path: target }, (r) => console.log(r.statusCode))
  .on('error', () => console.log('unreachable'));
`;

/** Tries what the preset forbids, commits what it is asked for, and reports what it found. */
const curious = String.raw`
read -r task
data=$(ls "$1" 2>/dev/null | tr '\n' ' ')
secret=$(cat secret.txt 2>/dev/null)
network=$("$2" -e "$4" "$3")
echo work > work.txt
git -c user.name=A -c user.email=a@x add work.txt && git -c user.name=A -c user.email=a@x commit -q -m 'Add work'
printf '{"type":"result","status":"success","summary":"data[%s] secret[%s] network[%s]"}\n' "$data" "$secret" "$network"
`;

beforeAll(async () => {
  server = createServer((_request, response) => response.end('reached'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
  stack = await startStack();
  await stack.call.addRepository('sample', await aRepository(stack.dir));
  const target = `http://127.0.0.1:${port}/`;
  await stack.call.configureAgents([
    {
      type: 'curious',
      name: 'Curious',
      provider: 'process',
      command: 'sh',
      args: ['-c', curious, 'agent', stack.env.BOARD_DATA_DIR, process.execPath, target, asking],
    },
    { ...scriptAgent('worker-bee'), type: 'jailed', hostEnforced: ['network.disable'] },
    { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
  ]);
  for (const preset of [
    { id: 'closed', name: 'Closed', filesystem: { deniedPaths: ['secret.txt'] }, network: { defaultEgress: 'deny' } },
    {
      id: 'listed',
      name: 'Listed',
      network: { defaultEgress: 'deny', allowedHosts: ['example.org'] },
      resources: { processes: 500 },
    },
    { id: 'seen', name: 'Seen', network: { allowedMethods: ['GET'] } },
    { id: 'advised', name: 'Advised', enforcement: 'advisory', network: { allowedMethods: ['GET'] } },
  ]) {
    await stack.call.ok('POST', '/api/sandbox-policies', preset);
  }
});

afterAll(async () => {
  await stack.close();
  await new Promise((done) => server.close(done));
});

const aTask = () => stack.call.createTask({ title: 'Do it', git: { repo: 'sample' } });

describe('a run with a sandbox preset', () => {
  test('works and commits in its worktree, and reaches nothing else; what was enforced is in its contract', async () => {
    const task = await aTask();
    const { manifest } = await stack.call.ok('POST', `/api/agents/${task.id}/launch-preview`, {
      agent: 'curious',
      sandboxPresetId: 'closed',
    });
    expect(manifest.sandbox).toMatchObject({
      presetId: 'closed',
      controls: [
        { control: 'filesystem.deniedPaths', capabilityId: 'filesystem.deny-paths', enforced: true },
        { control: 'network.defaultEgress', capabilityId: 'network.disable', enforced: true },
      ],
      confinement: { mechanism: 'bubblewrap', network: 'none' },
    });
    await stack.call.start(task.id, { agent: 'curious', sandboxPresetId: 'closed' });
    const { runLaunchManifest, attempt, providerRuntimeManifest } = await stack.call.ended(task.id);
    const { completion } = attempt;
    expect(runLaunchManifest).toEqual(manifest);
    expect(completion).toMatchObject({
      status: 'success',
      summary: 'data[envelopes worktrees ] secret[] network[unreachable]',
      harness: {
        commits: [{ subject: 'Add work' }],
        sandbox: { mechanism: 'bubblewrap', presetId: 'closed', network: 'none' },
      },
    });
    expect(completion.harness.sandbox.hidden).toContainEqual(expect.stringMatching(/\/secret\.txt$/));
    expect(providerRuntimeManifest.capabilities).toContainEqual(
      expect.objectContaining({ id: 'network.disable', state: 'supported', source: 'host-enforced' }),
    );
    expect(await git(runLaunchManifest.runtime.workingDirectory, 'status', '--porcelain')).toBe('');
  });

  test('is counted where its proxy lets it out or not', async () => {
    const task = await aTask();
    const { attemptId } = await stack.call.start(task.id, { agent: 'curious', sandboxPresetId: 'listed' });
    const { attempt } = await stack.call.ended(task.id);
    const { completion } = attempt;
    expect(completion.summary).toContain('network[403]');
    expect(completion.harness.sandbox).toMatchObject({ network: 'proxy', egress: { allowed: 0, denied: 1 } });
    expect(completion.harness.sandbox.limits.processes.value).toBe(500);
    const events = await stack.call.ok('GET', `/api/telemetry/events/task/${task.id}?type=network.egress`);
    expect(events).toEqual([
      expect.objectContaining({
        type: 'network.egress',
        attemptId,
        details: expect.objectContaining({ presetId: 'listed', allowed: 0, denied: 1 }),
      }),
    ]);
  });

  test('is refused where its host cannot enforce the preset, with the rule and the capability', async () => {
    const task = await aTask();
    for (const path of ['start', 'launch-preview']) {
      const refused = await stack.call.post(`/api/agents/${task.id}/${path}`, {
        agent: 'curious',
        sandboxPresetId: 'seen',
      });
      expect(refused).toMatchObject({
        status: 409,
        body: {
          code: 'LAUNCH_NOT_ENFORCEABLE',
          details: { blockers: [{ code: 'sandbox-unenforced:network.allowedMethods', remedy: expect.any(String) }] },
        },
      });
    }
    const elsewhere = await stack.call.post(`/api/agents/${task.id}/start`, {
      agent: 'elsewhere',
      sandboxPresetId: 'closed',
    });
    expect(elsewhere.status).toBe(409);
  });

  test('is warned where the preset only advises, and confined as far as that goes', async () => {
    const task = await aTask();
    await stack.call.start(task.id, { agent: 'curious', sandboxPresetId: 'advised' });
    const { runLaunchManifest, attempt } = await stack.call.ended(task.id);
    const { completion } = attempt;
    expect(runLaunchManifest.enforcement.warnings).toContainEqual(
      expect.objectContaining({ code: 'sandbox-unenforced:network.allowedMethods' }),
    );
    expect(completion).toMatchObject({
      status: 'success',
      harness: { sandbox: { presetId: 'advised', network: 'proxy' } },
    });
  });

  test('is not confined once more where the command of its agent does that', async () => {
    const task = await aTask();
    const refused = await stack.call.post(`/api/agents/${task.id}/launch-preview`, {
      agent: 'jailed',
      sandboxPresetId: 'closed',
    });
    expect(refused).toMatchObject({
      status: 409,
      body: { details: { blockers: [{ code: 'sandbox-unenforced:filesystem.deniedPaths' }] } },
    });
  });
});
