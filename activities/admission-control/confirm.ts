import type { LaunchRefusal } from '../../contracts/launch';
import { digestOf } from '../../runs/digest';
import { budgetSignals, exhaustedBudget } from '../../runs/admission/budget';
import { deniedBy } from '../../runs/admission/capacity';
import type { AdmissionRequest } from '../../runs/admission/request';
import { launchedAgent } from '../../runs/launch-options';
import type { AdmissionSettings } from '../../contracts/settings';
import { refusal } from '../../runs/refusal';
import type { ActiveRunStore } from '../../stores/active-run-store';
import type { AttemptRecord, AttemptStore } from '../../stores/attempt-store';
import type { Board } from '../../stores/board-files/board';
import type { RepositoryStore } from '../../stores/repository-store';
import type { RoutingStore } from '../../stores/routing-store';
import type { TreeRecord } from '../../stores/tree-store';
import { budgetsOfTree } from '../../stores/tree-telemetry';
import { isSetMeanwhile } from '../task';
import { policiesFor, type AdmissionControl } from './dependencies';
import { budgetMessage, pauseTree, traceBudget } from './tree-gate';
import { watcherProblem } from './watcher';

export interface ConfirmDependencies {
  admission: AdmissionControl;
  attempts: Pick<AttemptStore, 'get'>;
  activeRuns: Pick<ActiveRunStore, 'holder'>;
  routing: Pick<RoutingStore, 'inputs'>;
  repositories: Pick<RepositoryStore, 'find'>;
  board: Pick<Board, 'get'>;
}

/** Whether a queued launch goes on now, goes on waiting, or is over. */
export type Turn = { turn: 'go' | 'wait' } | { turn: 'refused'; launch: LaunchRefusal };

/**
 * Looks again at a queued launch that was given capacity (specification 2, Queue entry): whatever it was decided on may
 * have changed while it waited. What has changed for good ends it before any provider is called; a host that is away
 * for the moment, or a reservation that has lapsed, puts it back.
 */
export async function confirmDispatch(deps: ConfirmDependencies, attemptId: string): Promise<Turn> {
  const { queue, reservations, requests, settings } = deps.admission;
  const now = () => deps.admission.now();
  const entry = await queue.get(attemptId);
  if (!entry || entry.state === 'dispatched') return { turn: 'go' };
  if (entry.outcome) return { turn: 'refused', launch: ended(attemptId, entry.outcome) };
  if (entry.state !== 'leased') return { turn: 'wait' };
  const [record, request] = await Promise.all([deps.attempts.get(attemptId), requests.get(attemptId)]);
  const drift = record && request ? await driftOf(deps, record, request) : gone(attemptId);
  if (drift) {
    const outcome = { code: drift.code, reason: drift.message, at: now().toISOString() };
    await queue.end(attemptId, outcome);
    return { turn: 'refused', launch: drift };
  }

  const { admission } = await settings.current();
  const reservation = await reservations.get(attemptId);
  const hostThere = entry.hostId === null || (await deps.admission.hosts.capacityOf(entry.hostId)).takesWork;
  if (reservation?.state !== 'active' || !hostThere) {
    await reservations.giveBack(attemptId, now());
    await queue.putBack(attemptId);
    return { turn: 'wait' };
  }
  await reservations.renewOne(attemptId, now(), admission.leaseMs);
  // Asked again because the answer was lost, or ended meanwhile: what stands is the answer.
  const later = (await queue.dispatched(attemptId, now().toISOString())) ?? (await queue.get(attemptId));
  if (later?.state === 'dispatched') return { turn: 'go' };
  return later?.outcome ? { turn: 'refused', launch: ended(attemptId, later.outcome) } : { turn: 'wait' };
}

