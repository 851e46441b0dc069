import type { SchedulerWorkspace } from '../activities/admission-scheduler/activities';
import { createDeliveryActivities } from '../activities/agent-run/commands/activities';
import { AgentStops } from '../activities/agent-run/dispatch/agent-stops';
import { LiveAgents } from '../activities/agent-run/dispatch/live-agents';
import { createToolCallActivities } from '../activities/tool-call/activities';
import { localWorkspace } from '../contracts/common';
import type { AgentConfig } from '../contracts/settings/agent-config';
import type { Closer } from '../platform/processes/closers';
import { createPresetDetector } from '../providers/agents/local/detect-presets';
import type { Board } from '../stores/board-files/types';
import { type CompletionGate, createCompletionGate } from '../stores/board-files/wrappers/completion-gate';
import { gatedBoard } from '../stores/board-files/wrappers/gated-board';
import { ruledBoard } from '../stores/board-files/wrappers/ruled-board';
import { assertMayComplete, transitionBoard } from '../stores/board-files/wrappers/transition-board';
import { registryOf, type WorkspaceRegistry } from '../stores/identity/workspace-registry';
import { runSignals } from '../workflows/agent-run/signals-client';
import { workerQueue } from '../workflows/queues';
import { workspaceWorkflow } from '../workflows/workspace-ids';
import { createBoardActivities } from './activities/board-activities';
import { byWorkspace } from './activities/by-workspace';
import { createHostActivities } from './activities/host-activities';
import { openShared, type WorkerParts } from './activities/shared';
import { createHostService } from './host-service';
import { createWorkerWorkspaces, openWorkspaceParts, type WorkerWorkspaces } from './workspaces';

/** What the process has once, whichever workspace its activities are of. */
interface ProcessParts {
  live: LiveAgents;
  stops: AgentStops;
  /** This process's own queue. */
  queue: string;
  workspaces: Pick<WorkerWorkspaces<{ scheduling: SchedulerWorkspace }>, 'of'>;
}

/** Builds every store, provider and activity of a worker for one workspace: the only place where they meet. */
export async function createWorkspaceDependencies(
  parts: WorkerParts,
  { live, stops, queue, workspaces }: ProcessParts,
) {
  const { env, log, hostId, directory, self, sleep, board, client, models, leaving, stopping } = parts;
  const shared = await openShared(parts);
  const { stores, common, probing, approvals } = shared;
  const completions = createCompletionGate(stores);
  const gate: CompletionGate = {
    ...completions,
    async check(task, location) {
      await completions.check(task, location);
      await assertMayComplete(stores, task);
    },
  };
  /** No run completes its task past the rules, the ceremonies and the gates. */
  const governed = (files: Board): Board =>
    ruledBoard(gatedBoard(transitionBoard(files, stores), gate), stores.rules, { asks: 'completion' });
  return {
    stores,
    workspaceId: parts.workspaceId,
    directory,
    client,
    common,
    approvals: { store: stores.approvals, service: approvals },
    /** What the scheduler of the queue needs of this workspace. */
    scheduling: {
      requests: stores.admissionRequests,
      trees: stores.trees,
      attempts: stores.attempts,
      ...runSignals(client, stores.messageProofs),
    },
    /** What runs lack on this host. */
    hostFindings: shared.onHost.hostFindings,
    agentUser: shared.agentUser,
    probing: {
      hostId,
      agents: stores.agents,
      manifests: stores.hostManifests,
      look: (agent: AgentConfig) => probing.look(agent),
      log,
      now: common.now,
    },
    toolServerPool: shared.toolServerPool,
    workerActivities: {
      ...createDeliveryActivities({ ...common, commands: stores.commands, live, stops }),
      ...createToolCallActivities({
        ...common,
        calls: stores.toolCalls,
        catalogs: stores.toolCatalogs,
        servers: stores.toolServers,
        pool: shared.toolServerPool,
      }),
    },
    boardActivities:
      board &&
      createBoardActivities(shared, {
        env,
        client,
        models,
        board: governed(board),
        gate,
        inWorkspace: async (workspaceId) => (await workspaces.of(workspaceId)).scheduling,
      }),
    hostActivities: createHostActivities(shared, {
      env,
      directory,
      client,
      self,
      sleep,
      leaving,
      stopping,
      live,
      stops,
      queue,
    }),
  };
}

