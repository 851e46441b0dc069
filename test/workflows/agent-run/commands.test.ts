import type { WorkflowUpdateFailedError } from '@temporalio/client';
import type { Accepted } from '../../../activities/agent-run/commands/activities';
import type { AgentCommandType } from '../../../contracts/runs/command';
import {
  capabilityUnsupported,
  type CommandInput,
  commandUpdate,
  invalidCommand,
  manifestMismatch,
  notRunning,
  runEnded,
  staleAttempt,
  tooManyCommands,
} from '../../../workflows/agent-run/messages';
import {
  digests,
  endedAt,
  lost,
  rejection,
  type RunActivities,
  type StubbedRun,
  stubbedRuns,
  untilCancelled,
} from '../../support/workflows/agent-run';
import { gate } from '../../support/workflows/gate';

const outcomeOf = (input: { attemptId: string; commandId: string; type: AgentCommandType }): Accepted => ({
  outcome: { attemptId: input.attemptId, commandId: input.commandId, action: input.type, delivered: true },
});

describe('commands to a run', () => {
  const { workers, run: aRun } = stubbedRuns();

  /** A run whose agent works and accepts commands. */
  async function running(activities: Partial<RunActivities> = {}): Promise<StubbedRun> {
    const run = aRun({ dispatch: untilCancelled, ...activities });
    await run.launch();
    await run.called('announceStart');
    await run.called('dispatch');
    return run;
  }

  const deliverable = { acceptCommand: async () => ({ deliverOn: workers.hostQueue, from: 'al' }) };

  test('are delivered by the process that supervises the agent, and shown with their sender', async () => {
    const response = { attemptId: 'a', commandId: 'c', action: 'message' as const, delivered: true };
    const run = await running({ ...deliverable, deliverCommand: async () => response });
    await expect(run.command({ type: 'message', message: 'hello' }, 'command_1')).resolves.toEqual(response);
    expect(run.stubs.calls.find(({ name }) => name === 'deliverCommand')).toEqual({
      name: 'deliverCommand',
      input: { attemptId: run.attemptId, commandId: 'command_1' },
      taskQueue: workers.hostQueue,
    });
    expect(run.steps).not.toContain('settleCommand');
    expect(await run.details()).toContain('al sent it a command: message.');
  });

  test('that have an outcome already are not delivered again', async () => {
    const run = await running({ acceptCommand: async (command) => outcomeOf(command) });
    await expect(run.command()).resolves.toMatchObject({ delivered: true, action: 'interrupt' });
    expect(run.steps).not.toContain('deliverCommand');
    expect(await run.details()).toContain('jo sent it a command: interrupt.');
  });

  test('whose delivery fails are settled, with the outcome that is certain', async () => {
    const outcome = { attemptId: 'a', commandId: 'c', action: 'interrupt' as const, delivered: false };
    const run = await running({ ...deliverable, deliverCommand: lost, settleCommand: async () => outcome });
    await expect(run.command({}, 'command_1')).resolves.toEqual(outcome);
    expect(run.stubs.inputs('settleCommand')).toEqual([{ attemptId: run.attemptId, commandId: 'command_1' }]);
  });

  test('that the stores refuse are rejected with code and evidence', async () => {
    const refusal = { code: 'COMMAND_CONFLICT', message: 'another one', details: { state: 'settled' } };
    const run = await running({ acceptCommand: async () => ({ refusal }) });
    const error = await run.command().catch((reason: unknown) => reason);
    expect((error as WorkflowUpdateFailedError).cause).toMatchObject({
      ...{ type: 'COMMAND_CONFLICT', message: 'another one', nonRetryable: true },
      details: [{ state: 'settled' }],
    });
    expect(run.steps).not.toContain('deliverCommand');
  });

  test('have the id of their update unless they name another one', async () => {
    const run = await running();
    await run.command({}, 'update_1');
    await run.command({ commandId: 'command_2' }, 'update_2');
    expect(run.stubs.inputs('acceptCommand').map(({ commandId }) => commandId)).toEqual(['update_1', 'command_2']);
  });

  test('reach the agent one at a time, in the order they were accepted', async () => {
    const first = gate(undefined);
    const deliverCommand = async ({ attemptId, commandId }: { attemptId: string; commandId: string }) => {
      await (commandId === 'command_1' ? first.wait() : undefined);
      return { attemptId, commandId, action: 'interrupt' as const, delivered: true };
    };
    const run = await running({ ...deliverable, deliverCommand });
    const one = run.command({}, 'command_1');
    await run.called('deliverCommand');
    const two = await run.handle.startUpdate(commandUpdate, {
      args: [{ attemptId: run.attemptId, type: 'interrupt', actor: 'jo' }],
      updateId: 'command_2',
      waitForStage: 'ACCEPTED',
    });
    expect(run.stubs.inputs('acceptCommand')).toHaveLength(1);
    first.open();
    await Promise.all([one, two.result()]);
    expect(run.steps.filter((name) => name.endsWith('Command'))).toEqual([
      ...['acceptCommand', 'deliverCommand'],
      ...['acceptCommand', 'deliverCommand'],
    ]);
  });

  test('are refused for another attempt', async () => {
    const run = await running();
    expect(await rejection(run.command({ attemptId: 'attempt_other000' }))).toBe(staleAttempt);
  });

  test('are refused before the contract is stored, and while the run ends', async () => {
    const preparing = gate(undefined);
    const finishing = gate({ status: 'interrupted' as const, endedAt });
    const run = aRun({
      dispatch: untilCancelled,
      finish: finishing.wait,
      prepare: async () => {
        await preparing.wait();
        return {
          ...digests,
          status: 'running',
          agent: 'example',
          provider: 'process',
          startedAt: endedAt,
          taskId: '',
          attemptId: '',
        };
      },
    });
    await run.launchUntil('prepare');
    expect(await rejection(run.command())).toBe(notRunning);
    preparing.open();
    await run.called('dispatch');
    const stopped = run.stop();
    await run.called('finish');
    expect(await rejection(run.command())).toBe(runEnded);
    finishing.open();
    await stopped;
    expect(run.steps).not.toContain('acceptCommand');
  });

  test('that the agent does not accept are refused; without its list, all are sent on', async () => {
    const run = await running({ announceStart: async () => ['interrupt'] });
    expect(await rejection(run.command({ type: 'compact' }))).toBe(capabilityUnsupported);
    expect(await rejection(run.command())).toBeUndefined();
    const earlier = await running({ announceStart: async () => undefined });
    expect(await rejection(earlier.command({ type: 'archive' }))).toBeUndefined();
  });

  test.each(['providerRuntimeManifestDigest', 'runLaunchManifestDigest'] as const)(
    'are compared with the launch of the run by %s',
    async (name) => {
      const run = await running();
      expect(await rejection(run.command({ [name]: 'sha256:other' }))).toBe(manifestMismatch);
      expect(await rejection(run.command({ [name]: digests[name] }))).toBeUndefined();
    },
  );

  test.each([
    ['an unknown type', { type: 'exec' }],
    ['an actor that is no text', { actor: 5 }],
    ['no actor', { actor: undefined }],
    ['an empty actor', { actor: '' }],
    ['an actor of 201 characters', { actor: 'a'.repeat(201) }],
    ['a message with a command that has none', { message: 'now' }],
    ['no message', { type: 'message' }],
    ['no words to steer by', { type: 'steer' }],
    ['an empty message', { type: 'message', message: '' }],
    ['an empty message with an id', { type: 'message', message: '', commandId: 'command_1' }],
    ['a message that is no text', { type: 'message', message: 5 }],
    ['a list as its message', { type: 'message', message: ['words'] }],
    ['a message of 4001 characters', { type: 'message', message: 'a'.repeat(4_001) }],
    ['20001 characters to steer by', { type: 'steer', message: 'a'.repeat(20_001) }],
  ])('are refused with %s', async (_what, fields) => {
    const run = await running();
    expect(await rejection(run.command(fields))).toBe(invalidCommand);
    expect(run.steps).not.toContain('acceptCommand');
  });

  test.each([
    ['an actor of 200 characters', { actor: 'a'.repeat(200) }],
    ['a message of 4000 characters', { type: 'message', message: 'a'.repeat(4_000) }],
    ['20000 characters to steer by', { type: 'steer', message: 'a'.repeat(20_000) }],
    ['an id whose message is in the stores', { type: 'message', commandId: 'command_1' }],
  ])('are accepted with %s', async (_what, fields) => {
    const run = await running();
    expect(await rejection(run.command(fields))).toBeUndefined();
  });

  test('are refused while sixteen others wait', async () => {
    const delivering = gate({ attemptId: 'a', commandId: 'c', action: 'interrupt' as const, delivered: true });
    const run = await running({ ...deliverable, deliverCommand: delivering.wait });
    const accepted = [];
    for (let at = 0; at < 16; at += 1) {
      const args: [CommandInput] = [{ attemptId: run.attemptId, type: 'interrupt', actor: 'jo' }];
      accepted.push(await run.handle.startUpdate(commandUpdate, { args, waitForStage: 'ACCEPTED' }));
    }
    expect(await rejection(run.command())).toBe(tooManyCommands);
    delivering.open();
    await Promise.all(accepted.map((command) => command.result()));
    expect(await rejection(run.command())).toBeUndefined();
    expect(run.stubs.inputs('deliverCommand')).toHaveLength(17);
  });

  test("in delivery are settled also after an operator's cancel", async () => {
    const delivering = gate({ attemptId: 'a', commandId: 'c', action: 'interrupt' as const, delivered: true });
    const run = await running({ ...deliverable, deliverCommand: delivering.wait });
    const sent = run.command();
    await run.called('deliverCommand');
    await run.handle.cancel();
    await run.called('finish');
    delivering.open();
    await expect(sent).resolves.toMatchObject({ delivered: true });
  });
});
