import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import { cut } from '../../../../platform/text/cut';
import type { GraphNode } from '../../graph/graph';
import { valueText } from '../../graph/values';
import type { StageUnderWay } from '../execution/cursor';
import { fillIn, maxPromptCharacters } from '../execution/prompt-text';
import type { StageContext, Worked } from '../execution/stages';
import { nextAttempt, noteFailure } from './attempts';
import type { LaunchActivities, LaunchEnd, LaunchInput, WriteActivities } from './launch-messages';

const activities = proxyActivities<LaunchActivities>({
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  summary: 'launch of a stage',
});

const { writeOutput } = proxyActivities<WriteActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  summary: 'write an output of the run',
});

/** The pauses between two looks at a launch, in milliseconds. */
const looks = { firstMs: 1_000, longestMs: 30_000, growth: 1.5 };
/** Attempts that were not admitted have numbers of their own, so many for each retry of the node. */
const launchesPerAttempt = 10_000;

/** Launches what a node defines, waits for its end, and again as often as the node allows when it fails. */
export async function runLaunch(node: GraphNode, underWay: StageUnderWay, run: StageContext): Promise<Worked> {
  const { progress, walkers } = run;
  const { launch, maxRetries } = node;
  const { stepId = node.id } = launch ?? {};
  await progress.flush();
  for (;;) {
    const attempt = await nextAttempt(node, underWay, run);
    const { repair } = underWay;
    const input = { ...inputOf(node, underWay, run), attempt, ...(repair && { repair }) };
    const ended = await walkers.rest(() => launched(input, underWay, run));
    if (ended.output !== undefined) {
      progress.setValues({ [`${stepId}_output`]: ended.output, last_output: ended.output });
    }
    if (launch?.session && ended.session !== undefined) {
      progress.setValues({ [sessionName(launch.session.agent)]: ended.session });
    }
    const retries = attempt - 1;
    if (ended.state === 'success') {
      return { outcome: { outcome: 'success' }, reported: { retries, notes: cut(valueText(ended.output), 200) } };
    }
    const { reason } = ended;
    const mayRepair = ended.misfit === true && !repair;
    if (mayRepair) {
      underWay.repair = { output: ended.output ?? '', problem: reason };
    } else {
      delete underWay.repair;
    }
    const repairs = underWay.repaired ?? 0;
    underWay.repaired = repairs + (mayRepair ? 1 : 0);
    if (!mayRepair && attempt - repairs > maxRetries) {
      return { outcome: { outcome: 'fail', reason }, reported: { retries, failure_reason: reason } };
    }
    const { id } = underWay.stage;
    progress.record({ StageRetrying: { stage_id: id, attempt, error: reason } }, `${id}/try/${attempt}`);
    noteFailure(node, underWay, attempt);
  }
}

/** Writes what the run has come to. */
export async function runWrite(
  { id, write }: GraphNode,
  { stage }: StageUnderWay,
  { runId, goal, progress, continuation }: StageContext,
): Promise<Worked> {
  if (!write) {
    throw new Error(`${id} writes nothing.`);
  }
  await progress.flush();
  const content = fillIn(write.content, goal, progress.context);
  const input = { runId, stageId: stage.id, to: write.to, content };
  const { problem } = await continuation.duringPrompt(() => writeOutput(input));
  return problem === undefined
    ? { outcome: { outcome: 'success' } }
    : { outcome: { outcome: 'fail', reason: problem }, reported: { failure_reason: problem } };
}

function inputOf(
  { id, launch, timeoutMs }: GraphNode,
  { stage }: StageUnderWay,
  { runId, goal, progress }: StageContext,
): Omit<LaunchInput, 'attempt'> {
  const { stepId = id, title = id, input: template, session, ...rest } = launch ?? {};
  const input = template === undefined ? undefined : fillIn(template, goal, progress.context);
  if (input !== undefined && input.length > maxPromptCharacters) {
    throw new Error(`The input has more than ${maxPromptCharacters} characters once its values are in it.`);
  }
  return {
    ...{ runId, stageId: stage.id, stepId, title, ...rest },
    ...(input !== undefined && { input }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(session?.isContinued && { continues: sessionOf(progress.context, session.agent) }),
  };
}

/** The value of a run that has the session of an agent: no variable of a definition has such a name. */
const sessionName = (agent: string): string => `session:${agent}`;

function sessionOf(context: Record<string, unknown>, agent: string): string | null {
  const attemptId = context[sessionName(agent)];
  return typeof attemptId === 'string' ? attemptId : null;
}

/** @throws SuspendedError when the execution continues as new; the next one finds what was launched */
async function launched(
  input: LaunchInput,
  underWay: StageUnderWay,
  { continuation }: StageContext,
): Promise<LaunchEnd> {
  const { runId, stageId } = input;
  const first = (input.attempt - 1) * launchesPerAttempt + 1;
  let attempt = Math.max(first, underWay.launch ?? first);
  const pause = (ms: number): Promise<boolean> =>
    continuation.wait(() => false, { untilMs: Date.now() + ms, summary: `launch of ${stageId}` });
  try {
    let state = await activities.startLaunch({ ...input, attempt });
    for (let waitMs = looks.firstMs; ; waitMs = Math.min(looks.longestMs, waitMs * looks.growth)) {
      if (state.state === 'success' || state.state === 'failed') {
        return state;
      }
      const isOverloaded = state.state === 'overloaded';
      if (isOverloaded) {
        attempt += 1;
        underWay.launch = attempt;
      }
      await pause(waitMs);
      state = await (isOverloaded ? activities.startLaunch : activities.observeLaunch)({ ...input, attempt });
    }
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => activities.stopLaunch({ runId, stageId, attempt }));
    }
    throw error;
  }
}
