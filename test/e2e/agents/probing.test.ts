import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
const example = resolve(__dirname, '../../../examples/acp-agent');

beforeAll(async () => {
  // No disk of a test machine has a TiB left, so that previews warn.
  stack = await startStack({ BOARD_DISK_MIN_FREE_MB: '1048576' });
  await stack.call.addRepository('sample', await aRepository(stack.dir));
});

afterAll(() => stack.close());

const acp = (file: string) => ({
  type: 'scripted',
  name: 'S',
  provider: 'acp',
  command: process.execPath,
  args: [file],
});
const missing = (command: string) => ({ type: 'missing', name: 'M', provider: 'process', command });
const aTask = () => stack.call.createTask({ title: 'x', git: { repo: 'sample' } });
const support = async (agent: string) => {
  const { agents } = await stack.call.ok('GET', '/api/config/agent-support');
  return agents.find(({ agentType }: { agentType: string }) => agentType === agent);
};

describe('the probe of an agent', () => {
  test('the manifests of hosts are listed, and a changed agent is probed again', async () => {
    const source = await readFile(join(example, 'agent.mjs'), 'utf8');
    const script = source
      .replaceAll(`from './`, `from '${example}/`)
      .replace('@agentclientprotocol/sdk/unstable', require.resolve('@agentclientprotocol/sdk/unstable'));
    const file = join(stack.dir, 'agent.mjs');
    await writeFile(file, script);
    await stack.call.configureAgents([
      acp(file),
      missing('/nowhere/agent'),
      { ...missing('true'), type: 'off', enabled: false },
    ]);

    const task = await aTask();
    const preview = await stack.call.ok('POST', `/api/agents/${task.id}/launch-preview`, { agent: 'scripted' });
    expect(preview.dependencyCircuits).toEqual([
      { dependency: 'agent:scripted', provider: 'acp', state: 'closed', failures: 0 },
    ]);
    expect(preview.warnings).toEqual([
      {
        code: 'disk-space-low',
        message: expect.stringContaining(`The host ${stack.worker.hostId} has `),
        remedy: expect.stringContaining('BOARD_DISK_MIN_FREE_MB'),
      },
    ]);
    expect(preview.warnings[0].message).not.toContain(stack.env.BOARD_DATA_DIR);
    expect(JSON.stringify(preview.manifest)).not.toContain('disk-space-low');
    expect(await support('scripted')).toMatchObject({
      supportTier: 'detected',
      failureClass: 'none',
      transport: 'acp',
      providerVersion: 'example-acp-agent 1.0.0',
      executableFound: true,
    });
    expect(await support('off')).toMatchObject({ failureClass: 'disabled' });

    await writeFile(file, script.replace("version: '1.0.0'", "version: '2.0.0'"));
    const again = await stack.call.ok('POST', `/api/agents/${task.id}/launch-preview`, { agent: 'scripted' });
    expect(again.manifest.providerRuntime.digest).not.toBe(preview.manifest.providerRuntime.digest);
    expect(await support('scripted')).toMatchObject({ providerVersion: 'example-acp-agent 2.0.0' });
  });

  test('an agent that fails to start again and again is left alone for a while, until it is changed', async () => {
    const file = join(stack.dir, 'late');
    await stack.call.configureAgents([missing(file)]);
    const task = await aTask();
    const launch = () => stack.call.post(`/api/agents/${task.id}/start`, { agent: 'missing' });
    for (let n = 0; n < 3; n += 1) {
      expect(await launch()).toMatchObject({
        status: 409,
        body: { code: n < 2 ? 'AGENT_UNAVAILABLE' : 'CIRCUIT_OPEN' },
      });
    }
    const { body } = await launch();
    expect(body).toMatchObject({ code: 'CIRCUIT_OPEN', details: { agent: 'missing', failures: 3 } });
    expect(body.details.retryAfterMs).toBeGreaterThan(0);
    expect(body.details.retryAfterMs).toBeLessThanOrEqual(30_000);
    await eventually(async () => {
      expect(await support('missing')).toMatchObject({ failureClass: 'not-installed', circuit: { state: 'open' } });
    });

    await writeFile(file, '#!/bin/sh\nexit 0\n');
    await chmod(file, 0o755);
    await stack.call.configureAgents([{ ...missing(file), name: 'Installed' }]);
    expect(await launch()).toMatchObject({ status: 201 });
  });
});
