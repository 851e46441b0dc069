import type { Client } from '@temporalio/client';
import { createApprovalStore } from '../stores/approval-store';
import { openMessageProofs } from '../stores/message-key-store';
import { temporalSecurity } from '../platform/temporal/security';
import { openAdmission } from './admission/open';
import { openApprovals } from './approvals/open';
import { openCheckpoints } from './checkpoints/open';
import type { Closer } from './closers';
import { createRepositorySetup } from './config/repository-setup';
import type { ApiContext, Area } from './context';
import type { DurableContext, OpenArea } from './durable-context';
import { temporalCheck } from './health/checks';
import { openHooks } from './hooks/open';
import { openOutputArtifacts } from './output-artifacts/open';
import { openPhases } from './phases/open';
import { openRetention } from './retention/open';
import { openRewind } from './rewind/open';
import { runChildRoutes } from './run-children/routes';
import { openRuns } from './runs/open';
import { runRoutes } from './runs/routes';
import { createAskHost } from './temporal/ask-host';
import { openScheduledLaunches } from './scheduled-launches/open';
import { openWatchdog } from './watchdog/open';
import { openWorkspaceTrust } from './workspace-trust/open';
import { openWorktrees } from './worktrees/open';

/** The areas that need Temporal or what its workers write, besides the runs themselves: the map of this part of the API. */
const durableAreas: OpenArea[] = [
  openWatchdog,
  openCheckpoints,
  openRewind,
  openOutputArtifacts,
  openAdmission,
  openWorktrees,
  openApprovals,
  openPhases,
  openWorkspaceTrust,
  openRetention,
  openScheduledLaunches,
];

/** Opens the runs of tasks with all that belongs to them. */
export async function openDurable(context: ApiContext, client: Client, closers: Closer[]): Promise<Area[]> {
  const { TEMPORAL_HTTP_ADDRESS: httpAddress, TEMPORAL_NAMESPACE: namespace } = context.env;
  const security = temporalSecurity(context.env);
  const ask = createAskHost(httpAddress === undefined ? undefined : { httpAddress, namespace, security });
  const proofs = await openMessageProofs(context.database);
  const runs = await openRuns(context, { client, ask, proofs });
  const approvals = await createApprovalStore(context.database);
  const durable: DurableContext = { ...context, client, ask, proofs, runs, approvals, now: () => new Date() };
  context.checks.temporal = temporalCheck(client);
  context.setUpRepository = createRepositorySetup(client, proofs);
  const areas = await Promise.all([...durableAreas.map((open) => open(durable)), openHooks(durable, closers)]);
  return [(routes) => runRoutes(routes, runs), (routes) => runChildRoutes(routes, runs), ...areas];
}
