import type { WorkflowHandle } from '@temporalio/client';
import { searchAttributes } from '../../../platform/temporal/search-attributes';
import { eventually } from '../../../platform/testing/eventually';
import { agentRunId } from '../../../workflows/agent-run/messages';
import { runApprovalId } from '../../../workflows/run-approval/messages';
import { temporaryAuthorityId } from '../../../workflows/temporary-authority/messages';
import { scriptAgent } from '../../support/caller';
import { anApprovalRequest } from '../../support/factories/approval';
import { aRepository } from '../../support/git/repository';
import { aRequester } from '../../support/runs/approvals';
import { confinedAgent, inMs, readPhase, transitionOf } from '../../support/runs/phases';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;

describe('operator updates through Temporal', () => {
  beforeAll(async () => {
    stack = await startStack();
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    await stack.call.configureAgents([
      { ...scriptAgent('worker-bee', '600', '50'), type: 'long-bee' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
      confinedAgent(),
    ]);
  });
  afterAll(() => stack.close());

  /** A run that is on its way, and its workflow as the Temporal UI has it. */
  async function aRun(agent: string) {
    const { id: taskId } = await stack.call.createTask({ title: agent, git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(taskId, { agent });
    const handle = stack.temporal.workflow.getHandle(agentRunId(attemptId));
    await eventually(async () => expect((await stack.call.status(taskId)).state).toBe('running'));
    return { taskId, attemptId: attemptId as string, handle };
  }

  /** What the UI shows as the current details. */
  async function details(handle: WorkflowHandle): Promise<string> {
    const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    return metadata.currentDetails ?? '';
  }

  /** What the audit log has of an attempt. */
  const audited = async (action: string, attemptId: string) =>
    (await stack.call.ok('GET', `/api/audit?action=${action}&resource=${attemptId}`)).entries;
  /** Whatever name an operator gives who is not proven to have it. */
  const byOperator = { actor: 'operator:temporal', details: expect.objectContaining({ claimedActor: 'olivia' }) };

  /** An update as an operator types it: a name and JSON. */
  const update = (handle: WorkflowHandle, name: string, argument: object) =>
    handle.executeUpdate(name, { args: [argument] });

  test('a run shows task, agent, provider and state, and can be found by them', async () => {
    const { taskId, attemptId, handle } = await aRun('long-bee');
    const { typedSearchAttributes } = await handle.describe();
    const shown = Object.values(searchAttributes).map((key) => [key.name, typedSearchAttributes.get(key)]);
    expect(Object.fromEntries(shown)).toMatchObject({
      BoardTaskId: taskId,
      BoardAttemptId: attemptId,
      BoardAgent: 'long-bee',
      BoardProvider: 'process',
      BoardRunState: 'running',
    });
    const before = await details(handle);
    expect(before).toContain(`**running** · task \`${taskId}\` · attempt \`${attemptId}\` · agent \`long-bee\``);
    expect(before).toContain('The contract is stored; the agent runs on');

    const end = await update(handle, 'stop', { attemptId, actor: 'olivia' });
    expect(end).toMatchObject({ attemptId, status: 'interrupted' });
    const after = await details(handle);
    expect(after).toContain('**interrupted**');
    expect(after).toContain(
      '- operator:temporal asked to stop it.\n- Stopped by operator:temporal; the run is interrupted.',
    );
    const { attempt } = await stack.call.ended(taskId);
    expect(attempt.completion).toMatchObject({ status: 'interrupted', terminalSource: 'operator-interruption' });
    expect(JSON.stringify(attempt.completion)).not.toContain('olivia');
    expect(await audited('run.stop', attemptId)).toMatchObject([byOperator]);
  });

  test('an operator steers a run with the same checks as the API', async () => {
    const { taskId, attemptId, handle } = await aRun('long-bee');
    await eventually(async () => {
      const answer = await update(handle, 'command', {
        attemptId,
        type: 'steer',
        message: 'Be brief.',
        actor: 'olivia',
      });
      expect(answer).toMatchObject({ delivered: true });
    });
    expect(await details(handle)).toContain('operator:temporal sent it a command: steer.');
    for (const type of ['archive', 'close']) {
      const forbidden = update(handle, 'command', { attemptId, type, actor: 'olivia' });
      await expect(forbidden).rejects.toMatchObject({
        cause: { type: expect.stringMatching(/CAPABILITY_UNSUPPORTED|OPERATOR_FORBIDDEN/) },
      });
    }
    const wrong: [object, RegExp][] = [
      [{ attemptId: 'attempt_000000000000', type: 'steer', message: 'x', actor: 'olivia' }, /This run is/],
      [{ attemptId, type: 'dance', actor: 'olivia' }, /type is one of/],
      [{ attemptId, type: 'steer', message: '', actor: 'olivia' }, /message has/],
      [{ attemptId, type: 'steer', message: 'x' }, /actor/],
    ];
    for (const [argument, reason] of wrong) {
      await expect(update(handle, 'command', argument)).rejects.toMatchObject({
        cause: { message: expect.stringMatching(reason) },
      });
    }
    expect(await audited('run.command', attemptId)).toContainEqual(expect.objectContaining(byOperator));
    const command = (await stack.call.events(taskId, attemptId)).find(({ payload }) => payload.message === 'Be brief.');
    expect(command ?? {}).not.toMatchObject({ payload: { actor: 'olivia' } });
    await update(handle, 'stop', { attemptId, actor: 'olivia' });
    await stack.call.ended(taskId);
  });

  test('an operator completes a run whose agent elsewhere cannot report any more', async () => {
    const { taskId, attemptId, handle } = await aRun('elsewhere');
    const completion = { attemptId, status: 'blocked', summary: 'The machine is gone.', actor: 'olivia' };
    const wrong: [object, RegExp][] = [
      [{ ...completion, attemptId: 'attempt_000000000000' }, /This run is/],
      [{ ...completion, status: 'done' }, /status is one of/],
      [{ ...completion, summary: '' }, /summary/],
      [{ ...completion, actor: 1 }, /actor/],
    ];
    for (const [argument, reason] of wrong) {
      await expect(update(handle, 'complete', argument)).rejects.toMatchObject({
        cause: { message: expect.stringMatching(reason) },
      });
    }
    expect(await update(handle, 'complete', completion)).toMatchObject({ attemptId, status: 'blocked' });
    const { attempt } = await stack.call.ended(taskId);
    expect(attempt.completion).toMatchObject({
      status: 'blocked',
      summary: 'The machine is gone. (reported by operator:temporal, as "olivia")',
      terminalSource: 'operator-interruption',
    });
    expect(await audited('run.complete', attemptId)).toMatchObject([byOperator]);
    expect(await details(handle)).toContain('An operator (operator:temporal) reports that it ended: blocked.');
  });

  test('an operator cannot complete a run whose agent is a process here', async () => {
    const { taskId, attemptId, handle } = await aRun('long-bee');
    const completion = { attemptId, status: 'success', summary: 'Looks fine.', actor: 'olivia' };
    await expect(update(handle, 'complete', completion)).rejects.toMatchObject({
      cause: { type: 'NOT_REMOTE_CALLBACK' },
    });
    await update(handle, 'stop', { attemptId, actor: 'olivia' });
    await stack.call.ended(taskId);
  });

  test('a cancel of the workflow is a stop by an operator, and is in the audit log', async () => {
    const { taskId, attemptId, handle } = await aRun('long-bee');
    await handle.cancel();
    await stack.call.ended(taskId);
    expect(await audited('run.stop', attemptId)).toMatchObject([{ actor: 'operator:temporal' }]);
  });

  test('a request for approval that an operator takes back is in the audit log', async () => {
    const { taskId, attemptId } = await aRun('elsewhere');
    const { BOARD_DATA_DIR: dataDir, MONGODB_URL: mongoUrl } = stack.env;
    const requester = await aRequester(stack.temporal, { dataDir, mongoUrl });
    try {
      const { id } = await requester.approvals.request(anApprovalRequest({ taskId, attemptId }));
      const handle = stack.temporal.workflow.getHandle(runApprovalId(id));
      await handle.cancel();
      expect(await handle.result()).toBe('cancelled');
      expect(await audited('run-approval.withdraw', id)).toMatchObject([{ actor: 'operator:temporal' }]);
    } finally {
      await requester.close();
    }
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
  });

  test('an emergency that an operator ends early is in the audit log', async () => {
    const { id: taskId } = await stack.call.createTask({ title: 'Emergency', git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(taskId, { agent: 'confined', phase: 'verify' });
    await eventually(async () => expect(await audited('run.start', attemptId)).toHaveLength(1));
    const snapshot = await readPhase(stack.call, { taskId, attemptId });
    const emergencyOverride = { justification: 'it burns', expiresAt: inMs(600_000) };
    const change = transitionOf(snapshot, 'implement', 'burns', { emergencyOverride });
    await stack.call.ok('POST', `/api/agents/${taskId}/phase/transitions`, change);
    const handle = stack.temporal.workflow.getHandle(temporaryAuthorityId(attemptId, 'burns'));
    await handle.cancel();
    await handle.result();
    expect(await audited('phase-emergency.begin', attemptId)).toMatchObject([
      { actor: 'user:local-user', details: { justification: 'it burns' } },
    ]);
    expect(await audited('phase-emergency.end', attemptId)).toMatchObject([{ actor: 'operator:temporal' }]);
    const ended = await readPhase(stack.call, { taskId, attemptId });
    expect(ended).toMatchObject({ emergency: null });
    const narrower = transitionOf(ended, 'explore', 'less');
    for (const _again of [1, 2]) {
      await stack.call.ok('POST', `/api/agents/${taskId}/phase/transitions`, narrower);
    }
    expect(await audited('phase.transition', attemptId)).toMatchObject([
      { actor: 'user:local-user', details: { phase: 'explore', comparison: 'narrower' } },
    ]);
    await stack.call.ok('POST', `/api/agents/${taskId}/stop`, { attemptId });
    expect(await audited('run.stop', attemptId)).toMatchObject([{ actor: 'user:local-user' }]);
    expect(await audited('run.end', attemptId)).toMatchObject([
      { actor: 'system:run', details: { taskId, status: 'interrupted', terminalSource: 'operator-interruption' } },
    ]);
  });

  test('what was kept long enough is purged by schedules, each of which can be asked what it would remove', async () => {
    for (const kind of ['tasks', 'run-events', 'traces', 'spools']) {
      const dryRun = await stack.call.ok('POST', `/api/retention/${kind}/dry-run`);
      expect(dryRun).toMatchObject({ kind, dryRun: true, removed: 0, examples: expect.any(Array) });
      const schedule = await stack.temporal.schedule.getHandle(`retention-${kind}`).describe();
      expect(schedule.action).toMatchObject({ workflowType: 'retention', args: [{ kind, dryRun: false }] });
    }
    expect(await stack.call.post('/api/retention/everything/dry-run', {})).toMatchObject({ status: 400 });
  });
});
