import type { Refusal } from '../../../contracts/refusal';
import type { AdmissionSettings } from '../../../contracts/settings/settings';
import type { Task } from '../../../contracts/tasks/task';
import { budgetSignals, exhaustedBudget } from '../../../domain/admission/budget';
import { deniedBy } from '../../../domain/admission/capacity';
import type { AdmissionRequest } from '../../../domain/admission/request';
import { launchedAgent } from '../../../domain/launch-options';
import { refusal } from '../../../domain/refusal';
import { digestOf } from '../../../platform/json/digest';
import type { Board } from '../../../stores/board-files/board';
import type { DecisionPoint } from '../../../stores/governance/decision-point';
import type { ActiveRunStore } from '../../../stores/runs/admission/active-run-store';
import type { TreeRecord } from '../../../stores/runs/admission/tree-store';
import { budgetsOfTree } from '../../../stores/runs/admission/tree-telemetry';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import { ruleOnLaunch } from '../../../stores/runs/launch/launch-rules';
import type { RepositoryStore } from '../../../stores/settings/repository-store';
import type { RoutingStore } from '../../../stores/settings/routing-store';
import { isSetMeanwhile } from '../completion/task';
import { type AdmissionControl, policiesFor } from './dependencies';
import { ruledLaunch } from './ruled-launch';
import { budgetMessage, pauseTree, traceBudget } from './tree-gate';
import { watchedLaunch } from './watched-launch';

export interface ConfirmDependencies {
  admission: AdmissionControl;
  rules: DecisionPoint;
  attempts: Pick<AttemptStore, 'get'>;
  activeRuns: Pick<ActiveRunStore, 'holder'>;
  routing: Pick<RoutingStore, 'inputs'>;
  repositories: Pick<RepositoryStore, 'find'>;
  board: Pick<Board, 'get'>;
}

/** Whether a queued launch starts now, continues to wait, or is over. */
export type DispatchConfirmation = { turn: 'go' | 'wait' } | { turn: 'refused'; launch: Refusal };

/**
 * Checks a queued launch again that was given capacity (specification 2, Queue entry): whatever it was decided on may have
 * changed while it waited. A permanent change ends it before any provider is called; a host that is unavailable for the moment,
 * or a reservation that has lapsed, requeues it.
 */
export async function confirmDispatch(deps: ConfirmDependencies, attemptId: string): Promise<DispatchConfirmation> {
  const { queue, reservations, requests, settings } = deps.admission;
  const now = () => deps.admission.now();
  const entry = await queue.get(attemptId);
  if (!entry || entry.state === 'dispatched') {
    return { turn: 'go' };
  }
  if (entry.outcome) {
    return { turn: 'refused', launch: ended(attemptId, entry.outcome) };
  }
  if (entry.state !== 'leased') {
    return { turn: 'wait' };
  }
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
    await reservations.releaseForRequeue(attemptId, now());
    await queue.putBack(attemptId);
    return { turn: 'wait' };
  }
  await reservations.renew(attemptId, now(), admission.leaseMs);
  // Repeated because the response was lost, or ended meanwhile: the recorded state is the response.
  const later = (await queue.dispatched(attemptId, now().toISOString())) ?? (await queue.get(attemptId));
  if (later?.state === 'dispatched') {
    return { turn: 'go' };
  }
  return later?.outcome ? { turn: 'refused', launch: ended(attemptId, later.outcome) } : { turn: 'wait' };
}

