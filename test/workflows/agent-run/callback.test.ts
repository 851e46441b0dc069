import { ApplicationFailure } from '@temporalio/common';
import {
  completeUpdate,
  conflictingClaim,
  invalidCompletion,
  notRemote,
  staleAttempt,
  unknownClaim,
} from '../../../workflows/agent-run/messages';
import {
  endedAt,
  lost,
  rejection,
  type StubbedRun,
  stubbedRuns,
  untilCancelled,
} from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';

const complete = (run: StubbedRun, claimDigest: string, attemptId = run.attemptId) =>
  run.handle.executeUpdate(completeUpdate, { args: [{ attemptId, claimDigest }] });

/** Completes a run as an operator types it in the Temporal UI. */
const completeByHand = (run: StubbedRun, fields: object = {}) =>
  run.handle.executeUpdate(completeUpdate, {
    args: [{ attemptId: run.attemptId, status: 'success', summary: 'Done.', actor: 'jo', ...fields }],
  });

describe('a run whose agent works elsewhere', () => {
  const { workers, run: aRun } = stubbedRuns();
  const remote = { hostId: null };

  test('waits for its callback; another claim conflicts and the same one again succeeds', async () => {
    const finishing = gate({ status: 'success' as const, endedAt });
    const run = aRun({ finish: finishing.wait }, remote);
    await run.launch();
    const first = complete(run, 'sha256:a');
    await run.called('finish');
    expect(await rejection(complete(run, 'sha256:b'))).toBe(conflictingClaim);
    const again = await run.handle.startUpdate(completeUpdate, {
      args: [{ attemptId: run.attemptId, claimDigest: 'sha256:a' }],
      waitForStage: 'ACCEPTED',
    });
    finishing.open();
    await expect(first).resolves.toMatchObject({ status: 'success' });
    await expect(again.result()).resolves.toMatchObject({ status: 'success' });
    expect(run.steps).not.toContain('dispatch');
    expect(run.stubs.inputs('requireClaim')).toContainEqual({ attemptId: run.attemptId, claimDigest: 'sha256:a' });
    expect(run.stubs.inputs('requireClaim')).not.toContainEqual({ attemptId: run.attemptId, claimDigest: 'sha256:b' });
    expect(run.endings).toEqual([{ by: 'callback', claimDigest: 'sha256:a' }]);
    const details = await run.details();
    expect(details).toContain('The contract is stored; the agent works elsewhere and will report.');
    expect(details).toContain('The end was reported; the run is success.');
  });

  test('stays open when the API has no such claim', async () => {
    const requireClaim = async () => Promise.reject(ApplicationFailure.nonRetryable('forged', unknownClaim));
    const run = aRun({ requireClaim }, remote);
    await run.launch();
    expect(await rejection(complete(run, 'sha256:forged'))).toBe(unknownClaim);
    await run.stop('jo');
    expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
  });

  test('refuses the claim of another attempt', async () => {
    const run = aRun({}, remote);
    await run.launch();
    expect(await rejection(complete(run, 'sha256:a', 'attempt_other000'))).toBe(staleAttempt);
    expect(run.stubs.inputs('requireClaim')).toEqual([]);
  });

  test('has its worktree inspected by the host that has it before the claim is judged', async () => {
    const run = aRun({}, { provider: 'remote-callback' });
    await run.launch();
    await complete(run, 'sha256:a');
    expect(run.steps.slice(-3)).toEqual(['requireClaim', 'observeEnd', 'finish']);
    expect(run.stubs.calls.find(({ name }) => name === 'observeEnd')).toMatchObject({
      input: { attemptId: run.attemptId, claimDigest: 'sha256:a' },
      taskQueue: workers.hostQueue,
    });
    const without = aRun({}, remote);
    await without.launch();
    await complete(without, 'sha256:a');
    expect(without.steps).not.toContain('observeEnd');
  });

  test('ends also when its worktree cannot be inspected', async () => {
    const run = aRun({ observeEnd: lost }, { provider: 'remote-callback' });
    await run.launch();
    await expect(complete(run, 'sha256:a')).resolves.toMatchObject({ status: 'success' });
  });

  test('is stopped without an inspection of its worktree', async () => {
    const run = aRun({}, { provider: 'remote-callback' });
    await run.launch();
    await run.stop('jo');
    expect(run.endings).toEqual([{ by: 'stop', actor: 'jo' }]);
    expect(run.steps).not.toContain('observeEnd');
  });

  test('is completed by an operator, whose claim is stored first', async () => {
    const run = aRun({}, remote);
    await run.launch();
    await expect(completeByHand(run)).resolves.toMatchObject({ status: 'success' });
    expect(run.stubs.inputs('writeClaim')).toEqual([
      { attemptId: run.attemptId, status: 'success', summary: 'Done.', actor: 'jo' },
    ]);
    expect(run.endings).toEqual([{ by: 'callback', claimDigest: 'sha256:operator' }]);
    expect(await run.details()).toContain('An operator (operator:temporal) reports that it ended: success.');
  });

  test('is not completed by an operator once its agent has reported another end', async () => {
    const finishing = gate({ status: 'success' as const, endedAt });
    const run = aRun({ finish: finishing.wait }, remote);
    await run.launch();
    const reported = complete(run, 'sha256:a');
    await run.called('finish');
    expect(await rejection(completeByHand(run, { status: 'failed' }))).toBe(conflictingClaim);
    finishing.open();
    await reported;
    expect(run.endings).toEqual([{ by: 'callback', claimDigest: 'sha256:a' }]);
  });

  test.each([
    ['an unknown status', { status: 'done' }],
    ['a summary that is no text', { summary: 5 }],
    ['no summary', { summary: undefined }],
    ['an empty summary', { summary: '' }],
    ['a summary of 20001 characters', { summary: 'a'.repeat(20_001) }],
    ['an actor that is no text', { actor: 5 }],
    ['no actor', { actor: undefined }],
    ['an empty actor', { actor: '' }],
    ['an actor of 201 characters', { actor: 'a'.repeat(201) }],
  ])('refuses the completion of an operator with %s', async (_what, fields) => {
    const run = aRun({}, remote);
    await run.launch();
    expect(await rejection(completeByHand(run, fields))).toBe(invalidCompletion);
    expect(run.stubs.inputs('writeClaim')).toEqual([]);
  });

  test('accepts the longest completion of an operator', async () => {
    const run = aRun({}, remote);
    await run.launch();
    const longest = { summary: 'a'.repeat(20_000), actor: 'a'.repeat(200) };
    expect(await rejection(completeByHand(run, longest))).toBeUndefined();
  });
});

describe('a run whose agent works on a host', () => {
  const { run: aRun } = stubbedRuns();

  test('is completed by its agent alone', async () => {
    const run = aRun({ dispatch: untilCancelled });
    await run.launch();
    expect(await rejection(complete(run, 'sha256:a'))).toBe(notRemote);
    expect(await rejection(completeByHand(run))).toBe(notRemote);
    expect(run.steps).not.toContain('requireClaim');
    await run.stop();
  });
});
