import { CancellationScope, condition, patched, setHandler, upsertSearchAttributes } from '@temporalio/workflow';
import type { AgentCommandType } from '../../contracts/agent-command';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { commands } from './activities';
import { phaseChanged, type CommandInput } from './messages';
import type { RunStory } from './story';

interface PhasedRun {
  readonly attemptId: string;
  readonly takes: readonly AgentCommandType[] | undefined;
  readonly isEnding: boolean;
  readonly story: RunStory;
}

/**
 * Follows what the run may do: operators find it by its phase, and the agent is told at the next point at which it takes
 * a message. What it cannot be told is recorded as not delivered.
 *
 * @param say hands a command to the agent in turn
 */
export function followPhases(
  run: PhasedRun,
  say: (command: CommandInput & { commandId: string }) => Promise<unknown>,
): void {
  let last = 0;
  setHandler(phaseChanged, (told) =>
    CancellationScope.nonCancellable(async () => {
      // Anybody may send a signal: what it says of the change is what the stores say.
      const notice = patched('stored-phases')
        ? await commands.phaseNotice({ attemptId: run.attemptId, ...told })
        : told;
      if (!notice) return;
      const { phase, sequence, message } = notice;
      if (sequence <= last) return;
      last = sequence;
      upsertSearchAttributes([{ key: searchAttributes.phase, value: phase }]);
      run.story.know('phase', phase);
      run.story.tell(`It is in the phase ${phase} now.`);
      await condition(() => run.takes !== undefined || run.isEnding);
      if (run.isEnding) return;
      const actor = 'system:phase';
      const command = { attemptId: run.attemptId, type: 'message' as const, message, actor, sentBy: actor };
      // A refusal says that there is no agent to be told; the change stands either way.
      await say({ ...command, commandId: `phase-${sequence}` }).catch(() => undefined);
    }),
  );
}
