import { createActivitySigner } from '../../platform/temporal/workers/activity-signer';
import { createAgentActivities } from './board/activities';
import { createToolActivities } from './board/tools';
import { createCommandActivities } from './commands/activities';
import { createChildRunActivities } from './runs/children/activities';
import { createChildRunOpener } from './runs/children/open-child';
import type { RunsContext } from './runs/context';
import { createRunActivities } from './runs/execution/activities';
import { createTalkActivities } from './runs/talks/activities';
import { createSessionActivities } from './sessions/activities';
import { createSessionToolActivities } from './sessions/tools/activities';

/** Everything the workflows of this service call. */
export function createWorkflowRunsActivities(runs: RunsContext) {
  return {
    ...createActivitySigner(runs.messageProofs),
    ...createSessionActivities(runs),
    ...createSessionToolActivities(runs),
    ...createRunActivities(runs),
    ...createTalkActivities(runs),
    ...createCommandActivities(runs),
    ...createAgentActivities(runs),
    ...createToolActivities(runs),
    ...createChildRunActivities({ ...runs, openChild: createChildRunOpener(runs) }),
  };
}
