import type { Phase } from '../../contracts/common';
import { recordedLaunchManifest, runLaunchManifest } from '../../contracts/runs/launch/manifest';
import { digestOf } from '../../platform/json/digest';
import { anAgent } from '../../test/support/factories/agent';
import { aContractInput as input, aPreset, aProfile } from '../../test/support/factories/contract';
import { aTask, factoryTime as at } from '../../test/support/factories/task';
import { runtimeManifest } from '../capabilities';
import { compilePhase } from '../phases/evidence';
import {
  commitPolicyOf,
  compileContract,
  driftOf,
  enforcementProblem,
  objectiveOf,
  renderRecorded,
  renderTransport,
} from '.';
import type { ContractInput } from './input';
import { secretProblem } from './secrets';

const agent = anAgent();

describe('the contract', () => {
  test('has the digests it always had: what they cover is what other releases will check', () => {
    const { taskEnvelope, runLaunchManifest: manifest, sections } = compileContract(input());
    const transport = renderTransport({
      attemptId: 'attempt_aaaaaaaa',
      taskId: taskEnvelope.taskId,
      adapter: 'process/v1',
      envelope: taskEnvelope,
      sections,
    });
    expect({
      envelope: taskEnvelope.digest,
      manifest: manifest.digest,
      transport: transport.digest,
    }).toMatchInlineSnapshot(`
      {
        "envelope": "sha256:3da28b10df20085f3d160fd8ea6ccb6df7643b75d692035c49dfdfdae67e7a10",
        "manifest": "sha256:86bc8af154f52633308f382ae910e2ea0e16536841073e0ae25a12d71b5f4581",
        "transport": "sha256:69520c6dc7c79fedf02bb0f51f036928565295f09410f271468027bd7649ee8e",
      }
    `);
  });

  test('depends on the input only, and each digest covers the rest of its document', () => {
    const first = compileContract(input());
    expect(compileContract(input())).toEqual(first);
    for (const { digest, ...document } of [first.taskEnvelope, first.runLaunchManifest]) {
      expect(digestOf(document)).toBe(digest);
    }
    expect(first.runLaunchManifest.taskEnvelope.digest).toBe(first.taskEnvelope.digest);
    expect(runLaunchManifest.parse(first.runLaunchManifest)).toEqual(first.runLaunchManifest);
  });

  test('of another objective is another one', () => {
    const other = input({ objective: objectiveOf(aTask({ description: 'later' })) });
    expect(compileContract(other).runLaunchManifest.digest).not.toBe(compileContract(input()).runLaunchManifest.digest);
  });

  test('reports what is run and where each value comes from, without the words the agent is given', () => {
    const { runLaunchManifest: manifest } = compileContract(
      input({
        objective: objectiveOf(
          aTask({ description: 'Very private words', checkpoint: { step: 2, state: { at: 'x' } } }),
        ),
        profile: aProfile(),
        message: { text: 'Please hurry', actor: 'user:ann' },
      }),
    );
    expect(manifest.instructions.map(({ id, kind, origin }) => ({ id, kind, origin }))).toEqual([
      { id: 'objective', kind: 'task', origin: 'task:task_20260101_aaaaaa' },
      { id: 'profile-instructions', kind: 'profile', origin: 'profile:careful' },
      { id: 'checkpoint', kind: 'checkpoint', origin: 'task:task_20260101_aaaaaa' },
      { id: 'conversation-message', kind: 'conversation', origin: 'user:ann' },
    ]);
    expect(manifest.origins).toContainEqual({
      field: 'agent',
      scope: 'profile',
      source: 'profile:careful',
      precedence: 3,
    });
    const text = JSON.stringify(manifest);
    for (const words of ['Very private words', 'Take care.', 'Please hurry']) {
      expect(text).not.toContain(words);
    }
  });

  test('of an early release can still be read', () => {
    const early = {
      schemaVersion: 'run-launch-manifest/v1',
      taskId: 'task_20260101_aaaaaa',
      attemptId: 'attempt_aaaaaaaa',
      providerRuntime: { digest: `sha256:${'0'.repeat(64)}`, provider: 'process', probeRevision: 1 },
      taskEnvelope: { digest: `sha256:${'0'.repeat(64)}` },
      routing: { requestedAgent: null, selectedAgent: 'bee', reason: 'default agent' },
      runtime: { command: 'bee', args: [], model: null, environmentKeys: [] },
      instructions: [{ id: 'objective', kind: 'task', digest: `sha256:${'0'.repeat(64)}`, byteLength: 3 }],
      phase: { phase: 'implement', evidence: 'legacy' },
      origins: [{ field: 'agent', source: 'default agent' }],
      enforcement: { enforceable: true, blockers: [], warnings: [] },
      digest: `sha256:${'0'.repeat(64)}`,
    };
    expect(recordedLaunchManifest.parse(early)).toEqual(early);
  });
});

