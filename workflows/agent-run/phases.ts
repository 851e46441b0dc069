import { CancellationScope, condition, patched, setHandler } from '@temporalio/workflow';
import type { AgentCommandType } from '../../contracts/runs/command';
import { type CommandInput, phaseChanged } from './messages';
import type { OperatorView } from './operator-view';
import { commands } from './proxies';

interface PhasedRun {
  readonly attemptId: string;
  readonly takes: readonly AgentCommandType[] | undefined;
  readonly isEnding: boolean;
  readonly view: OperatorView;
}

/**
 * Follows the phase of the run: a search attribute for operators, and a message to the agent at the next point at which it
 * accepts one. A message that cannot be delivered is recorded as not delivered.
 *
 * @param send sends a command to the agent, after those that wait
 */
export function followPhases(
  run: PhasedRun,
  send: (command: CommandInput & { commandId: string }) => Promise<unknown>,
): void {
  let last = 0;
  setHandler(phaseChanged, (signalled) =>
    CancellationScope.nonCancellable(async () => {
      // Any client of Temporal may send a signal: the stores are authoritative about the change.
      const notice = patched('stored-phases')
        ? await commands.phaseNotice({ attemptId: run.attemptId, ...signalled })
        : signalled;
      if (!notice) {
        return;
      }
      const { phase, sequence, message } = notice;
      if (sequence <= last) {
        return;
      }
      last = sequence;
      run.view.setPhase(phase);
      await condition(() => run.takes !== undefined || run.isEnding);
      if (run.isEnding) {
        return;
      }
      const actor = 'system:phase';
      const command = { attemptId: run.attemptId, type: 'message' as const, message, actor, sentBy: actor };
      // A refusal means that there is no agent to receive it; the change stands either way.
      await send({ ...command, commandId: `phase-${sequence}` }).catch(() => undefined);
    }),
  );
}
