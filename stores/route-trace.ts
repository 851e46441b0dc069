import type { LaunchRefusal } from '../contracts/launch';
import { refusedTraces } from '../runs/contract';
import type { RefusedPlan } from '../runs/launch-plan';
import type { LaunchSubject } from '../runs/readiness';
import { routeTrace } from '../runs/routing/trace';
import type { TraceStore } from './trace-store';

/**
 * Writes down how a launch was routed; nothing for one that names its agent.
 *
 * @param attemptId the attempt the decision is for, so that deciding again is one trace; a preview has none
 */
export async function traceRoute(
  traces: Pick<TraceStore, 'record'>,
  { route, task }: Pick<LaunchSubject, 'route' | 'task'>,
  attemptId?: string,
): Promise<string | undefined> {
  if (!route) return undefined;
  const trace = routeTrace(route, { taskId: task.id, actionType: 'launch' });
  return traces.record({ ...trace, ...(attemptId === undefined ? {} : { dedupeKey: attemptId }) });
}

/**
 * Writes down why a launch was refused, and returns the refusal; it names the trace when it was routing that refused it.
 *
 * @param attemptId the attempt the decision is for, so that deciding again is one trace; none before one is made
 */
export async function traceRefusal(
  traces: Pick<TraceStore, 'record'>,
  subject: Pick<LaunchSubject, 'route' | 'task'>,
  { refused, byGate }: RefusedPlan,
  attemptId?: string,
): Promise<LaunchRefusal> {
  for (const trace of byGate ? refusedTraces(byGate, attemptId) : []) await traces.record(trace);
  return traceRefusedRoute(traces, subject, refused, attemptId);
}

/** A refused launch with the trace that says why, when it was routing that refused it. */
export async function traceRefusedRoute(
  traces: Pick<TraceStore, 'record'>,
  subject: Pick<LaunchSubject, 'route' | 'task'>,
  refused: LaunchRefusal,
  attemptId?: string,
): Promise<LaunchRefusal> {
  if (!subject.route || subject.route.selected) return refused;
  const traceId = await traceRoute(traces, subject, attemptId);
  return { ...refused, details: { ...refused.details, traceId } };
}