describe('a contract does not contradict itself', () => {
  const inPhase = (phase: Phase, fields: Partial<ContractInput> = {}) => {
    const runtime = input({}).runtime;
    const { evidence } = compilePhase({ phase }, {}, runtime);
    return compileContract(input({ phase, phaseEvidence: evidence, ...fields }));
  };

  test('a phase without writing allows neither writes nor commits', () => {
    const { taskEnvelope, runLaunchManifest } = inPhase('explore');
    expect(taskEnvelope).toMatchObject({ phase: 'explore', commitPolicy: 'forbidden' });
    expect(taskEnvelope.allowedSideEffects.map(({ kind }) => kind)).not.toEqual(
      expect.arrayContaining(['filesystem-write']),
    );
    expect(runLaunchManifest.permissions).toEqual({
      commitPolicy: 'forbidden',
      allowed: null,
      sideEffects: taskEnvelope.allowedSideEffects,
    });
    expect(inPhase('implement').taskEnvelope.commitPolicy).toBe('allowed');
    expect(inPhase('plan').taskEnvelope.allowedSideEffects).toContainEqual({
      kind: 'filesystem-write',
      scope: '.board/plan.md',
    });
  });

  test('a commit that is required and not allowed is refused; a setting gives way', () => {
    const required = (source: 'run' | 'task' | 'settings') =>
      inPhase('explore', { commitPolicy: { value: 'required', source } });
    expect(enforcementProblem(required('run').runLaunchManifest)).toMatchObject({
      details: { blockers: [{ code: 'commit-required-not-allowed' }] },
    });
    expect(required('task').runLaunchManifest.enforcement.enforceable).toBe(false);
    expect(required('settings')).toMatchObject({
      taskEnvelope: { commitPolicy: 'forbidden' },
      runLaunchManifest: { enforcement: { enforceable: true } },
    });
  });

  test('its time limit is the one that ends the run first', () => {
    const limitOf = (fields: Partial<ContractInput>) =>
      compileContract(input(fields)).runLaunchManifest.resources.timeoutMs;
    expect(limitOf({ timeoutMs: 500 })).toBe(500);
    expect(limitOf({ timeoutMs: 5_000 })).toBe(1_000);
    expect(limitOf({})).toBe(1_000);
    const elsewhere = { ...agent, provider: 'remote-callback' as const };
    expect(limitOf({ timeoutMs: 5_000, agent: elsewhere })).toBe(5_000);
  });
});

describe('what an agent is given', () => {
  test('is attributed, bounded and without secrets', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const objective = objectiveOf(
      aTask({
        description: 'x'.repeat(30_000),
        plan: `use ${token}`,
        checkpoint: { step: 1, state: { token, notes: 'y'.repeat(30_000) } },
      }),
    );
    const { taskEnvelope, sections } = compileContract(input({ objective, profile: aProfile() }));
    expect(taskEnvelope.objective.description).toHaveLength(20_000);
    expect(taskEnvelope.context.plan).toBe('use [REDACTED]');
    expect(sections.map(({ id, source, text }) => [id, source, text.length <= 20_000])).toEqual([
      ['profile-instructions', 'profile:careful', true],
      ['checkpoint', 'task:task_20260101_aaaaaa', true],
    ]);
    expect(JSON.stringify([taskEnvelope, sections])).not.toContain(token);
    expect(objective.notes).toHaveLength(4);
  });

  test('is rendered again as it was recorded, or not at all', () => {
    const { taskEnvelope: envelope, sections } = compileContract(input({ profile: aProfile() }));
    const of = { attemptId: 'attempt_aaaaaaaa', taskId: envelope.taskId, envelope };
    const transport = renderTransport({ ...of, adapter: 'process/v1', sections });
    expect(renderRecorded(of, transport)).toEqual(transport);
    const changed = sections.map((section) => ({ ...section, text: `${section.text} And more.` }));
    expect(renderRecorded(of, { ...transport, sections: changed })).toBeUndefined();
    const other = { ...envelope, objective: { ...envelope.objective, title: 'Something else' } };
    expect(renderRecorded({ ...of, envelope: other }, transport)).toBeUndefined();
  });

  test('names the gates of the task', () => {
    const { gates } = objectiveOf(
      aTask({
        verificationSteps: [{ id: 'v1', description: 'Tests pass', checked: false }],
        subtasks: [{ id: 's1', title: 'One', acceptanceCriteria: ['It works'] }],
      }),
    );
    expect(gates).toEqual([
      { id: 'v1', kind: 'verification-step', description: 'Tests pass' },
      { id: 's1.0', kind: 'acceptance-criterion', description: 'It works' },
    ]);
  });
});

