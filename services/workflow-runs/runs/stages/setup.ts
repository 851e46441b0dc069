import type { GraphNode } from '../../graph/graph';
import { SuspendedError } from '../execution/continuation';
import type { StageUnderWay } from '../execution/cursor';
import type { Outcome } from '../execution/edges';
import { RunFailedError } from '../execution/run-failed';
import type { StageContext } from '../execution/stages';
import type { RunSetup } from '../run';
import { untilMayBegin } from './may-begin';

/** How far the setup of a run has come. */
export interface SetupState {
  /** The position of the command that is next, or under way. */
  at: number;
  underWay?: StageUnderWay;
}

interface SetupContext extends StageContext {
  perform: (node: GraphNode, underWay: StageUnderWay, run: StageContext) => Promise<Outcome>;
}

/**
 * Runs the commands of a setup one after the other, before the first node is visited.
 *
 * @param state how far it is, which moves on
 * @throws RunFailedError when one fails; SuspendedError when the execution continues as new
 */
export async function runSetup(
  { commands, timeout_ms, ...placed }: RunSetup,
  state: SetupState,
  { perform, ...run }: SetupContext,
): Promise<void> {
  // What they print is in their turns: later stages have values of their own.
  const values = { all: () => run.values.all(), set: () => undefined };
  for (; state.at < commands.length; state.at += 1) {
    const argv = commands[state.at] ?? [];
    if (!state.underWay) {
      await untilMayBegin(run);
    }
    state.underWay ??= { stage: run.progress.beginSetup(state.at, argv.join(' ')) };
    const node: GraphNode = {
      ...{ id: 'setup', label: 'setup', kind: 'command', maxRetries: 0, command: { argv, ...placed } },
      ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }),
    };
    try {
      const { outcome, reason = '' } = await perform(node, state.underWay, { ...run, values });
      delete state.underWay;
      if (outcome === 'fail') {
        throw new RunFailedError(`Its setup failed: ${reason}`);
      }
    } catch (error) {
      if (!(error instanceof SuspendedError)) {
        delete state.underWay;
      }
      throw error;
    }
  }
}
