import { CancellationScope, setCurrentDetails, sleep } from '@temporalio/workflow';
import { assertHooks } from '../../stages/hooks';
import { runSetup } from '../../stages/setup';
import { perform } from '../stages';
import { walk } from '../walk';
import type { Execution } from './open';

const nothing = (): undefined => undefined;

/**
 * Goes from where the execution is to an end of the graph, and reports meanwhile whether the whole run waits.
 *
 * @returns why it came to no end, if it did not
 */
export async function walkToEnd(execution: Execution): Promise<unknown> {
  const { scope, walkers, startedAt } = execution;
  const { graph, state } = execution.input;
  const walked = scope.run(() => begin(execution)).then(nothing, (error: unknown) => error);
  const watching = new CancellationScope();
  watching.run(() => walkers.watch((waiting) => reportWaiting(execution, waiting), state?.waiting)).catch(nothing);
  if (graph.budget?.timeMs !== undefined) {
    const untilMs = startedAt.getTime() + graph.budget.timeMs;
    watching.run(() => endInTime(execution, untilMs)).catch(nothing);
  }
  const failure = await walked;
  watching.cancel();
  return failure;
}

async function begin(execution: Execution): Promise<unknown> {
  const { input, startedAt, progress, walkers, cursor, setupState, run } = execution;
  const { graph, state, setup } = input;
  setCurrentDetails(`Running ${graph.name}.`);
  if (!state) {
    progress.change({ status: 'running', started_at: startedAt.toISOString() });
    if (input.vars) {
      progress.setValues(input.vars);
    }
    progress.inheritGuidance(input.guidance ?? []);
    progress.record({ RunStarted: { name: graph.name, ...(graph.goal !== undefined && { goal: graph.goal }) } }, 'run');
  }
  return walkers.count(async () => {
    if (setup) {
      await runSetup(setup, setupState, { ...run, perform });
    }
    if (!execution.started) {
      await assertHooks({ event: 'run_start' }, run);
      execution.started = true;
    }
    await walk(cursor, run);
    await assertHooks({ event: 'run_complete' }, run);
  });
}

/** A run that waits does not count against the concurrency limit. */
async function reportWaiting({ progress, activities }: Execution, waiting: boolean): Promise<void> {
  progress.change({ waiting });
  await progress.flush();
  if (waiting) {
    await activities.runEnded();
  }
}

/** Ends the run when its time is over. */
async function endInTime({ control, scope }: Execution, untilMs: number): Promise<void> {
  await sleep(Math.max(1, untilMs - Date.now()), { summary: 'time budget of the run' });
  control.timedOut = true;
  scope.cancel();
}
