import { searchAttributes } from '../../../platform/temporal/search-attributes';
import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { type Answer, type Caller, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { confinedAgent, inMs, readPhase, transitionOf } from '../../support/runs/phases';
import { startSecuredStack } from '../../support/stack/secured-stack';
import type { Stack } from '../../support/stack/stack';

let stack: Stack;
let admin: Caller;
let agent: Caller;

describe('phases of a run', () => {
  beforeAll(async () => {
    ({ stack, admin, agent } = await startSecuredStack());
    await admin.addRepository('sample', await aRepository(stack.dir));
    await admin.configureAgents([
      confinedAgent(),
      { ...scriptAgent('worker-bee', '1200', '100'), type: 'free' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
      { ...confinedAgent('told'), ...scriptAgent('as-told'), type: 'told' },
      { ...confinedAgent('editing'), ...scriptAgent('editor'), type: 'editing' },
      { ...confinedAgent('listening'), ...scriptAgent('listener'), type: 'listening' },
    ]);
  });

  afterAll(() => stack.close());

  interface Run {
    taskId: string;
    attemptId: string;
  }

  async function aRun(agent: string, request: object = {}): Promise<Run> {
    const task = await admin.createTask({ title: 'Phase', git: { repo: 'sample' } });
    const { attemptId } = await admin.start(task.id, { agent, ...request });
    return { taskId: task.id, attemptId };
  }

  const transit = (run: Run, body: object, caller = admin): Promise<Answer> =>
    caller.post(`/api/agents/${run.taskId}/phase/transitions`, body);
  const stop = (run: Run) => admin.ok('POST', `/api/agents/${run.taskId}/stop`, { attemptId: run.attemptId });
  const decide = (approval: Answer['body'], decision: string) =>
    admin.post(`/api/run-approvals/${approval.id}/decision`, {
      decision,
      expectedRevision: approval.revision,
      expectedActionHash: approval.actionHash,
    });

  test('a run without a phase reports that it is under no limits, and is refused what no runtime enforces', async () => {
    const run = await aRun('free');
    const legacy = await readPhase(admin, run);
    expect(legacy).toMatchObject({ sequence: 0, launchPhase: 'implement', evidence: { mode: 'legacy' }, history: [] });
    const status = await admin.status(run.taskId);
    expect(status.runLaunchManifest.phase).toEqual({
      phase: 'implement',
      evidence: 'legacy',
      digest: legacy.evidence.digest,
    });
    expect(await transit(run, transitionOf(legacy, 'explore', 'op-1'))).toMatchObject({
      status: 409,
      body: {
        code: 'PHASE_UNSUPPORTED',
        details: {
          blockers: expect.arrayContaining([expect.objectContaining({ code: expect.stringMatching(/^phase-/) })]),
        },
      },
    });
    expect(await transit(run, transitionOf(legacy, 'implement', 'op-2'))).toMatchObject({
      status: 201,
      body: { status: 'applied', comparison: 'narrower', snapshot: { sequence: 1, evidence: { mode: 'profile' } } },
    });
    await stop(run);
  });

  test.each([
    ['free', 'plan', 'phase-required-authority-unenforceable'],
    ['elsewhere', 'explore', 'phase-required-authority-unsupported'],
  ])('%s cannot be launched in the phase %s', async (agent, phase, code) => {
    const task = await admin.createTask({ title: 'Phase', git: { repo: 'sample' } });
    for (const path of ['start', 'launch-preview']) {
      expect(await admin.post(`/api/agents/${task.id}/${path}`, { agent, phase })).toMatchObject({
        status: 409,
        body: {
          code: 'PHASE_UNSUPPORTED',
          details: {
            blockers: expect.arrayContaining([expect.objectContaining({ code })]),
            remediation: expect.arrayContaining([expect.stringContaining('hostEnforced')]),
          },
        },
      });
    }
  });

  test('less is applied at once, more after an approval, and each exactly once', async () => {
    const task = await admin.createTask({ title: 'Phase', git: { repo: 'sample' } });
    const request = { agent: 'confined', phase: 'verify' };
    const { manifest } = await admin.ok('POST', `/api/agents/${task.id}/launch-preview`, request);
    const { attemptId, runLaunchManifestDigest } = await admin.start(task.id, request);
    expect(manifest.phase).toMatchObject({ phase: 'verify', evidence: 'profile' });
    const run = { taskId: task.id, attemptId };
    const launched = await readPhase(admin, run);
    expect(launched).toMatchObject({ launchPhase: 'verify', manifestDigest: runLaunchManifestDigest });
    expect(launched.evidence.digest).toBe(manifest.phase.digest);
    const { taskEnvelope } = await admin.status(run.taskId);
    expect(taskEnvelope.policy.authority['command.execute'].scopes).toEqual(['build', 'inspect', 'test']);

    const less = transitionOf(launched, 'explore', 'less', { fromEvidence: launched.evidence });
    const first = await transit(run, less);
    expect(first).toMatchObject({ status: 201, body: { comparison: 'narrower', transition: { sequence: 1 } } });
    expect((await transit(run, less)).body.transition).toEqual(first.body.transition);
    expect(await transit(run, { ...less, targetEvidence: { phase: 'plan' } })).toMatchObject({
      status: 409,
      body: { code: 'PHASE_OPERATION_REUSED' },
    });
    expect(await transit(run, { ...less, reason: 'another reason' })).toMatchObject({
      status: 409,
      body: { code: 'PHASE_OPERATION_REUSED', details: { transition: { reason: less.reason } } },
    });
    expect(await transit(run, { ...less, operationId: 'late' })).toMatchObject({
      status: 409,
      body: { code: 'PHASE_STALE', details: { current: { sequence: 1 } } },
    });

    const exploring = first.body.snapshot;
    const more = transitionOf(exploring, 'verify', 'more');
    const asked = await transit(run, more);
    expect(asked).toMatchObject({
      status: 202,
      body: {
        status: 'approval-required',
        comparison: 'wider',
        approval: { actionClass: 'workflow', status: 'pending' },
      },
    });
    const { approval, approvalId } = asked.body;
    expect(await transit(run, { ...more, approvalId })).toMatchObject({ status: 202, body: { approvalId } });
    expect(await decide(approval, 'approved')).toMatchObject({ status: 200 });
    expect(await transit(run, { ...more, operationId: 'thief', approvalId })).toMatchObject({
      status: 409,
      body: { code: 'APPROVAL_ACTION_CHANGED' },
    });
    const given = await Promise.all(Array.from({ length: 4 }, () => transit(run, { ...more, approvalId })));
    for (const answer of given) {
      expect(answer).toMatchObject({ status: 201, body: { transition: { sequence: 2, approvalId } } });
    }
    expect(await readPhase(admin, run)).toMatchObject({ sequence: 2, evidence: { digest: launched.evidence.digest } });
    await stop(run);
  });

  test('of transitions at the same time one is made', async () => {
    const run = await aRun('confined', { phase: 'implement' });
    const snapshot = await readPhase(admin, run);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => transit(run, transitionOf(snapshot, 'verify', `race-${index}`))),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
    const after = await readPhase(admin, run);
    expect(after.history).toHaveLength(1);
    await stop(run);
  });

  test('an approval is given for the state it was asked for in, and a no is a no', async () => {
    const run = await aRun('confined', { phase: 'verify' });
    const snapshot = await readPhase(admin, run);
    const refused = (await transit(run, transitionOf(snapshot, 'implement', 'refused'))).body;
    await decide(refused.approval, 'rejected');
    expect(
      await transit(run, transitionOf(snapshot, 'implement', 'refused', { approvalId: refused.approvalId })),
    ).toMatchObject({
      status: 409,
      body: {
        code: 'APPROVAL_NOT_GIVEN',
        details: { next: { method: 'GET', path: `/api/run-approvals/${refused.approvalId}` } },
      },
    });

    const overtaken = (await transit(run, transitionOf(snapshot, 'implement', 'overtaken'))).body;
    await transit(run, transitionOf(snapshot, 'explore', 'meanwhile'));
    expect(await decide(overtaken.approval, 'approved')).toMatchObject({ status: 409, body: { code: 'PHASE_STALE' } });
    await stop(run);
  });

  test('an emergency is for administrators, ends by itself, and is not inherited', async () => {
    const run = await aRun('confined', { phase: 'verify' });
    const snapshot = await readPhase(admin, run);
    const emergency = (operationId: string, expiresAt: string) =>
      transitionOf(snapshot, 'implement', operationId, {
        emergencyOverride: { justification: 'production is down', expiresAt },
      });
    expect(await transit(run, emergency('no', inMs(60_000)), agent)).toMatchObject({ status: 403 });
    for (const expiresAt of [inMs(86_500_000), inMs(-1_000)]) {
      expect(await transit(run, emergency('far', expiresAt))).toMatchObject({
        status: 400,
        body: { details: { issues: [{ path: 'emergencyOverride.expiresAt' }] } },
      });
    }
    const begun = await transit(run, emergency('yes', inMs(4_000)));
    expect(begun).toMatchObject({
      status: 201,
      body: {
        transition: { kind: 'emergency', justification: 'production is down' },
        snapshot: { emergency: { operationId: 'yes' } },
      },
    });
    expect(await transit(run, transitionOf(begun.body.snapshot, 'publish', 'even-more'))).toMatchObject({
      status: 409,
      body: { code: 'PHASE_EMERGENCY_ACTIVE' },
    });
    await eventually(async () => {
      const after = await readPhase(admin, run);
      expect(after).toMatchObject({ emergency: null, sequence: 2, evidence: { digest: snapshot.evidence.digest } });
      expect(after.history[1]).toMatchObject({ kind: 'emergency-ended', actor: 'system:phase-expiry' });
    });
    await stop(run);
    expect(await transit(run, transitionOf(await readPhase(admin, run), 'explore', 'over'))).toMatchObject({
      status: 409,
      body: { code: 'RUN_ENDED' },
    });
  });

  test('descendants inherit nothing of an emergency', async () => {
    const run = await aRun('confined', { phase: 'verify' });
    const emergencyOverride = { justification: 'production is down', expiresAt: inMs(600_000) };
    const wider = transitionOf(await readPhase(admin, run), 'publish', 'wide', { emergencyOverride });
    expect(await transit(run, wider)).toMatchObject({ status: 201 });
    await stop(run);
    const descend = { agent: 'confined', parentAttemptId: run.attemptId };
    expect(await admin.post(`/api/agents/${run.taskId}/start`, { ...descend, phase: 'publish' })).toMatchObject({
      status: 409,
      body: { details: { blockers: [{ code: 'phase-required-authority-denied', dimension: 'command.execute' }] } },
    });
    const { manifest } = await admin.ok('POST', `/api/agents/${run.taskId}/launch-preview`, descend);
    expect(manifest.phase).toMatchObject({ phase: 'verify', evidence: 'profile' });
    const { attemptId } = await admin.start(run.taskId, descend);
    const child = { ...run, attemptId };
    expect(await readPhase(admin, child)).toMatchObject({ launchPhase: 'verify', evidence: { mode: 'profile' } });
    await stop(child);
  });

  test('what is not a transition is refused by name', async () => {
    const run = await aRun('elsewhere');
    const snapshot = await readPhase(admin, run);
    const bad = (fields: object) => transit(run, transitionOf(snapshot, 'implement', 'bad', fields));
    expect(await bad({ operationId: '../x' })).toMatchObject({ status: 400 });
    expect(await bad({ expectedManifestDigest: 'x' })).toMatchObject({ status: 400 });
    expect(await bad({ targetEvidence: { phase: 'wander' } })).toMatchObject({ status: 400 });
    expect(
      await bad({ targetEvidence: { phase: 'implement', dimensions: { 'filesystem.everything': { scopes: [] } } } }),
    ).toMatchObject({ status: 400 });
    expect(await bad({ extra: 1 })).toMatchObject({ status: 400 });
    expect(await bad({ attemptId: 'attempt_aaaaaaaaaaaa' })).toMatchObject({ status: 404 });
    expect(await admin.get(`/api/agents/task_20260101_nobody/phase`)).toMatchObject({ status: 404 });
    await stop(run);
  });

  test('the agent is notified of each change once, and operators find the run by its phase', async () => {
    const run = await aRun('listening', { phase: 'verify' });
    const launched = await readPhase(admin, run);
    const less = transitionOf(launched, 'explore', 'less');
    await admin.ok('POST', `/api/agents/${run.taskId}/phase/transitions`, less);
    await admin.ok('POST', `/api/agents/${run.taskId}/phase/transitions`, less);
    const received = await eventually(async () => {
      const events = await admin.events(run.taskId, run.attemptId);
      const reported = events.filter(
        ({ kind, payload }) => kind === 'message.assistant' && /^heard/.test(payload.text),
      );
      expect(reported).toHaveLength(1);
      return reported[0].payload.text;
    });
    expect(received).toMatch(
      /^heard message This run is in the phase explore now and may do less: because the test says so/,
    );
    expect(received).toContain('- filesystem.write: nothing');
    await eventually(async () => {
      const { typedSearchAttributes } = await stack.temporal.workflow.getHandle(agentRunId(run.attemptId)).describe();
      expect(typedSearchAttributes.get(searchAttributes.phase)).toBe('explore');
    });
    const events = await admin.events(run.taskId, run.attemptId);
    expect(events.filter(({ kind }) => kind === 'message.operator')).toMatchObject([
      { payload: { actor: 'system:phase', delivered: true, commandId: 'phase-1' } },
    ]);
    await stop(run);
  });

  test.each([
    ['explore', { files: { 'a.txt': 'a' } }, {}],
    ['explore', { files: { 'a.txt': 'a' }, commit: 'Work' }, {}],
    ['implement', { files: { 'secrets/key': 'x' } }, { sandboxPresetId: 'no-secrets' }],
  ])('an agent in %s that did %j beyond what it may is no success', async (phase, reported, request) => {
    if ('sandboxPresetId' in request) {
      const filesystem = { deniedPaths: ['secrets'] };
      await admin.ok('POST', '/api/sandbox-policies', { id: 'no-secrets', name: 'No secrets', filesystem });
    }
    const result = { status: 'success', summary: 'did it' };
    const task = await admin.createTask({
      title: 'Told',
      description: JSON.stringify({ ...reported, result }),
      git: { repo: 'sample' },
    });
    const { attemptId } = await admin.start(task.id, { agent: 'told', phase, ...request });
    const { attempt } = await admin.ended(task.id);
    const { completion } = attempt;
    const evidence = (await readPhase(admin, { taskId: task.id, attemptId })).evidence;
    expect(completion).toMatchObject({
      status: 'partial',
      claimedStatus: 'success',
      phase: { phase, evidence: 'profile', launchPhase: phase, sequence: 0, digest: evidence.digest, transitions: [] },
    });
    const code = phase === 'explore' ? 'phase-violated' : 'sandbox-violated';
    expect(new Set(completion.downgrades.map((downgrade: { code: string }) => downgrade.code))).toEqual(
      new Set([code]),
    );
    expect(completion.sideEffects).toContainEqual(expect.objectContaining({ authorized: false, verified: true }));
    expect(await admin.ok('GET', `/api/tasks/${task.id}`)).toMatchObject({ status: 'in-progress' });
  });

  test.each([
    ['write what.txt before', 'finish', 'success'],
    ['write what.txt before', 'write b.txt after\nfinish', 'partial'],
    ['write what.txt before', 'silently b.txt after\nfinish', 'partial'],
  ])('an agent that does "%s", is narrowed to explore and does "%s" ends as %s', async (before, after, status) => {
    const run = await aRun('editing', { phase: 'implement' });
    const message = (text: string) =>
      admin.ok('POST', `/api/agents/${run.taskId}/message`, { attemptId: run.attemptId, message: text });
    await message(before);
    const kinds = async () => (await admin.events(run.taskId, run.attemptId)).map(({ kind }) => kind);
    await eventually(async () => expect(await kinds()).toContain('file.changed'));
    await transit(run, transitionOf(await readPhase(admin, run), 'explore', 'narrow'));
    // It continues when its phase was delivered, which is its second turn.
    await eventually(async () =>
      expect((await kinds()).filter((kind) => kind === 'message.assistant')).toHaveLength(2),
    );
    await message(after);
    const { attempt } = await admin.ended(run.taskId);
    expect(attempt.completion).toMatchObject({
      status,
      phase: { phase: 'explore', sequence: 1 },
    });
    expect(attempt.completion.downgrades.map(({ code }: { code: string }) => code)).toEqual(
      status === 'success' ? [] : ['phase-violated'],
    );
  });
});
