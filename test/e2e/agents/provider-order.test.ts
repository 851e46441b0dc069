import { createLog } from '../../../platform/log/log';
import { createAcpProvider } from '../../../providers/agents/acp/acp-provider';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import type { AgentProvider } from '../../../providers/agents/provider';
import { openDatabase } from '../../../stores/port/open';
import { type AttemptRecord, type AttemptStore, createAttemptStore } from '../../../stores/runs/attempt-store';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { exampleAgent } from '../../support/runs/example-agent';
import { type Stack, startStack } from '../../support/stack/stack';

/** One call of a provider's function, and the attempt as it was stored at that moment. */
interface Spied {
  call: 'run' | 'endOrphans';
  attemptId: string;
  stored: AttemptRecord | undefined;
}

const calls: Spied[] = [];
let attempts: AttemptStore;
let stack: Stack;
let close: () => Promise<void>;

/** The provider itself, which first reads the record of the attempt it is called for. */
const spied = (provider: AgentProvider): AgentProvider => ({
  ...provider,
  async run(dispatch, sink, signal) {
    const { attemptId } = dispatch;
    calls.push({ call: 'run', attemptId, stored: await attempts.get(attemptId) });
    return provider.run(dispatch, sink, signal);
  },
  async endOrphans(attemptId, process, graceMs) {
    calls.push({ call: 'endOrphans', attemptId, stored: await attempts.get(attemptId) });
    return provider.endOrphans(attemptId, process, graceMs);
  },
});

describe('order of provider operations', () => {
  beforeAll(async () => {
    stack = await startStack({}, { providers: [createProcessProvider(), createAcpProvider()].map(spied) });
    const database = await openDatabase({
      mongoUrl: stack.env.MONGODB_URL,
      dataDir: stack.env.BOARD_DATA_DIR,
      log: createLog({ name: 'test', level: 'silent' }),
    });
    attempts = await createAttemptStore(database);
    close = () => database.close();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      scriptAgent('worker-bee'),
      exampleAgent(stack.dir),
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });

  afterAll(async () => {
    await close();
    await stack.close();
  });

  const callsOf = (attemptId: string) => calls.filter((call) => call.attemptId === attemptId);

  /** What a launch is bound by, and nothing may change once it is stored. */
  const contractOf = (record: AttemptRecord | undefined) => {
    const { providerRuntimeManifest, runLaunchManifest, taskEnvelope, transport, launch } = record ?? {};
    return { providerRuntimeManifest, runLaunchManifest, taskEnvelope, transport, launch };
  };

  const complete = {
    providerRuntimeManifest: { schemaVersion: 'provider-runtime-manifest/v1', digest: expect.any(String) },
    runLaunchManifest: { schemaVersion: 'run-launch-manifest/v1', digest: expect.any(String) },
    taskEnvelope: { schemaVersion: 'task-envelope/v1', digest: expect.any(String) },
    transport: { digest: expect.any(String) },
    launch: { status: 'running' },
  };

  test.each([
    ['process', 'worker-bee'],
    ['acp', 'scripted'],
  ])('a %s provider is not called before attempt, manifest and envelope are stored, as they stay', async (_, agent) => {
    const task = await stack.call.createTask({ title: 'x', description: 'say Done.', git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(task.id, { agent });
    await stack.call.ended(task.id);
    const seen = callsOf(attemptId);
    expect(seen.map(({ call }) => call)).toEqual(['run']);
    expect(seen[0]?.stored).toMatchObject({ state: 'dispatched', ...complete });
    expect(contractOf(await attempts.get(attemptId))).toEqual(contractOf(seen[0]?.stored));
  });

  test('a remote agent is not notified of a launch before all of it is stored, and no provider here is called', async () => {
    const task = await stack.call.createTask({ title: 'x', git: { repo: 'sample' } });
    const started = await stack.call.start(task.id, { agent: 'elsewhere' });
    const stored = await attempts.get(started.attemptId);
    expect(stored).toMatchObject(complete);
    expect(started).toMatchObject({
      providerRuntimeManifestDigest: stored?.providerRuntimeManifest?.digest,
      runLaunchManifestDigest: stored?.runLaunchManifest?.digest,
    });
    await stack.call.ok('POST', `/api/agents/${task.id}/complete`, { attemptId: started.attemptId, success: true });
    expect(contractOf(await attempts.get(started.attemptId))).toEqual(contractOf(stored));
    expect(callsOf(started.attemptId)).toEqual([]);
  });

  test('a launch whose contract cannot be stored reaches no provider', async () => {
    const task = await stack.call.createTask({ title: 'x', git: { repo: 'sample', baseBranch: 'nowhere' } });
    const before = calls.length;
    const refused = await stack.call.post(`/api/agents/${task.id}/start`, { agent: 'worker-bee' });
    expect(refused.status).toBe(409);
    expect(calls).toHaveLength(before);
  });
});
