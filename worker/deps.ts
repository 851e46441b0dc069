import { createDeliveryActivities } from '../activities/commands';
import { AgentStops } from '../activities/agent-stops';
import { LiveAgents } from '../activities/live-agents';
import type { AgentConfig } from '../contracts/agent-config';
import { createCompletionGate } from '../runs/ceremonies/completion-gate';
import { gatedBoard } from '../stores/board-files/gated-board';
import { workerQueue } from '../workflows/queues';
import { createBoardActivities } from './board-activities';
import { createHostActivities } from './host-activities';
import { answerHostQuestions } from './host-questions';
import { openShared, type WorkerParts } from './shared';

/** Builds every store, provider and activity of a worker process: the only place where they meet. */
export async function createWorkerDependencies(parts: WorkerParts) {
  const { env, log, hostId, workerId, self, board, client, leaving, stopping } = parts;
  const shared = await openShared(parts);
  const { stores, usual, probing, approvals } = shared;
  const { ceremonies, traces, featureSettings: settings } = stores;
  const completionGate = createCompletionGate({ ceremonies, traces, settings });
  const live = new LiveAgents();
  const stops = new AgentStops();
  const queue = workerQueue(hostId, workerId);
  const hostActivities = createHostActivities(shared, { env, client, self, leaving, stopping, live, stops, queue });
  return {
    hosts: stores.hosts,
    worktrees: stores.worktrees,
    attempts: stores.attempts,
    admission: usual.admission,
    approvals: { store: stores.approvals, service: approvals },
    probing: {
      hostId,
      agents: stores.agents,
      manifests: stores.manifests,
      look: (agent: AgentConfig) => probing.look(agent),
      log,
      now: usual.now,
    },
    /** This process's own queue, and what is done on it. */
    queue,
    workerActivities: createDeliveryActivities({ ...usual, commands: stores.commands, live, stops }),
    boardActivities: board && createBoardActivities(shared, { env, client, board: gatedBoard(board, completionGate) }),
    hostActivities,
    hostQuestions: answerHostQuestions(hostActivities, usual.proofs),
  };
}
