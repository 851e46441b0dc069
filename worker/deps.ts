import { createDeliveryActivities } from '../activities/agent-run/commands/activities';
import { AgentStops } from '../activities/agent-run/dispatch/agent-stops';
import { LiveAgents } from '../activities/agent-run/dispatch/live-agents';
import type { AgentConfig } from '../contracts/settings/agent-config';
import { createPresetDetector } from '../providers/agents/local/detect-presets';
import type { Board } from '../stores/board-files/types';
import { createCompletionGate } from '../stores/board-files/wrappers/completion-gate';
import { gatedBoard } from '../stores/board-files/wrappers/gated-board';
import { ruledBoard } from '../stores/board-files/wrappers/ruled-board';
import { workerQueue } from '../workflows/queues';
import { createBoardActivities } from './activities/board-activities';
import { createHostActivities } from './activities/host-activities';
import { openShared, type WorkerParts } from './activities/shared';
import { createHostService } from './host-service';

/** Builds every store, provider and activity of a worker process: the only place where they meet. */
export async function createWorkerDependencies(parts: WorkerParts) {
  const { env, log, hostId, workerId, self, sleep, board, client, leaving, stopping } = parts;
  const shared = await openShared(parts);
  const { stores, common, probing, approvals } = shared;
  const gate = createCompletionGate(stores);
  /** No run completes its task past the rules and the ceremonies. */
  const governed = (files: Board): Board => ruledBoard(gatedBoard(files, gate), stores.rules, { asks: 'completion' });
  const live = new LiveAgents();
  const stops = new AgentStops();
  const queue = workerQueue(hostId, workerId);
  const hostActivities = createHostActivities(shared, {
    env,
    client,
    self,
    sleep,
    leaving,
    stopping,
    live,
    stops,
    queue,
  });
  return {
    hosts: stores.hosts,
    worktrees: stores.worktrees,
    attempts: stores.attempts,
    issueSyncs: stores.issueSyncs,
    scheduledLaunches: stores.scheduledLaunches,
    admission: common.admission,
    approvals: { store: stores.approvals, service: approvals },
    /** What runs lack on this host. */
    hostFindings: shared.onHost.hostFindings,
    /** What this host has for the agents of today. */
    agentPresets: createPresetDetector({ environment: process.env, user: shared.agentUser }, common.now),
    probing: {
      hostId,
      agents: stores.agents,
      manifests: stores.hostManifests,
      look: (agent: AgentConfig) => probing.look(agent),
      log,
      now: common.now,
    },
    /** This process's own queue, and its activities. */
    queue,
    workerActivities: createDeliveryActivities({ ...common, commands: stores.commands, live, stops }),
    boardActivities:
      board &&
      createBoardActivities(shared, {
        env,
        client,
        board: governed(board),
        gate,
      }),
    hostActivities,
    hostService: createHostService(hostActivities, common.proofs),
  };
}

export type WorkerDependencies = Awaited<ReturnType<typeof createWorkerDependencies>>;