/** What has changed since the launch was queued, if anything has that makes it another launch. */
async function driftOf(
  deps: ConfirmDependencies,
  record: AttemptRecord,
  request: AdmissionRequest,
): Promise<Refusal | undefined> {
  const drifted = (field: string, message: string) => queueRefusal('ADMISSION_QUEUE_DRIFT', message, { field });
  const { admission } = await deps.admission.settings.current();
  const denied = deniedBy(await policiesFor(deps.admission, admission, request), request.requested);
  if (denied) {
    const { policy, scope, scopeId, limit } = denied;
    const message = `The launch requests more than ${policy} now allows.`;
    return queueRefusal('ADMISSION_POLICY_DRIFT', message, { policy, scope, scopeId, limit });
  }
  const task = await deps.board.get(record.taskId);
  if (task?.location !== 'active') {
    return drifted('task', 'The task is no longer on the active board.');
  }
  if (isSetMeanwhile(record, task.task)) {
    return drifted('task', `The task was set to ${task.task.status} while the launch waited.`);
  }
  const holder = await deps.activeRuns.holder(record.taskId);
  if (holder !== record._id) {
    return queueRefusal('QUEUE_TASK_BUSY', 'The task is reserved by another run.', { holder });
  }

  const { agents } = await deps.routing.inputs();
  const agent = agents.find(({ type }) => type === record.agent);
  if (!agent?.enabled) {
    return drifted('provider', `Agent ${record.agent} is no longer configured and enabled.`);
  }
  if (digestOf(launchedAgent(agent, record)) !== digestOf(record.agentConfig)) {
    return drifted('provider', `The configuration of agent ${record.agent} changed while the launch waited.`);
  }
  if (record.phase !== request.phase) {
    return drifted('phase', 'The phase of the launch has changed.');
  }
  if (record.repository) {
    const repository = await deps.repositories.find(record.repository.name);
    if (!repository || digestOf(repository) !== digestOf(record.repository)) {
      return drifted('repository', `The repository ${record.repository.name} was changed while the launch waited.`);
    }
  }
  return (await lineageDrift(deps, admission, request)) ?? rulesProblem(deps, record, { request, task: task.task });
}

/** Why the rules refuse the launch now. It was counted when it was admitted, and its approval is the one of then. */
async function rulesProblem(
  deps: ConfirmDependencies,
  record: AttemptRecord,
  { request, task }: { request: AdmissionRequest; task: Task },
): Promise<Refusal | undefined> {
  const watched = await watchedLaunch(deps.admission, request, record);
  const { refused } = await ruleOnLaunch(
    deps,
    { ...ruledLaunch(record, request, task), ...watched },
    {
      counting: 'counted',
      once: `${record._id}\ndispatch`,
      use: record.rootAttemptId,
      hold: record._id,
    },
  );
  return refused;
}

async function lineageDrift(
  deps: ConfirmDependencies,
  settings: AdmissionSettings,
  request: AdmissionRequest,
): Promise<Refusal | undefined> {
  const { rootObjectiveId, parentNodeId, edge } = request;
  const tree = await deps.admission.trees.get(rootObjectiveId);
  if (tree?.state === 'cancelled') {
    return queueRefusal('EXECUTION_TREE_CANCELLED', 'The execution tree was cancelled while the launch waited.', {
      rootObjectiveId,
    });
  }
  if (!tree) {
    return queueRefusal('ADMISSION_QUEUE_DRIFT', 'The execution tree no longer exists.', { field: 'root' });
  }
  if (parentNodeId !== null && !(await deps.attempts.get(parentNodeId))) {
    return queueRefusal('ADMISSION_QUEUE_DRIFT', 'The parent attempt no longer exists.', { field: 'parent' });
  }
  return edge === 'root' ? undefined : budgetDrift(deps, request, { settings, tree });
}

/** Whether the tree has used up its budget while the launch waited; then it is paused as well. */
async function budgetDrift(
  { admission }: ConfirmDependencies,
  request: AdmissionRequest,
  { settings, tree }: { settings: AdmissionSettings; tree: TreeRecord },
): Promise<Refusal | undefined> {
  const { _id: rootObjectiveId, descendants } = tree;
  const budgets = await budgetsOfTree(admission.telemetry, settings.treeBudget, tree);
  const signals = budgetSignals(settings.fanOutBreaker, { rootObjectiveId, descendants }, budgets);
  await traceBudget(admission, request, { budgets, signals });
  const exhausted = exhaustedBudget(signals);
  if (!exhausted) {
    return undefined;
  }
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

const queueRefusal = (code: string, message: string, details: Record<string, unknown>): Refusal =>
  refusal(code, message, { code, ...details, retryable: false });

const gone = (attemptId: string): Refusal =>
  queueRefusal('ADMISSION_QUEUE_TARGET_MISSING', 'The queued launch is missing from the stores.', { attemptId });

const ended = (attemptId: string, { code, reason }: { code: string; reason: string }): Refusal =>
  queueRefusal(code, reason, { attemptId });