export type WorkspaceDependencies = Awaited<ReturnType<typeof createWorkspaceDependencies>>;

/**
 * Builds the activities of a worker process: those of another workspace than `local` are built when its first one comes.
 *
 * @param options.registry which workspaces there are; those of the stores when absent
 */
export async function createWorkerDependencies(
  parts: WorkerParts,
  { registry, closers }: { registry: WorkspaceRegistry | undefined; closers: Closer[] },
) {
  const { env, hostId, log } = parts;
  const queue = workerQueue(hostId, parts.workerId);
  const live = new LiveAgents();
  const stops = new AgentStops();
  const workspaces: WorkerWorkspaces<WorkspaceDependencies> = createWorkerWorkspaces(
    { registry: registry ?? storedWorkspaces(), log },
    { local: () => build(parts), other: async (workspaceId, own) => build(await otherParts(workspaceId, own)) },
  );
  closers.push(() => workspaces.close());
  const local = await workspaces.of(localWorkspace);
  const { stores, common } = local;
  return {
    workspaces,
    hosts: stores.hosts,
    /** The capacity of all workspaces, and the attempts that hold it. */
    admission: { ...common.admission, ...stores.capacity },
    attempts: {
      get: async (attemptId: string, workspaceId: string) =>
        (await workspaces.of(workspaceId)).stores.attempts.get(attemptId),
    },
    hostFindings: local.hostFindings,
    /** Verifies what is proven in the workspace of a workflow. */
    proofsOf: async (workflowId: string) =>
      (await workspaces.of(workspaceWorkflow(workflowId).workspaceId)).common.proofs,
    /** What this host has for the agents of today. */
    agentPresets: createPresetDetector({ environment: process.env, user: local.agentUser }, common.now),
    queue,
    workerActivities: byWorkspace(local.workerActivities, async (id) => (await workspaces.of(id)).workerActivities),
    boardActivities:
      local.boardActivities && byWorkspace(local.boardActivities, async (id) => boardOf(await workspaces.of(id))),
    hostActivities: byWorkspace(local.hostActivities, async (id) => (await workspaces.of(id)).hostActivities),
    hostService: createHostService(async (workspaceId) => {
      const { hostActivities, common: own } = await workspaces.of(workspaceId);
      return { handlers: hostActivities, proofs: own.proofs };
    }),
  };

  /** Those that were created, of which the stores of `local` know. */
  function storedWorkspaces(): WorkspaceRegistry {
    const stored = async () => registryOf((await workspaces.of(localWorkspace)).stores.workspaces);
    return { exists: async (id) => (await stored()).exists(id), list: async () => (await stored()).list() };
  }

  async function build(own: WorkerParts): Promise<WorkspaceDependencies> {
    const built = await createWorkspaceDependencies(own, { live, stops, queue, workspaces });
    // The tool servers of attempts end with this process.
    closers.push(() => built.toolServerPool.closeAll());
    return built;
  }

  async function otherParts(workspaceId: string, own: Closer[]): Promise<WorkerParts> {
    const { stores } = await workspaces.of(localWorkspace);
    return {
      ...parts,
      ...(await openWorkspaceParts({ ...parts, dataDir: env.BOARD_DATA_DIR, stores }, workspaceId, own)),
    };
  }
}

/** Where the board of `local` is served, those of all workspaces are. */
function boardOf({ boardActivities, workspaceId }: WorkspaceDependencies) {
  if (!boardActivities) {
    throw new Error(`The task files of ${workspaceId} are not on this host.`);
  }
  return boardActivities;
}

export type WorkerDependencies = Awaited<ReturnType<typeof createWorkerDependencies>>;