/** What has changed since the launch was queued, if anything has that makes it another launch. */
async function driftOf(
  deps: ConfirmDependencies,
  record: AttemptRecord,
  request: AdmissionRequest,
): Promise<LaunchRefusal | undefined> {
  const drifted = (field: string, message: string) => queueRefusal('ADMISSION_QUEUE_DRIFT', message, { field });
  const { admission } = await deps.admission.settings.current();
  const denied = deniedBy(await policiesFor(deps.admission, admission, request), request.requested);
  if (denied) {
    const { policy, scope, scopeId, limit } = denied;
    const message = `The launch asks for more than ${policy} allows by now.`;
    return queueRefusal('ADMISSION_POLICY_DRIFT', message, { policy, scope, scopeId, limit });
  }
  const found = await deps.board.get(record.taskId);
  if (found?.location !== 'active') return drifted('task', 'The task is no longer on the active board.');
  if (isSetMeanwhile(record, found.task)) {
    return drifted('task', `The task was set to ${found.task.status} while the launch waited.`);
  }
  const holder = await deps.activeRuns.holder(record.taskId);
  if (holder !== record._id) return queueRefusal('QUEUE_TASK_BUSY', 'The task is taken by another run.', { holder });

  const { agents } = await deps.routing.inputs();
  const agent = agents.find(({ type }) => type === record.agent);
  if (!agent?.enabled) return drifted('provider', `Agent ${record.agent} is no longer configured and enabled.`);
  if (digestOf(launchedAgent(agent, record)) !== digestOf(record.agentConfig)) {
    return drifted('provider', `Agent ${record.agent} was configured anew while the launch waited.`);
  }
  if (record.phase !== request.phase) return drifted('phase', 'The phase of the launch has changed.');
  if (record.repository) {
    const repository = await deps.repositories.find(record.repository.name);
    if (!repository || digestOf(repository) !== digestOf(record.repository)) {
      return drifted('repository', `The repository ${record.repository.name} was changed while the launch waited.`);
    }
  }
  return (await watcherProblem(deps.admission, request)) ?? lineageDrift(deps, admission, request);
}

async function lineageDrift(
  deps: ConfirmDependencies,
  settings: AdmissionSettings,
  request: AdmissionRequest,
): Promise<LaunchRefusal | undefined> {
  const { rootObjectiveId, parentNodeId, edge } = request;
  const tree = await deps.admission.trees.get(rootObjectiveId);
  if (tree?.state === 'cancelled') {
    return queueRefusal('EXECUTION_TREE_CANCELLED', 'The execution tree was cancelled while the launch waited.', {
      rootObjectiveId,
    });
  }
  if (!tree) return queueRefusal('ADMISSION_QUEUE_DRIFT', 'The execution tree is gone.', { field: 'root' });
  if (parentNodeId !== null && !(await deps.attempts.get(parentNodeId))) {
    return queueRefusal('ADMISSION_QUEUE_DRIFT', 'The attempt it descends from is gone.', { field: 'parent' });
  }
  return edge === 'root' ? undefined : budgetDrift(deps, settings, tree, request);
}

/** Whether the tree has used up its budget while the launch waited; then it is paused as well. */
async function budgetDrift(
  { admission }: ConfirmDependencies,
  settings: AdmissionSettings,
  tree: TreeRecord,
  request: AdmissionRequest,
): Promise<LaunchRefusal | undefined> {
  const { _id: rootObjectiveId, descendants } = tree;
  const budgets = await budgetsOfTree(admission.telemetry, settings.treeBudget, tree);
  const signals = budgetSignals(settings.fanOutBreaker, { rootObjectiveId, descendants }, budgets);
  await traceBudget(admission, request, budgets, signals);
  const exhausted = exhaustedBudget(signals);
  if (!exhausted) return undefined;
  await pauseTree(admission, rootObjectiveId, signals);
  const { scope, scopeId, budget } = exhausted;
  return queueRefusal('ADMISSION_BUDGET_EXHAUSTED', budgetMessage, {
    rootObjectiveId,
    scope,
    scopeId,
    budget,
    signals,
  });
}

const queueRefusal = (code: string, message: string, details: Record<string, unknown>): LaunchRefusal =>
  refusal(code, 409, message, { code, ...details, retryable: false });

const gone = (attemptId: string): LaunchRefusal =>
  queueRefusal('ADMISSION_QUEUE_TARGET_MISSING', 'What was queued is missing from the stores.', { attemptId });

const ended = (attemptId: string, { code, reason }: { code: string; reason: string }): LaunchRefusal =>
  queueRefusal(code, reason, { attemptId });