test('a launch whose configuration holds a credential is refused, and reports where', () => {
  const with_ = (...args: string[]) => secretProblem({ ...agent, args }, null);
  expect(with_('--verbose', '--model', 'large')).toBeUndefined();
  expect(with_(`--header=Bearer ${'a1'.repeat(12)}`)?.details.fields).toEqual(['agent.args.0']);
  expect(with_('--api-key', 'correct-horse-battery')?.details.fields).toEqual(['agent.args.1']);
  const profile = aProfile({ instructions: 'password=correct-horse-battery' });
  expect(secretProblem(agent, profile)?.details.fields).toEqual(['profile.instructions']);
});

describe('enforcement', () => {
  const codes = (fields: Partial<ContractInput>) => {
    const { enforcement } = compileContract(input(fields)).runLaunchManifest;
    return {
      blockers: enforcement.blockers.map(({ code }) => code),
      warnings: enforcement.warnings.map(({ code }) => code),
    };
  };

  test.each([
    ['tools', { tools: { denied: ['shell'] } }],
    ['mcpServers', { mcpServers: [] }],
    ['permissions', { permissions: ['read'] }],
  ])('a restriction of %s that the adapter cannot keep blocks', (kind, restrictions) => {
    expect(codes({ profile: aProfile({ restrictions }) }).blockers).toEqual([`restriction-unenforceable:${kind}`]);
  });

  test('checks of the profile that do not hold block, those that hold do not', () => {
    const requiredChecks = [
      { kind: 'agent-enabled' },
      { kind: 'executable-found' },
      { kind: 'repository-configured' },
      { kind: 'capability', capability: 'run.start' },
      { kind: 'capability', capability: 'run.fork' },
    ];
    expect(codes({ profile: aProfile({ requiredChecks }) }).blockers).toEqual(['check-failed:capability:run.fork']);
    expect(codes({ profile: aProfile({ requiredChecks }), workspace: null }).blockers).toContain(
      'check-failed:repository-configured',
    );
  });

  test.each([
    ['filesystem.deniedPaths', { filesystem: { deniedPaths: ['.env'] } }],
    ['filesystem.writePaths', { filesystem: { writePaths: ['src'] } }],
    ['filesystem.dotfileMasking', { filesystem: { dotfileMasking: true } }],
    ['network.defaultEgress', { network: { defaultEgress: 'deny' } }],
    ['network.allowedHosts', { network: { defaultEgress: 'deny', allowedHosts: ['example.org'] } }],
    ['network.allowedMethods', { network: { allowedMethods: ['GET'] } }],
    ['filesystem.localOnlyHandles', { filesystem: { localOnlyHandles: true } }],
    ['resources.memoryMb', { resources: { memoryMb: 512 } }],
    ['resources.processes', { resources: { processes: 64 } }],
    ['network.blockPrivateNetwork', { network: { blockPrivateNetwork: true } }],
    ['network.blockMetadataEndpoints', { network: { blockMetadataEndpoints: true } }],
    ['credentials', { credentials: { mode: 'broker', brokerRefs: ['git'] } }],
  ])('the sandbox control %s blocks when it is required and warns when it is advisory', (control, fields) => {
    const code = `sandbox-unenforced:${control}`;
    expect(codes({ sandbox: aPreset(fields) }).blockers).toContain(code);
    const advisory = codes({ sandbox: aPreset({ ...fields, enforcement: 'advisory' }) });
    expect(advisory.blockers).toEqual([]);
    expect(advisory.warnings).toContain(code);
  });

  test('an environment allow-list is enforced', () => {
    expect(codes({ sandbox: aPreset({ environment: { passthrough: ['A'] } }) }).blockers).toEqual([]);
  });

  test('variables that are not set on the host warn by name, unless the sandbox keeps them from the agent', () => {
    const missing = {
      agent: { ...agent, environmentKeys: ['MODEL_KEY', 'SET', 'API_URL'] },
      missingVariables: ['API_URL', 'MODEL_KEY'],
    };
    expect(codes(missing)).toEqual({
      blockers: [],
      warnings: expect.arrayContaining(['environment-missing:MODEL_KEY', 'environment-missing:API_URL']),
    });
    expect(codes(missing).warnings).not.toContain('environment-missing:SET');
    const narrowed = codes({ ...missing, sandbox: aPreset({ environment: { passthrough: ['API_URL'] } }) });
    expect(narrowed.warnings.filter((code) => code.startsWith('environment-'))).toEqual([
      'environment-missing:API_URL',
    ]);
  });

  test('a capability that only advises warns, one that is missing blocks with its state', () => {
    const required = (id: string) => codes({ request: { requiredRuntimeCapabilities: [id] } });
    expect(required('artifact.write').warnings).toContain('required-advisory:artifact.write');
    expect(required('run.fork').blockers).toEqual(['required-unsupported:run.fork']);
    expect(required('no.such-thing').blockers).toEqual(['required-unknown:no.such-thing']);
  });

  test('what blocks is a refusal with the list', () => {
    const { runLaunchManifest: manifest } = compileContract(
      input({ sandbox: aPreset({ network: { defaultEgress: 'deny' } }) }),
    );
    expect(enforcementProblem(manifest)).toMatchObject({
      code: 'LAUNCH_NOT_ENFORCEABLE',
      details: { blockers: [{ code: 'sandbox-unenforced:network.defaultEgress' }] },
    });
    expect(manifest.readiness).toMatchObject({
      ready: false,
      missingRequired: ['sandbox-unenforced:network.defaultEgress'],
    });
  });
});

