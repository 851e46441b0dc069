import { proxyActivities } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';
import type { CommandActivities } from '../../commands/activities';
import type { CommandInput, CommandResult } from '../../commands/messages';
import { type GraphNode, usualCommandMs } from '../../graph/graph';
import type { StageUnderWay } from '../execution/cursor';
import type { RunProgress } from '../execution/progress';
import { fillIn } from '../execution/prompt-text';
import type { StageContext, Worked } from '../execution/stages';
import { nextAttempt, noteFailure } from './attempts';

/** What an attempt may take beside the program's own time: its sandbox and the stores. */
const besidesMs = 60_000;
/** One argument may have this much once its values are in it, and all of them. */
const maxCharacters = { one: 32_000, all: 100_000 };

const retry = { initialInterval: '1 second', maximumInterval: '1 minute' } as const;

const { assignWorkspace } = proxyActivities<Pick<CommandActivities, 'assignWorkspace'>>({
  startToCloseTimeout: '30 seconds',
  retry,
  summary: 'assign a workspace',
});

/** Runs the program of a node on the host of the run's workspace, again as often as the node allows when it fails. */
export async function runCommand(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  const { runId, progress, continuation } = run;
  const { command, maxRetries, timeoutMs = usualCommandMs } = node;
  const { id: stageId } = underWay.stage;
  const argv = filledCommand(command?.argv ?? [], run);
  const start = await commandStarter({ stageId, timeoutMs }, run);
  const input: Omit<CommandInput, 'attempt'> = {
    ...{ runId, stageId, argv, timeoutMs, preset: command?.sandbox ?? '' },
    ...(node.outputSchema && { schema: node.outputSchema }),
    ...(command?.directory !== undefined && { directory: command.directory }),
  };
  for (;;) {
    const attempt = await nextAttempt(node, underWay, run);
    const result = await continuation.duringPrompt(() => start({ ...input, attempt }));
    if (result.failure === undefined || attempt > maxRetries) {
      return ended(node, result, { run, attempt, stageId });
    }
    progress.record(
      { StageRetrying: { stage_id: stageId, attempt, error: result.failure } },
      `${stageId}/try/${attempt}`,
    );
    noteFailure(node, underWay, attempt);
  }
}

/** A program with its arguments, with values in those. @throws Error when they are too long */
export function filledCommand(
  [program = '', ...rest]: readonly string[],
  { goal, values }: Pick<StageContext, 'goal' | 'values'>,
): string[] {
  const argv = [program, ...rest.map((argument) => fillIn(argument, goal, values.all()))];
  if (argv.some(({ length }) => length > maxCharacters.one) || argv.join('').length > maxCharacters.all) {
    throw new Error('The arguments of the command are too long once their values are in them.');
  }
  return argv;
}

/** What starts programs of a stage on the host with the run's workspace, which the run is given when it has none. */
export async function commandStarter(
  { stageId, timeoutMs }: { stageId: string; timeoutMs: number },
  { runId, progress, continuation, workspace }: StageContext,
): Promise<(input: CommandInput) => Promise<CommandResult>> {
  await progress.flush();
  workspace.queue ??= await continuation.duringPrompt(() => assignWorkspace({ runId }));
  return proxyActivities<Pick<CommandActivities, 'runCommand'>>({
    taskQueue: workspace.queue,
    scheduleToStartTimeout: '15 minutes',
    startToCloseTimeout: timeoutMs + besidesMs,
    heartbeatTimeout: '15 seconds',
    retry,
    summary: `command of ${stageId}`,
  }).runCommand;
}

/** Takes over the commit of the workspace after a command. */
export function noteSnapshot(stageId: string, snapshot: CommandResult['snapshot'], progress: RunProgress): void {
  if (snapshot && 'problem' in snapshot) {
    progress.record({ SnapshotFailed: { stage_id: stageId, reason: snapshot.problem } }, stageId);
  } else if (snapshot) {
    progress.commit = snapshot.commit;
  }
}

function ended(
  { id }: GraphNode,
  { exitCode, output, value, failure, snapshot }: CommandResult,
  { run: { values, progress }, attempt, stageId }: { run: StageContext; attempt: number; stageId: string },
): Worked {
  const shown = value === undefined ? output : value;
  values.set({
    ...{ [`${id}_output`]: shown, last_output: shown },
    ...{ [`${id}_exit_code`]: exitCode, last_exit_code: exitCode },
  });
  noteSnapshot(stageId, snapshot, progress);
  const touched = snapshot && 'touched' in snapshot ? { files_touched: snapshot.touched } : {};
  const retries = attempt - 1;
  return failure === undefined
    ? { outcome: { outcome: 'success' }, reported: { retries, notes: cut(output, 200), ...touched } }
    : { outcome: { outcome: 'fail', reason: failure }, reported: { retries, failure_reason: failure, ...touched } };
}
