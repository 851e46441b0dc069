import { keepWork, type KeepWorkDependencies } from '../../activities/agent-run/completion/keep-work';
import { type CallRulesContext, needsApproval } from '../../api/integrations/tool-servers/call-rules';
import type { Phase } from '../../contracts/common';
import { runtimeManifest } from '../../domain/capabilities';
import type { TerminalClaim } from '../../domain/completion';
import { compileContract } from '../../domain/contract';
import { compilePhase } from '../../domain/phases/evidence';
import { createLog } from '../../platform/log/log';
import { newRecordId } from '../../platform/operations/operation';
import { makeTempDir } from '../../platform/testing/temp-dir';
import type { Database } from '../../stores/port/collection';
import { openDatabase } from '../../stores/port/open';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { createPhaseStore, type PhaseChange, type PhaseStore } from '../../stores/runs/phase-store';
import { aContractInput } from '../support/factories/contract';
import { confinedAgent } from '../support/runs/phases';

const begunAt = '2026-01-01T00:00:00.000Z';
const expiresAt = '2026-01-01T01:00:00.000Z';
const runtime = runtimeManifest(
  'process',
  { ok: true, diagnostics: [] },
  { probedAt: begunAt, hostEnforced: confinedAgent().hostEnforced },
);
const evidenceOf = (phase: Phase) => compilePhase({ phase }, {}, runtime).evidence;
const launchEvidence = evidenceOf('implement');
const prior = evidenceOf('explore');
const { taskEnvelope } = compileContract({ ...aContractInput({ runtime }), phaseEvidence: launchEvidence });
const attempt = {
  ...aContractInput(),
  agent: 'bee',
  agentConfig: { type: 'bee', name: 'Bee' },
  commitPolicy: 'allowed',
  providerRuntimeManifest: runtime,
  taskEnvelope,
  baseline: { dirty: false, gitDir: '/git', identity: 'one' },
};

/** A minute before the end of the emergency, and one after it. */
const moments = [
  ['lasts', '2026-01-01T00:59:00.000Z'],
  ['is over, although no worker has recorded that', '2026-01-01T01:01:00.000Z'],
] as const;

describe('an emergency phase', () => {
  let directory: Awaited<ReturnType<typeof makeTempDir>>;
  let database: Database;
  let phases: PhaseStore;
  let record: AttemptRecord;
  beforeAll(async () => {
    directory = await makeTempDir('emergency');
    database = await openDatabase({ dataDir: directory.path, log: createLog({ name: 'test', level: 'silent' }) });
    phases = await createPhaseStore(database);
  });
  beforeEach(async () => {
    record = { ...attempt, _id: newRecordId('attempt') } as unknown as AttemptRecord;
    const { _id, taskId } = record;
    await phases.begin({
      _id,
      taskId,
      launchPhase: 'implement',
      launchEvidence,
      evidence: launchEvidence,
      manifestDigest: `sha256:${'a'.repeat(64)}`,
      sources: {},
    });
    const changed = async (fields: Partial<PhaseChange['entry']>, emergency: PhaseChange['emergency']) => {
      const entry = { at: begunAt, ...fields } as PhaseChange['entry'];
      await phases.change((await phases.get(_id))!, { evidence: entry.evidence, emergency, entry });
    };
    await changed({ sequence: 1, operationId: 'look', kind: 'transition', evidence: prior }, null);
    await changed(
      { sequence: 2, operationId: 'fire', kind: 'emergency', evidence: launchEvidence },
      { operationId: 'fire', expiresAt, prior },
    );
  });
  afterAll(async () => {
    await database.close();
    await directory.remove();
  });

  const mayCall = async (at: string): Promise<boolean> => {
    const context = {
      phases,
      now: () => new Date(at),
      rules: { decide: async () => ({ decision: 'allow', reasons: [] }) },
      routing: { inputs: async () => ({ roster: undefined }) },
    } as unknown as CallRulesContext;
    const called = { server: { serverId: 'ledger' }, tool: { name: 'append', policy: 'allowed' } };
    const asked = { record, called: called as never, callId: 'call_1' };
    return needsApproval(context, asked).then(
      () => true,
      () => false,
    );
  };

  const reasonToWithhold = async (at: string): Promise<string | undefined> => {
    const storeWork = jest.fn(async (_work: { withhold?: string }) => undefined);
    const deps = { phases, now: () => new Date(at), agentSettings: async () => ({ commitUncommitted: true }) };
    const claim = { status: 'success', summary: 'done', harness: { changedFiles: [{ path: 'a', status: 'added' }] } };
    await keepWork(deps as unknown as KeepWorkDependencies, record, {
      claim: claim as unknown as TerminalClaim,
      git: { storeWork },
    });
    return storeWork.mock.calls[0]?.[0].withhold;
  };

  it.each(moments)('allows calls of tools only while it lasts: it %s', async (_, at) => {
    expect(await mayCall(at)).toBe(at < expiresAt);
  });

  it.each(moments)('allows commits only while it lasts: it %s', async (_, at) => {
    expect(await reasonToWithhold(at)).toBe(at < expiresAt ? undefined : 'The phase explore allows no commits.');
  });
});