test('the run decides the commit policy, then the task, then the legacy setting, then the default', () => {
  const asked = aTask({ executionPolicy: { commitPolicy: 'required' } });
  expect(commitPolicyOf({ commitPolicy: 'forbidden' }, asked, true)).toEqual({ value: 'forbidden', source: 'run' });
  expect(commitPolicyOf({}, aTask({ executionPolicy: { commitPolicy: 'allowed' } }), true).source).toBe('task');
  expect(commitPolicyOf({}, asked)).toEqual({ value: 'required', source: 'task' });
  expect(commitPolicyOf({}, aTask(), true)).toEqual({ value: 'required', source: 'settings' });
  expect(commitPolicyOf({}, aTask(), false)).toEqual({ value: 'allowed', source: 'default' });
  expect(commitPolicyOf({}, aTask())).toEqual({ value: 'allowed', source: 'default' });
});

test('two probes with the same findings have one identity', () => {
  const probe = { ok: true, diagnostics: ['Found /bin/bee.'] };
  const [first, second] = [at, '2026-02-02T00:00:00.000Z'].map((probedAt) =>
    runtimeManifest('process', probe, { probedAt }),
  );
  expect(second?.digest).toBe(first?.digest);
});

describe('drift', () => {
  const parent = compileContract(input()).runLaunchManifest;

  test('is none between a launch and itself', () => {
    expect(driftOf('attempt_aaaaaaaa', parent, parent)).toMatchObject({ drifted: false, fields: [] });
  });

  test('is reported field by field', () => {
    const current = compileContract(
      input({ agent: { ...agent, model: 'large' }, commitPolicy: { value: 'required', source: 'run' } }),
    ).runLaunchManifest;
    const { fields, drifted, parentManifestDigest } = driftOf('attempt_aaaaaaaa', parent, current);
    expect({ drifted, parentManifestDigest }).toEqual({ drifted: true, parentManifestDigest: parent.digest });
    expect(fields).toContainEqual({ field: 'runtime.model', parent: null, current: 'large' });
    expect(fields).toContainEqual({ field: 'permissions.commitPolicy', parent: 'allowed', current: 'required' });
    expect(fields.map(({ field }) => field)).not.toContain('digest');
    expect(fields.map(({ field }) => field)).not.toContain('runtime.command');
  });
});
